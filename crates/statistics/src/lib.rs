//! Statistics of measurements: estimates with intervals, stopping rules, levels, anomalies, comparisons.
//! All functions are pure. Random numbers are seeded by the caller, so that the same values always give the same result.
#![forbid(unsafe_code)]

pub mod anomaly;
pub mod bootstrap;
pub mod bottleneck;
pub mod boundary;
pub mod bus_ceiling;
pub mod estimate;
pub mod flashbench;
pub mod io_errors;
pub mod long_stalls;
pub mod page_size;
pub mod period;
pub mod priors;
pub mod robust;
pub mod run_levels;
pub mod significance;
pub mod speed_fall;
pub mod sprt;
pub mod stopping;

pub use estimate::{Estimate, estimate_values};
pub use stopping::{KnownMean, StopDecision, StopPrecision};
