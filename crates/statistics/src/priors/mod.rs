//! Usual speed of a card in a test: the distribution of its long-run mean, in logarithms, under the same conditions.
//!
//! Ten consecutive runs carry less information than ten independent ones, one run shows no spread, and three runs within a
//! cache do not show the speed beyond it. Therefore the known spread of such series (`spreads`) weighs every kind of series
//! that could have produced the runs (`series`), and the usual speed gets the mixture of their distributions (`normals`).
//! Intervals, probabilities and p values come from that mixture. Their accuracy is measured in `tests/statistics/usual/` and
//! documented in `docs/comparing.md`.

mod learn;
mod normals;
mod series;
mod spreads;

use learn::log_deviation;
pub use learn::{KnownSeries, learn_distances, learn_spread};
pub use normals::NormalMixture;
pub use spreads::{
    ConditionEffect, KindSpread, SpreadKind, SpreadSubject, SpreadTable, UnitSpread, is_express, noticed_log,
};

pub mod lists {
    pub use super::spreads::{
        CARD_DISTANCES, CORRELATIONS, DEVIATIONS, LEVEL_DEVIATIONS, SLOW_SHARES, STAY_PROBABILITIES,
    };
}

use series::{HypothesisKind as Series, SeriesHypothesis, series_hypotheses, summary_hypotheses};

/// Speed in MB/s of a card that stands still, since 0 has no logarithm.
const STANDSTILL_MB_S: f64 = 1e-6;

/// Runs that would show a second level if there is one ([`crate::levels`]).
const LEVEL_RUNS: u32 = crate::run_levels::MIN_LEVEL_RUNS as u32;

/// Distribution of a card's usual speed in one test.
#[derive(Debug, Clone, PartialEq)]
pub struct UsualSpeed {
    log_speed: NormalMixture,
    log_speed_of_seen_levels: NormalMixture,
    geometric_mean: f64,
    pub runs: u32,
    /// Probability that the runs have two levels.
    pub two_levels: f64,
}

impl UsualSpeed {
    /// From runs in MB/s in their order. Negative and non-finite values are ignored. None for no runs.
    pub fn from_runs(mb_s: &[f64], spread: &KindSpread) -> Option<UsualSpeed> {
        let usable = mb_s.iter().filter(|v| v.is_finite() && **v >= 0.0);
        let logs: Vec<f64> = usable.map(|v| v.max(STANDSTILL_MB_S).ln()).collect();
        UsualSpeed::from_logs(&logs, spread)
    }

    pub fn from_logs(logs: &[f64], spread: &KindSpread) -> Option<UsualSpeed> {
        let middle = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        UsualSpeed::from_hypotheses(&series_hypotheses(logs, spread), middle, logs.len() as u32)
    }

    /// From a summary of runs in MB/s with unknown order. `deviation` is None for a single run.
    pub fn from_mean(mean: f64, deviation: Option<f64>, runs: u32, spread: &KindSpread) -> Option<Self> {
        if !(mean.is_finite() && mean >= 0.0) {
            return None;
        }
        let mean = mean.max(STANDSTILL_MB_S);
        let deviation = deviation.filter(|d| d.is_finite() && *d >= 0.0 && runs > 1);
        let of_log = deviation.map(|d| log_deviation(mean, d));
        UsualSpeed::from_hypotheses(&summary_hypotheses(mean.ln(), of_log, runs, spread), mean, runs.max(1))
    }

    fn from_hypotheses(found: &[SeriesHypothesis], geometric_mean: f64, runs: u32) -> Option<UsualSpeed> {
        // A level that this many runs do not show is no state of the card under these conditions.
        let shown = |h: &&SeriesHypothesis| runs < LEVEL_RUNS || !h.unseen;
        let found: Vec<SeriesHypothesis> = found.iter().filter(shown).copied().collect();
        let part = |h: &SeriesHypothesis| (h.log_weight, h.mean, h.variance);
        let log_speed = NormalMixture::from_parts(found.iter().map(part))?;
        let log_speed_of_seen_levels =
            NormalMixture::from_parts(found.iter().filter(|h| !h.unseen).map(part))?;
        let most = found.iter().map(|h| h.log_weight).fold(f64::NEG_INFINITY, f64::max);
        let weight = |h: &SeriesHypothesis| (h.log_weight - most).exp();
        let both: f64 = found.iter().filter(|h| h.kind.jumps() && !h.unseen).map(weight).sum();
        let two_levels = both / found.iter().map(weight).sum::<f64>();
        Some(UsualSpeed { log_speed, log_speed_of_seen_levels, geometric_mean, runs, two_levels })
    }

    /// Distribution of the logarithm of the usual speed in MB/s.
    pub fn log_speed(&self) -> &NormalMixture {
        &self.log_speed
    }

    /// The same without levels that no run showed, as significance tests assume.
    pub fn log_speed_without_unseen(&self) -> &NormalMixture {
        &self.log_speed_of_seen_levels
    }

    pub fn geometric_mean(&self) -> f64 {
        self.geometric_mean
    }

    /// 95 % interval around a mean of these runs, in its unit. It extends by the same ratios as that of the usual speed around
    /// the geometric mean.
    pub fn interval95(&self, mean: f64) -> [f64; 2] {
        let [low, high] = self.log_speed.central95().map(|log| mean * (log - self.geometric_mean.ln()).exp());
        [low.min(mean), high.max(mean).min(f64::MAX)]
    }
}

/// 95 % prediction interval of one further run in MB/s, from the logarithms of earlier ones. None if there are none.
pub fn next_run_interval95(logs: &[f64], spread: &KindSpread) -> Option<[f64; 2]> {
    let found = series_hypotheses(logs, spread);
    let parts = found.iter().map(|h| (h.log_weight, h.mean, h.variance + h.kind.variance()));
    Some(NormalMixture::from_parts(parts)?.central95().map(f64::exp))
}

impl Series {
    fn jumps(&self) -> bool {
        matches!(self, Series::Jumping { .. })
    }

    fn variance(&self) -> f64 {
        match *self {
            Series::Steady { deviation, .. } => spreads::DEVIATIONS[deviation].powi(2),
            Series::Jumping { deviation, slow, step, .. } => {
                let (share, within) = (spreads::SLOW_SHARES[slow], spreads::DEVIATIONS[deviation].powi(2));
                within + share * (1.0 - share) * (step.mean * step.mean + step.variance)
            }
        }
    }
}
