//! How often comparing goes wrong, on simulated runs of the kinds that cards give: differences between cards that are
//! alike, levels where there are none, places that split what belongs together; and how much is seen of what is there.
//! `UPDATE_DOCS=1 cargo test -p cardscope-analysis --test analysis comparing` writes the tables into `docs/comparing.md`.
mod differences;
mod intervals;
mod others;
mod real;
mod runs;
mod tables;

/// Comparisons, sessions or archives for each cell of a table: a rate of 5 % is known to ±1.4 %.
const TRIALS: usize = 1000;

/// What 1000 trials of a method that errs in 5 % of them do not exceed but once in a hundred times.
const MOST_FALSE: f64 = 0.066;

fn share<T>(of: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    of.iter().filter(|each| holds(each)).count() as f64 / of.len() as f64
}
