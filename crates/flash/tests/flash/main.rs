//! Maps of simulated cards in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod budgets;
mod map_accuracy;
mod map_reading;
mod map_writing;
