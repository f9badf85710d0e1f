//! The interval of one card's mean, beside Student's and the bootstrap's: which of them holds the truth how often.

use super::runs::Kind;
use super::tables::{keep, percent, table};
use super::{MOST_FALSE, TRIALS};
use cardscope_analysis::bootstrap::{Resampling, interval95};
use cardscope_analysis::comparing::{mean_interval, mean_interval_of};
use cardscope_analysis::estimate::estimate;
use cardscope_model::random::Random;
use cardscope_model::statistics::{deviation, mean};

const RUNS: [usize; 4] = [3, 5, 10, 20];

const SPREAD: f64 = 0.05;

/// Resamples of a bootstrap: its ends are then known to a tenth of its width, and the table to less than that.
const DRAWN: Resampling = Resampling { resamples: 400, block: 1, seed: 3 };

/// A way from runs to the interval of their mean.
type Way = fn(&[f64]) -> Option<[f64; 2]>;

/// The ways that are held against each other.
const WAYS: [(&str, Way); 4] = [
    ("as here", mean_interval),
    ("as here, order unknown", |runs| mean_interval_of(mean(runs)?, deviation(runs)?, runs.len() as u32)),
    ("Student's", |runs| estimate(runs)?.ci95),
    ("bootstrap", |runs| interval95(runs, DRAWN, |drawn| mean(drawn).unwrap())),
];

/// Share of intervals that hold the true mean, and half their width as a share of it.
fn held(kind: Kind, runs: usize, way: Way) -> (f64, f64) {
    // The runs are 100 times a logarithm's normal distribution.
    let truth = 100.0 * (SPREAD * SPREAD / 2.0).exp();
    let mut random = Random::from_state(40 + runs as u64);
    let (mut held, mut width) = (0, 0.0);
    for _ in 0..TRIALS {
        let [low, high] = way(&kind.runs(runs, &mut random)).unwrap();
        held += usize::from(low <= truth && truth <= high);
        width += (high - low) / 2.0 / truth / TRIALS as f64;
    }
    (held as f64 / TRIALS as f64, width)
}

#[test]
fn ninety_five_of_a_hundred_intervals_hold_the_mean_also_where_neighbours_are_alike() {
    let mut rows = Vec::new();
    for kind in [Kind::Noise(SPREAD), Kind::Follow(SPREAD, 0.5), Kind::Follow(SPREAD, 0.7)] {
        for (name, way) in WAYS {
            let all = RUNS.map(|runs| held(kind, runs, way));
            if name.starts_with("as here") && kind != Kind::Follow(SPREAD, 0.7) {
                assert!(all.iter().all(|(share, _)| *share >= 1.0 - MOST_FALSE), "{kind:?} {name}: {all:?}");
            }
            let cells = all.map(|(share, width)| format!("{} (± {})", percent(share), percent(width)));
            rows.push((format!("{}: {name}", kind.name()), cells.to_vec()));
        }
    }
    keep("mean", &table("runs", &RUNS.map(|runs| runs.to_string()), &rows));
}
