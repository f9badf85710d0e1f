//! The writing parts of a map on simulated cards in virtual time: what they find held against what is true.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod blocks;
mod caches;
mod common;
mod failing;
mod limits;
#[path = "../memory/mod.rs"]
mod memory;
mod speeds;
