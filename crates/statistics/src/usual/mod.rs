//! The usual speed of a card in a test: the long-run mean, in logarithms, of the runs that it would give under the same
//! conditions, and how well the runs that were made know it.
//!
//! Ten runs that follow each other say less than ten independent ones, one run says nothing of its own spread, and three
//! runs inside of a cache know nothing of what lies behind it. So what is known of series of that kind (`spreads`) weighs
//! every kind of series that could have given these runs (`series`), and the usual speed has the distribution of all of
//! them together (`normals`). Intervals, probabilities and p values are all read from that one distribution. How often
//! they are right is measured in `tests/analysis/usual/`, with tables in `docs/comparing.md`.

mod learn;
mod normals;
mod series;
mod spreads;

use learn::log_deviation;
pub use learn::{KnownSeries, apart, learn};
pub use normals::NormalMixture;
pub use spreads::{ConditionEffect, KindSpread, SpreadKind, SpreadSubject, SpreadTable, UnitSpread};
pub use spreads::{is_express, noticed};

/// The lists whose places the shares of a [`Spread`] belong to.
pub mod lists {
    pub use super::spreads::{APART, CORRELATIONS, DEVIATIONS, SLOW, STAYS, WITHIN};
}

use series::{HypothesisKind as Series, SeriesHypothesis, hypotheses, hypotheses_of};

/// A card that stands still has no logarithm: it is taken for one byte a second, in MB/s.
const STANDING: f64 = 1e-6;

/// So many runs show a second level where there is one (`levels`).
const SHOW_LEVELS: u32 = crate::levels::LEAST_RUNS as u32;

/// What is known of a card's usual speed in one test.
#[derive(Debug, Clone, PartialEq)]
pub struct UsualSpeed {
    /// The logarithm of the speed in MB/s.
    known: NormalMixture,
    /// The same if the card has no other level than those at which runs were made.
    seen: NormalMixture,
    /// Geometric mean of the runs.
    middle: f64,
    /// Runs.
    pub runs: u32,
    /// Probability that the runs show two levels.
    pub two_levels: f64,
}

impl UsualSpeed {
    /// From runs in MB/s in the order in which they were measured; negative ones and what is no number are left out. `None`
    /// for no runs.
    pub fn of(mb_s: &[f64], spread: &KindSpread) -> Option<UsualSpeed> {
        let usable = mb_s.iter().filter(|v| v.is_finite() && **v >= 0.0);
        let logs: Vec<f64> = usable.map(|v| v.max(STANDING).ln()).collect();
        UsualSpeed::of_logs(&logs, spread)
    }

    /// The same from the logarithms of runs.
    pub fn of_logs(logs: &[f64], spread: &KindSpread) -> Option<UsualSpeed> {
        let middle = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        UsualSpeed::from(&hypotheses(logs, spread), middle, logs.len() as u32)
    }

    /// From the mean of runs in MB/s, the deviation of one (`None` for a single run) and their number, where their order is
    /// unknown.
    pub fn of_mean(mean: f64, deviation: Option<f64>, runs: u32, spread: &KindSpread) -> Option<UsualSpeed> {
        if !(mean.is_finite() && mean >= 0.0) {
            return None;
        }
        let mean = mean.max(STANDING);
        let deviation = deviation.filter(|d| d.is_finite() && *d >= 0.0 && runs > 1);
        let of_log = deviation.map(|d| log_deviation(mean, d));
        UsualSpeed::from(&hypotheses_of(mean.ln(), of_log, runs, spread), mean, runs.max(1))
    }

    fn from(found: &[SeriesHypothesis], middle: f64, runs: u32) -> Option<UsualSpeed> {
        // A level that so many runs did not show is no state of the card under these conditions.
        let shown = |h: &&SeriesHypothesis| runs < SHOW_LEVELS || !h.unseen;
        let found: Vec<SeriesHypothesis> = found.iter().filter(shown).copied().collect();
        let known = NormalMixture::of(found.iter().map(|h| (h.log, h.mean, h.variance)))?;
        let seen =
            NormalMixture::of(found.iter().filter(|h| !h.unseen).map(|h| (h.log, h.mean, h.variance)))?;
        let most = found.iter().map(|h| h.log).fold(f64::NEG_INFINITY, f64::max);
        let weight = |h: &SeriesHypothesis| (h.log - most).exp();
        let both: f64 = found.iter().filter(|h| h.kind.jumps() && !h.unseen).map(weight).sum();
        let two_levels = both / found.iter().map(weight).sum::<f64>();
        Some(UsualSpeed { known, seen, middle, runs, two_levels })
    }

    /// The distribution of the logarithm of the usual speed in MB/s.
    pub fn log(&self) -> &NormalMixture {
        &self.known
    }

    /// The same if the card has no other level than those at which runs were made: what a test of chance supposes.
    pub fn seen(&self) -> &NormalMixture {
        &self.seen
    }

    /// The usual speed as the runs have it: their geometric mean, in MB/s.
    pub fn middle(&self) -> f64 {
        self.middle
    }

    /// 95 % interval around a mean of these runs, in its unit: as far to either side, by ratio, as the usual speed may lie
    /// from what the runs show.
    pub fn ci95(&self, mean: f64) -> [f64; 2] {
        let [low, high] = self.known.middle95().map(|log| mean * (log - self.middle.ln()).exp());
        [low.min(mean), high.max(mean).min(f64::MAX)]
    }
}

/// 95 % interval in MB/s in which one further run lies, from the logarithms of those before it; `None` for none.
pub fn next95(logs: &[f64], spread: &KindSpread) -> Option<[f64; 2]> {
    let found = hypotheses(logs, spread);
    let next = NormalMixture::of(found.iter().map(|h| (h.log, h.mean, h.variance + h.kind.variance())))?;
    Some(next.middle95().map(f64::exp))
}

impl Series {
    fn jumps(&self) -> bool {
        matches!(self, Series::Jumping { .. })
    }

    /// Variance of the logarithm of one run about the usual speed.
    fn variance(&self) -> f64 {
        match *self {
            Series::Steady { deviation, .. } => spreads::DEVIATIONS[deviation].powi(2),
            Series::Jumping { deviation, slow, step, .. } => {
                let share = spreads::SLOW[slow];
                spreads::DEVIATIONS[deviation].powi(2)
                    + share * (1.0 - share) * (step.mean * step.mean + step.variance)
            }
        }
    }
}
