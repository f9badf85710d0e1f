//! Error rates of comparisons on simulated runs (levels, marks, ageing), and results on real logs.
//! `UPDATE_DOCS=1 cargo test -p cardscope-statistics --test statistics comparing` updates the tables of `docs/comparing.md`.
mod others;
mod real;
mod runs;
pub(crate) mod tables;

/// Trials for each cell of a table. A rate of 5 % has an error of ±1.4 %.
const TRIALS: usize = 1000;

fn share<T>(of: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    of.iter().filter(|each| holds(each)).count() as f64 / of.len() as f64
}
