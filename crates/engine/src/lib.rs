//! I/O and its timing: the [`Target`](target::Target) trait, targets on real hardware, the runner of recipes, and the
//! engine's own overhead.
//!
//! Interpretation of the figures is up to other crates.

pub mod buffer;
pub mod byte_ranges;
pub mod cause;
pub mod content;
#[doc(hidden)]
pub mod delegate;
pub mod event;
pub mod input_file;
pub mod interrupt;
pub mod io_counters;
pub mod io_driver;
pub mod journal;
pub mod null_target;
pub mod pending;
pub mod real;
pub mod runner;
pub mod target;
pub mod thread_priority;
pub mod write_limited;
