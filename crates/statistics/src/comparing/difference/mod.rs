//! Whether two cards differ in one test: by how much, how sure that is, and how many more runs would settle it.
//!
//! The ratio of their usual speeds ([`crate::usual`]), in logarithms so that either card may come first. Two answers from
//! one distribution. *The chance that one is faster* counts that cards lie as far apart as those that were published: it is
//! what a person wants to know who has to choose. *p* does not: it is how often cards that are alike would look so
//! different, and what is called real rests on it. A test of ranks or a permutation would ask for no shape of the spread,
//! but with five runs a side it cannot say less than p = 0.008, which no correction for a dozen tests survives.

use super::REAL;
use crate::usual::{NormalMixture, SpreadTable, UsualSpeed, noticed};
use cardscope_model::comparison::{ChanceGrade, PairVerdict};
use statrs::distribution::{ContinuousCDF, Normal};

/// A side of fewer runs never differs for real: two that agree may be one state of the card. No p is given either.
pub const LEAST_RUNS: u32 = 3;

/// Where more runs than this would be needed, runs are not what is missing.
const MOST_MORE_RUNS: u32 = 100;

/// Standard errors beyond the limit that make a chance of 80 % to get there (the quantile of a normal distribution).
const POWER: f64 = 0.8416;

/// Runs are taken to jump between two levels where that is so probable: the other card may then jump, too.
const JUMPS: f64 = 0.8;

/// Cards of which one stands still have no ratio; beyond a million it means nothing.
const MOST_FACTOR: f64 = 1e6;

/// What can be said of two cards in one test.
#[derive(Debug, Clone, PartialEq)]
pub struct CardDifference {
    /// Usual speed of the second over that of the first, from 10^-6 to 10^6; 1 where one is unknown or both stand still.
    pub factor: f64,
    /// 95 % interval of the factor, by itself: not widened for other comparisons. `None` where a side is unknown.
    pub ci95: Option<[f64; 2]>,
    /// Chance that the first card's usual speed is the higher one.
    pub first_faster: f64,
    /// Chance that it is higher by more than anybody overlooks, and that the second's is.
    pub noticed: [f64; 2],
    /// What that chance is called.
    pub grade: ChanceGrade,
    /// Probability of such a difference by chance alone; `None` where a side has fewer than [`LEAST_RUNS`].
    pub p: Option<f64>,
    /// What can be said for sure.
    pub verdict: PairVerdict,
    /// Further runs of each side that settle it with a chance of 80 %, if the difference is what it seems; `None` where
    /// it is settled, or where more than 100 would be needed.
    pub more_runs: Option<u32>,
    known: Option<UsualDifference>,
}

/// Compares two cards by what is known of their usual speeds. `besides` is the variance that the logarithm of the factor has
/// from what differs beside that which is compared: nothing is then almost certain.
pub fn difference(
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
        (Some(first), Some(second)) => UsualDifference::new(first, second, besides).difference(table),
        (Some(_), None) => CardDifference { factor: 1.0 / MOST_FACTOR, ..nothing },
        (None, Some(_)) => CardDifference { factor: MOST_FACTOR, ..nothing },
        (None, None) => nothing,
    }
}

impl CardDifference {
    /// The same after correction for the number of comparisons: `p` as [`super::holm`] makes it of all of them. What was
    /// real by itself may then be none, and takes more runs.
    pub fn corrected(mut self, p: f64) -> CardDifference {
        let (Some(known), Some(own)) = (&self.known, self.p) else { return self };
        let p = p.clamp(own, 1.0);
        // What was asked of p is asked of it as much more strictly as the correction raised it.
        let level = if p > 0.0 { REAL * own / p } else { REAL };
        self.p = Some(p);
        self.verdict = known.verdict(self.ci95, self.p);
        self.more_runs = known.more_runs(self.verdict, level);
        self
    }
}

/// Two usual speeds and the difference of their logarithms, the second's less the first's.
#[derive(Debug, Clone, PartialEq)]
struct UsualDifference {
    log: f64,
    apart: NormalMixture,
    /// The same if no card has a level at which no run was made.
    seen: NormalMixture,
    runs: [u32; 2],
    /// Variances of the two, and of what else differs.
    variances: [f64; 2],
    besides: f64,
}

impl UsualDifference {
    fn new(first: &UsualSpeed, second: &UsualSpeed, besides: f64) -> UsualDifference {
        let most = MOST_FACTOR.ln();
        let apart = second.log().minus(first.log());
        // Where one of the two is seen to jump, the other may, too.
        let steady = first.two_levels.max(second.two_levels) < JUMPS;
        let seen = if steady { second.seen().minus(first.seen()) } else { apart.clone() };
        UsualDifference {
            log: (second.middle().ln() - first.middle().ln()).clamp(-most, most),
            apart: if besides > 0.0 { apart.widened(besides) } else { apart },
            seen: if besides > 0.0 { seen.widened(besides) } else { seen },
            runs: [first.runs, second.runs],
            variances: [first.log().variance(), second.log().variance()],
            besides,
        }
    }

    fn difference(self, table: &SpreadTable) -> CardDifference {
        let usual = self.apart.drawn_to(table.apart());
        let noticed = [usual.below(-noticed()), usual.above(noticed())];
        let fewest = self.runs[0].min(self.runs[1]);
        let [low, high] = self.apart.middle95();
        let ci95 = Some([factor(low.min(self.log)), factor(high.max(self.log))]);
        let tail = self.seen.below(0.0).min(self.seen.above(0.0));
        let p = (fewest >= LEAST_RUNS).then(|| (2.0 * tail).min(1.0));
        let verdict = self.verdict(ci95, p);
        CardDifference {
            factor: factor(self.log),
            ci95,
            first_faster: usual.below(0.0),
            noticed,
            grade: grade(noticed, self.besides > 0.0),
            p,
            verdict,
            more_runs: self.more_runs(verdict, REAL),
            known: Some(self),
        }
    }

    fn verdict(&self, ci95: Option<[f64; 2]>, p: Option<f64>) -> PairVerdict {
        let (Some([low, high]), Some(p)) = (ci95, p) else { return PairVerdict::CannotTell };
        let noticed = noticed();
        match p < REAL {
            true if self.log > noticed => PairVerdict::SecondFaster,
            true if self.log < -noticed => PairVerdict::FirstFaster,
            _ if low.ln() > -noticed && high.ln() < noticed => PairVerdict::Alike,
            _ => PairVerdict::CannotTell,
        }
    }

    /// The least number of further runs that settles it at this level, if the difference is what it seems.
    fn more_runs(&self, verdict: PairVerdict, level: f64) -> Option<u32> {
        if verdict != PairVerdict::CannotTell {
            return None;
        }
        let (mut least, mut most) =
            (LEAST_RUNS.saturating_sub(self.runs[0].min(self.runs[1])).max(1), MOST_MORE_RUNS);
        let normal = Normal::standard().inverse_cdf(1.0 - level / 2.0);
        if !self.settled_by(most, normal) {
            return None;
        }
        while least < most {
            let middle = u32::midpoint(least, most);
            match self.settled_by(middle, normal) {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        Some(least)
    }

    /// Whether so many further runs would, by the normal quantile of the level. More runs know a mean better as their number
    /// grows, whatever they are worth; what else differs stays.
    fn settled_by(&self, further: u32, normal: f64) -> bool {
        let shrunk = |side: usize| {
            let runs = f64::from(self.runs[side]);
            self.variances[side] * runs / (runs + f64::from(further))
        };
        let error = (shrunk(0) + shrunk(1) + self.besides).sqrt();
        let needed = (normal + POWER) * error;
        let beyond = self.log.abs() - noticed();
        match beyond > 0.0 {
            true => self.log.abs() > needed && beyond > POWER * error,
            false => -beyond > needed,
        }
    }
}

/// What the greater of two chances is called; where something else differs too, nothing is almost certain.
fn grade(noticed: [f64; 2], confounded: bool) -> ChanceGrade {
    let grade = ChanceGrade::of(noticed[0].max(noticed[1]));
    if confounded { grade.min(ChanceGrade::Likely) } else { grade }
}

fn factor(log: f64) -> f64 {
    log.exp().clamp(1.0 / MOST_FACTOR, MOST_FACTOR)
}

#[cfg(test)]
mod tests;
