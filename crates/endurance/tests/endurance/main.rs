//! Long runs on simulated cards in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod causes;
mod sustain;
mod sustain_accuracy;
