//! Simulated cards in virtual time, one module for each subject.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cards;
#[path = "../common/mod.rs"]
mod common;
mod determinism;
mod docs_table;
mod faults;
mod fidelity;
mod lying_readers;
mod ping;
