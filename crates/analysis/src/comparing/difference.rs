//! Whether two cards differ in one test: by how much, how sure that is, and how many more runs would settle it.
//!
//! The ratio of two means, reckoned in logarithms so that either card may come first; Welch's t with the errors of
//! [`super::series`], in which runs that follow each other count for less. A test of ranks or a permutation would ask for
//! no shape of the spread, but with five runs a side it cannot say less than p = 0.008, which no correction for a dozen
//! tests survives; what the shapes that cards have do to this one is measured instead (`docs/comparing.md`).

use super::series::{LEAST_RUNS, Series, correlation, error, pooled, worth};
use super::{NOTICED, REAL, TYPICAL_SPREAD};
use crate::estimate::t95;
use cardscope_model::comparison::Verdict;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Where more runs than this would be needed, runs are not what is missing.
const MOST_MORE_RUNS: usize = 100;

/// Standard errors beyond the limit that make a chance of 80 % to get there (the quantile of a normal distribution).
const POWER: f64 = 0.8416;

/// Cards of which one stands still have no ratio; beyond a million it means nothing.
const MOST_FACTOR: f64 = 1e6;

/// What can be said of two cards in one test.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Mean of the second over mean of the first, from 10^-6 to 10^6; 1 where one has no runs or both stand still.
    pub factor: f64,
    /// 95 % interval of the factor, by itself: not widened for other comparisons. `None` where a side has one run.
    pub ci95: Option<[f64; 2]>,
    /// Probability of such a difference by chance alone; `None` where a side has fewer than [`LEAST_RUNS`].
    pub p: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
    /// Further runs of each side that settle it with a chance of 80 %, if the difference is what it seems; `None` where
    /// it is settled, or where more than 100 would be needed.
    pub more_runs: Option<u32>,
    /// How many independent runs those of each side are worth.
    pub worth: [f64; 2],
    sides: Option<Sides>,
}

/// Two series and what is known of them together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sides {
    first: Series,
    second: Series,
    spread: f64,
    correlation: f64,
}

/// Compares two cards by the means of their runs, each in the order in which they were measured. Runs that are negative
/// or no numbers are left out.
pub fn difference(first: &[f64], second: &[f64]) -> Difference {
    let scale = first.iter().chain(second).copied().filter(|v| v.is_finite()).fold(0.0, f64::max);
    let side = |values: &[f64]| {
        let usable = values.iter().filter(|v| v.is_finite() && **v >= 0.0);
        // By the greatest, or sums of enormous numbers would have no end.
        Series::new(&usable.map(|v| if scale > 0.0 { v / scale } else { 0.0 }).collect::<Vec<f64>>())
    };
    match (side(first), side(second)) {
        (Some(first), Some(second)) => Sides::new(first, second).difference(),
        _ => Difference {
            factor: 1.0,
            ci95: None,
            p: None,
            verdict: Verdict::CannotTell,
            more_runs: None,
            worth: [0.0; 2],
            sides: None,
        },
    }
}

impl Difference {
    /// The same after correction for the number of comparisons: `p` as [`super::holm`] makes it of all of them. What was
    /// real by itself may then be none, and takes more runs.
    pub fn corrected(mut self, p: f64) -> Difference {
        let (Some(sides), Some(own)) = (self.sides, self.p) else { return self };
        let p = p.clamp(own, 1.0);
        // What was asked of p is asked of it as much more strictly as the correction raised it.
        let level = if p > 0.0 { REAL * own / p } else { REAL };
        self.p = Some(p);
        self.verdict = sides.verdict(self.ci95, self.p);
        self.more_runs = sides.more_runs(self.verdict, level);
        self
    }
}

impl Sides {
    fn new(first: Series, second: Series) -> Sides {
        let both = [&first, &second];
        let spread = pooled(both).unwrap_or(TYPICAL_SPREAD);
        Sides { first, second, spread, correlation: correlation(&both) }
    }

    fn difference(self) -> Difference {
        let log = self.log();
        let (error, degrees) = self.error(0);
        let fewest = self.first.runs.min(self.second.runs);
        let half = t95(degrees) * error;
        let ci95 = (fewest > 1).then(|| [factor(log - half), factor(log + half)]);
        let p = (fewest >= LEAST_RUNS).then(|| two_sided(log / error, degrees));
        let verdict = self.verdict(ci95, p);
        Difference {
            factor: factor(log),
            ci95,
            p,
            verdict,
            more_runs: self.more_runs(verdict, REAL),
            worth: [worth(self.first.runs, self.correlation), worth(self.second.runs, self.correlation)],
            sides: Some(self),
        }
    }

    /// Logarithm of the ratio of the means.
    fn log(&self) -> f64 {
        let most = MOST_FACTOR.ln();
        match (self.first.mean > 0.0, self.second.mean > 0.0) {
            (true, true) => (self.second.mean.ln() - self.first.mean.ln()).clamp(-most, most),
            (true, false) => -most,
            (false, true) => most,
            (false, false) => 0.0,
        }
    }

    /// Standard error of that logarithm and its degrees of freedom, after so many further runs of each side.
    fn error(&self, further: usize) -> (f64, f64) {
        let side = |s: &Series| error(s, s.runs + further, self.spread, self.correlation);
        let ((a, a_degrees), (b, b_degrees)) = (side(&self.first), side(&self.second));
        let degrees = (a + b).powi(2) / (a * a / a_degrees + b * b / b_degrees);
        ((a + b).sqrt(), degrees)
    }

    fn verdict(&self, ci95: Option<[f64; 2]>, p: Option<f64>) -> Verdict {
        let (Some([low, high]), Some(p)) = (ci95, p) else { return Verdict::CannotTell };
        let (log, noticed) = (self.log(), (1.0 + NOTICED).ln());
        match p < REAL {
            true if log > noticed => Verdict::SecondFaster,
            true if log < -noticed => Verdict::FirstFaster,
            _ if low.ln() > -noticed && high.ln() < noticed => Verdict::Alike,
            _ => Verdict::CannotTell,
        }
    }

    /// The least number of further runs that settles it at this level, if the difference is what it seems.
    fn more_runs(&self, verdict: Verdict, level: f64) -> Option<u32> {
        if verdict != Verdict::CannotTell {
            return None;
        }
        let (mut least, mut most) =
            (LEAST_RUNS.saturating_sub(self.first.runs.min(self.second.runs)).max(1), MOST_MORE_RUNS);
        let normal = Normal::standard().inverse_cdf(1.0 - level / 2.0);
        if !self.settled_by(most, normal) {
            return None;
        }
        while least < most {
            let middle = usize::midpoint(least, most);
            match self.settled_by(middle, normal) {
                true => most = middle,
                false => least = middle + 1,
            }
        }
        u32::try_from(least).ok()
    }

    /// Whether so many further runs would, by the normal quantile of the level.
    fn settled_by(&self, further: usize, normal: f64) -> bool {
        let (error, degrees) = self.error(further);
        let needed = (about_t(normal, degrees) + POWER) * error;
        let beyond = self.log().abs() - (1.0 + NOTICED).ln();
        match beyond > 0.0 {
            true => self.log().abs() > needed && beyond > POWER * error,
            false => -beyond > needed,
        }
    }
}

fn factor(log: f64) -> f64 {
    log.exp().clamp(1.0 / MOST_FACTOR, MOST_FACTOR)
}

/// Student's t from a quantile of the normal distribution: two terms of its expansion (Abramowitz and Stegun 26.7.5), a
/// tenth too small for two degrees of freedom; a forecast of runs needs no more, and it costs nothing.
fn about_t(normal: f64, degrees: f64) -> f64 {
    let [z, z3, z5] = [1, 3, 5].map(|power| normal.powi(power));
    z + (z3 + z) / (4.0 * degrees) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * degrees * degrees)
}

fn two_sided(t: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(1.0, |law| (2.0 * law.sf(t.abs())).min(1.0))
}

#[cfg(test)]
mod tests;
