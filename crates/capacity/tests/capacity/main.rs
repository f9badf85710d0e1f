//! Capacity probes on simulated cards in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budgets;
mod bus_errors;
mod capacity;
mod common;
mod failing_end;
mod lying_readers;
mod random_fakes;
