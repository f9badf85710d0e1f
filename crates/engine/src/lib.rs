//! I/O and its timing: the [`Target`](target::Target) trait, targets on real hardware, the runner of recipes, and the
//! engine's own overhead.
//!
//! Interpretation of the figures is up to other crates.

pub mod allowance;
pub mod buffer;
pub mod card;
pub mod cause;
pub mod content;
#[doc(hidden)]
pub mod delegate;
pub mod event;
pub mod input;
pub mod interrupt;
pub mod journal;
pub mod null;
pub mod pending;
pub mod pulse;
pub mod ranges;
pub mod rationed;
pub mod real;
pub mod runner;
pub mod schedule;
pub mod target;
