//! Means shared by the tests of several crates: devices of this machine, simulated cards that record accesses, a
//! journal in memory, random fakes, sample documents.

#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "tests use it, and it fails by panicking, as they do"
)]

pub mod cards;
pub mod devices;
pub mod fakes;
pub mod measured_tables;
pub mod memory_journal;
pub mod samples;
pub mod watched_card;

/// True in `./check --long`: tests use more cards and cases.
pub fn is_long() -> bool {
    std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty())
}
