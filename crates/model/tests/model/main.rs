//! Integration tests of recipes, registers and scores, one module per topic.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_recipes;
mod builtin_files;
mod builtin_recipes;
mod docs_tables;
mod identity_document;
mod pibenchmarks_scores;
mod register_collection;
