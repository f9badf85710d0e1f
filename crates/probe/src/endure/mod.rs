//! Wear in rounds: everything written in random order, everything read back in another, until half of it is gone.
//!
//! The method is mfst's (reference page `peers` 2.12), with blocks of 1 MiB instead of sixteen slices of the card, and
//! stamps that are checked bit by bit.

pub mod projection;
mod round;
#[cfg(test)]
mod tests;

pub use round::{Ended, RoundSettings, round};
