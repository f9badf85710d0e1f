//! How often comparing goes wrong, on simulated runs of the kinds that cards give: levels where there are none, marks that say
//! nothing, cards that do not age; and what it makes of real logs.
//! `UPDATE_DOCS=1 cargo test -p cardscope-statistics --test statistics comparing` writes the tables into `docs/comparing.md`.
mod others;
mod real;
mod runs;
pub(crate) mod tables;

/// Comparisons, sessions or archives for each cell of a table: a rate of 5 % is known to ±1.4 %.
const TRIALS: usize = 1000;

fn share<T>(of: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    of.iter().filter(|each| holds(each)).count() as f64 / of.len() as f64
}
