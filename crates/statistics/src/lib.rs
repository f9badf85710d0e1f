//! Statistics of measurements: estimates with intervals, stopping rules, levels, anomalies, comparisons.
//! All functions are pure. Random numbers are seeded by the caller, so that the same values always give the same result.
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
