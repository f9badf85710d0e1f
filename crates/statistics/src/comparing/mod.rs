//! Cards beside each other: which differences are real, which are worth a word, and who shares a place.
//!
//! What is known of each card is its usual speed ([`crate::usual`]). How often each answer here is wrong is measured on
//! simulated runs (`tests/analysis/comparing/` and `usual/`); method and rates are in `docs/comparing.md`.

mod age;
mod difference;
mod division;
mod holm;
mod propagate;
mod tiers;
mod two_levels;

pub use age::{AgeEffect, age};
pub use cardscope_model::comparison::NOTICED;
pub use difference::{CardDifference, LEAST_RUNS, difference};
pub use division::{DivisionEffect, UNKNOWN, groups};
pub use holm::holm;
pub use propagate::{FigureInterval, propagate};
pub use tiers::{RankedValue, best, tiers};
pub use two_levels::two_levels;

/// A difference is real where chance alone makes such a one in fewer than 5 of 100 comparisons.
pub const REAL: f64 = 0.05;
