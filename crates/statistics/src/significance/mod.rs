//! Comparison of cards: significance of differences, ageing, explanatory value of marks, ranking in tiers.
//! All of it rests on usual speeds ([`crate::priors`]). Error rates are measured on simulated runs
//! (`tests/statistics/comparing/` and `usual/`) and documented in `docs/comparing.md`.

mod age;
mod difference;
mod holm;
mod mark_groups;
mod propagate;
mod tiers;
mod two_levels;

pub use age::{AgeEffect, age_trend};
pub use cardscope_model::comparison::NOTABLE_CHANGE;
pub use difference::{CardDifference, MIN_RUNS, compare_speeds};
pub use holm::correct_by_holm;
pub use mark_groups::{DivisionEffect, UNKNOWN_GROUP, divide_by_group};
pub use propagate::{FigureInterval, propagate_intervals};
pub use tiers::{RankedValue, probabilities_of_best, rank_in_tiers};
pub use two_levels::split_two_levels;

/// Significance level of differences.
pub const SIGNIFICANCE_LEVEL: f64 = 0.05;
