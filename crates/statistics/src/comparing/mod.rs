//! Comparison of cards: significance of differences, ageing, explanatory value of marks, ranking in tiers.
//! All of it rests on usual speeds ([`crate::usual`]). Error rates are measured on simulated runs
//! (`tests/statistics/comparing/` and `usual/`) and documented in `docs/comparing.md`.

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

/// Significance level of differences.
pub const REAL: f64 = 0.05;
