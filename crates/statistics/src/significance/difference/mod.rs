//! Difference of two cards in one test: ratio, probability, and the runs that would settle it.
//!
//! The ratio of their usual speeds ([`crate::usual`]) is computed in logarithms, so that the order of the cards does not
//! matter. It answers two questions. *The chance that one is faster* uses the differences between published cards as a
//! prior, which suits a person who has to choose. *p* does not: it is the probability of such a difference between equal
//! cards, and decides significance. A rank or permutation test would need no model of the spread, but with five runs of
//! each card its p is at least 0.008, which no correction for a dozen tests survives.

use super::SIGNIFICANCE_LEVEL;
use crate::priors::{NormalMixture, SpreadTable, UsualSpeed, noticed_log};
use cardscope_model::comparison::{ChanceGrade, PairVerdict};
use statrs::distribution::{ContinuousCDF, Normal};

/// Least runs of each card for a p value; two runs that agree may share one state of the card.
pub const MIN_RUNS: u32 = 3;

/// Limit of further runs. If more are needed, runs are not the problem.
const MAX_MORE_RUNS: u32 = 100;

/// Standard errors beyond the limit for a power of 80 % (normal quantile).
const POWER_QUANTILE: f64 = 0.8416;

/// Least probability of two levels on one card at which the other is assumed to have two.
const LIKELY_JUMPS: f64 = 0.8;

/// Limit of the ratio, for cards of which one stands still.
const MAX_FACTOR: f64 = 1e6;

#[derive(Debug, Clone, PartialEq)]
pub struct CardDifference {
    /// Speed of the second over that of the first, from 10^-6 to 10^6. 1 if one is unknown or both stand still.
    pub factor: f64,
    /// 95 % interval of the factor, not corrected for other comparisons. None if a card has no runs.
    pub ci95: Option<[f64; 2]>,
    pub first_faster: f64,
    pub noticed: [f64; 2],
    pub grade: ChanceGrade,
    /// Probability of such a difference by chance, None if a card has fewer than [`MIN_RUNS`].
    pub p: Option<f64>,
    pub verdict: PairVerdict,
    /// Further runs of each card that settle it with 80 % power. None if it is settled, or if more than 100 are needed.
    pub more_runs: Option<u32>,
    known: Option<UsualDifference>,
}

/// Compares two cards by their usual speeds. `besides` is the variance of the log ratio from other differences of the
/// setup. If it is above 0, no grade is "almost certain".
pub fn compare_speeds(
    first: Option<&UsualSpeed>,
    second: Option<&UsualSpeed>,
    table: &SpreadTable,
    besides: f64,
) -> CardDifference {
    let nothing = CardDifference {
        factor: 1.0,
        ci95: None,
        first_faster: 0.5,
        noticed: [0.0; 2],
        grade: ChanceGrade::Even,
        p: None,
        verdict: PairVerdict::CannotTell,
        more_runs: None,
        known: None,
    };
    match (first, second) {
        (Some(first), Some(second)) => UsualDifference::new(first, second, besides).into_difference(table),
        (Some(_), None) => CardDifference { factor: 1.0 / MAX_FACTOR, ..nothing },
        (None, Some(_)) => CardDifference { factor: MAX_FACTOR, ..nothing },
        (None, None) => nothing,
    }
}

impl CardDifference {
    /// Replaces p by the one that the Holm correction gives. Significance may be lost, and more runs may be needed.
    pub fn with_corrected_p(mut self, p: f64) -> CardDifference {
        let (Some(known), Some(own)) = (&self.known, self.p) else { return self };
        let p = p.clamp(own, 1.0);
        // The level for further runs becomes stricter by the same ratio.
        let level = if p > 0.0 { SIGNIFICANCE_LEVEL * own / p } else { SIGNIFICANCE_LEVEL };
        self.p = Some(p);
        self.verdict = known.verdict(self.ci95, self.p);
        self.more_runs = known.more_runs(self.verdict, level);
        self
    }
}

#[derive(Debug, Clone, PartialEq)]
struct UsualDifference {
    log: f64,
    apart: NormalMixture,
    seen: NormalMixture,
    runs: [u32; 2],
    variances: [f64; 2],
    besides: f64,
}

impl UsualDifference {
    fn new(first: &UsualSpeed, second: &UsualSpeed, besides: f64) -> UsualDifference {
        let most = MAX_FACTOR.ln();
        let apart = second.log_speed().difference(first.log_speed());
        // If one card has two levels, the other may have them too.
        let steady = first.two_levels.max(second.two_levels) < LIKELY_JUMPS;
        let seen = match steady {
            true => second.log_speed_without_unseen().difference(first.log_speed_without_unseen()),
            false => apart.clone(),
        };
        UsualDifference {
            log: (second.geometric_mean().ln() - first.geometric_mean().ln()).clamp(-most, most),
            apart: if besides > 0.0 { apart.widened(besides) } else { apart },
            seen: if besides > 0.0 { seen.widened(besides) } else { seen },
            runs: [first.runs, second.runs],
            variances: [first.log_speed().variance(), second.log_speed().variance()],
            besides,
        }
    }

    fn into_difference(self, table: &SpreadTable) -> CardDifference {
        let usual = self.apart.with_prior(table.card_distances());
        let noticed = [usual.probability_below(-noticed_log()), usual.probability_above(noticed_log())];
        let fewest = self.runs[0].min(self.runs[1]);
        let [low, high] = self.apart.central95();
        let ci95 = Some([clamped_factor(low.min(self.log)), clamped_factor(high.max(self.log))]);
        let tail = self.seen.probability_below(0.0).min(self.seen.probability_above(0.0));
        let p = (fewest >= MIN_RUNS).then(|| (2.0 * tail).min(1.0));
        let verdict = self.verdict(ci95, p);
        CardDifference {
            factor: clamped_factor(self.log),
            ci95,
            first_faster: usual.probability_below(0.0),
            noticed,
            grade: difference_grade(noticed, self.besides > 0.0),
            p,
            verdict,
            more_runs: self.more_runs(verdict, SIGNIFICANCE_LEVEL),
            known: Some(self),
        }
    }

    fn verdict(&self, ci95: Option<[f64; 2]>, p: Option<f64>) -> PairVerdict {
        let (Some([low, high]), Some(p)) = (ci95, p) else { return PairVerdict::CannotTell };
        let noticed = noticed_log();
        match p < SIGNIFICANCE_LEVEL {
            true if self.log > noticed => PairVerdict::SecondFaster,
            true if self.log < -noticed => PairVerdict::FirstFaster,
            _ if low.ln() > -noticed && high.ln() < noticed => PairVerdict::Alike,
            _ => PairVerdict::CannotTell,
        }
    }

    fn more_runs(&self, verdict: PairVerdict, level: f64) -> Option<u32> {
        if verdict != PairVerdict::CannotTell {
            return None;
        }
        let fewest = self.runs[0].min(self.runs[1]);
        let (mut least, mut most) = (MIN_RUNS.saturating_sub(fewest).max(1), MAX_MORE_RUNS);
        let normal = Normal::standard().inverse_cdf(1.0 - level / 2.0);
        if !self.is_settled_by(most, normal) {
            return None;
        }
        while least < most {
            let middle = u32::midpoint(least, most);
            match self.is_settled_by(middle, normal) {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        Some(least)
    }

    /// True if so many further runs would settle it. They reduce the variance of the cards, not that of other differences.
    fn is_settled_by(&self, further: u32, normal: f64) -> bool {
        let shrunk = |side: usize| {
            let runs = f64::from(self.runs[side]);
            self.variances[side] * runs / (runs + f64::from(further))
        };
        let error = (shrunk(0) + shrunk(1) + self.besides).sqrt();
        let needed = (normal + POWER_QUANTILE) * error;
        let beyond = self.log.abs() - noticed_log();
        match beyond > 0.0 {
            true => self.log.abs() > needed && beyond > POWER_QUANTILE * error,
            false => -beyond > needed,
        }
    }
}

/// Grade of the greater probability, limited if something else differs too.
fn difference_grade(noticed: [f64; 2], confounded: bool) -> ChanceGrade {
    let grade = ChanceGrade::from_chance(noticed[0].max(noticed[1]));
    if confounded { grade.min(ChanceGrade::Likely) } else { grade }
}

fn clamped_factor(log: f64) -> f64 {
    log.exp().clamp(1.0 / MAX_FACTOR, MAX_FACTOR)
}

#[cfg(test)]
mod tests;
