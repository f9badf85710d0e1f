//! Verbs on simulated cards in virtual time, with faults of every kind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod failed_ios;
mod fault_injection;
mod imports;
mod journals;
mod pages;
mod restoring;
mod suspect_reader;
