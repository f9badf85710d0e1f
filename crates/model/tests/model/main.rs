//! Recipes, registers and scores as files and documents hold them, one module an idea.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_recipes;
mod builtin_files;
mod builtin_recipes;
mod docs_tables;
mod identity_document;
mod pibenchmarks_scores;
mod register_collection;
