//! What numbers mean: estimates with their intervals, when a test has run long enough, what a bus allows.
//!
//! Everything here is pure: values in, values out, no clock, no file, no printing. Randomness is always seeded by
//! the caller, so that the same values give the same answer tomorrow.
#![forbid(unsafe_code)]

pub mod anomaly;
pub mod bend;
pub mod bootstrap;
pub mod boundary;
pub mod ceiling;
pub mod comparing;
pub mod drop;
pub mod estimate;
pub mod flashbench;
pub mod io_errors;
pub mod levels;
pub mod limit;
pub mod minutes;
pub mod period;
pub mod robust;
pub mod sprt;
pub mod stopping;
pub mod usual;

pub use estimate::{Estimate, estimate};
pub use stopping::{KnownMean, StopDecision, StopPrecision};
