//! Cards beside each other: which differences are real, which are worth a word, and who shares a place.
//!
//! Runs of one card are not independent: heat, caches and the host make neighbours alike, so that ten runs say as much
//! as three or four independent ones would (reference page `flash-behaviour`, 0: lag-1 correlations up to 0.7). What
//! that costs, and how often each answer here is wrong, is measured on simulated runs (`tests/analysis/comparing/`); method and
//! rates are in `docs/comparing.md`.

mod age;
mod difference;
mod division;
mod order;
mod propagate;
mod series;
mod two_levels;

pub use age::{Age, age};
pub use difference::{Difference, difference};
pub use division::{Division, UNKNOWN, groups};
pub use order::{Placed, Ranked, holm, order};
pub use propagate::{MeanOfRuns, propagate};
pub use series::{LEAST_RUNS, mean_interval, mean_interval_of};
pub use two_levels::two_levels;

/// Below 3 % nobody notices a difference, and a reader or a host changes more than that (reference page
/// `flash-behaviour`, 4.4): cards that differ by less for sure are alike, and no smaller difference is called one.
pub const NOTICED: f64 = 0.03;

/// A difference is real where chance alone makes such a one in fewer than 5 of 100 comparisons.
pub const REAL: f64 = 0.05;

/// Runs of one state of a card spread by 0.4 to 3.8 % of their mean (reference page `flash-behaviour`, 0, ten runs with a
/// fan): what is taken where a single run says nothing about its own spread.
const TYPICAL_SPREAD: f64 = 0.03;
