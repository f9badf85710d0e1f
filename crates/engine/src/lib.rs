//! The `Target` trait and everything that submits I/O and times it: targets on real silicon, the runner that
//! carries out a recipe, histograms' filling, and the engine's own overhead.
//!
//! It decides nothing about what a number means: that is `analysis` and `probe`.

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
