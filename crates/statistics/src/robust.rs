//! Robust statistics by medians, which stalls cannot inflate: deviation, standard error, and the ratio of two samples of
//! times (docs/reference/flash.md#rules-for-timing).

use cardscope_model::statistics::{median, median_in_place};

/// Median distance from `centre`, not scaled to a standard deviation.
pub fn median_deviation(values: &[f64], centre: f64) -> Option<f64> {
    let mut distances: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median_in_place(&mut distances)
}

/// Ratio of standard deviation to median deviation in a normal distribution.
pub const MAD_SCALE: f64 = 1.4826;

const MEDIAN_SCATTER: f64 = 1.2533;

/// Robust standard deviation around `centre`, None for no values.
pub fn robust_deviation(values: &[f64], centre: f64) -> Option<f64> {
    median_deviation(values, centre).map(|deviation| MAD_SCALE * deviation)
}

pub fn median_error(deviation: f64, n: usize) -> f64 {
    MEDIAN_SCATTER * deviation / (n as f64).sqrt()
}

/// Least relative spread, which a few equal times must not undercut.
const MIN_SPREAD: f64 = 0.02;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeShift {
    /// Logarithm of the ratio of the medians.
    pub log_ratio: f64,
    pub error: f64,
}

impl TimeShift {
    pub fn ratio(&self) -> f64 {
        self.log_ratio.exp()
    }

    /// True if the ratio exceeds `factor` and is more than four standard errors above 1.
    pub fn is_above(&self, factor: f64) -> bool {
        self.log_ratio > factor.ln() && self.log_ratio > 4.0 * self.error
    }
}

/// Shift from `before` to `after`, None if one is empty.
pub fn median_shift(before: &[f64], after: &[f64]) -> Option<TimeShift> {
    let (a, b) = (log_median(before)?, log_median(after)?);
    Some(TimeShift { log_ratio: b.0 - a.0, error: a.1.hypot(b.1) })
}

fn log_median(times: &[f64]) -> Option<(f64, f64)> {
    let logs: Vec<f64> = times.iter().filter(|t| **t > 0.0).map(|t| t.ln()).collect();
    let centre = median(&logs)?;
    let spread = robust_deviation(&logs, centre)?.max(MIN_SPREAD);
    Some((centre, median_error(spread, logs.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    #[test]
    fn median_deviation_ignores_a_stall() {
        assert_eq!(median_deviation(&[9.0, 10.0, 11.0, 10.0, 500.0], 10.0), Some(1.0));
    }

    #[test]
    fn robust_deviation_is_scaled_to_normal_and_ignores_stalls() {
        let mut random = cardscope_model::random::SeededRandom::from_state(3);
        let mut values: Vec<f64> = (0..20_000).map(|_| 5.0 + 2.0 * random.normal()).collect();
        values.iter_mut().step_by(100).for_each(|v| *v *= 100.0);
        let spread = robust_deviation(&values, 5.0).unwrap();
        assert!((spread / 2.0 - 1.0).abs() < 0.03, "{spread}");
        // sqrt(pi / 2) / sqrt(n)
        assert!((median_error(2.0, 100) - 0.25066).abs() < 1e-4);
    }

    fn times(n: usize, at: f64, seed: u64) -> Vec<f64> {
        let mut random = SeededRandom::from_state(seed);
        (0..n)
            .map(|_| {
                at * (0.08 * random.normal()).exp() * if random.unit_interval() < 0.02 { 100.0 } else { 1.0 }
            })
            .collect()
    }

    #[test]
    fn shift_of_a_half_is_found_despite_stalls() {
        for seed in 0..200 {
            let (a, b) = (times(12, 0.004, seed), times(12, 0.006, seed + 1000));
            assert!(median_shift(&a, &b).unwrap().is_above(1.15), "{seed}: {:?}", median_shift(&a, &b));
            let same = median_shift(&a, &times(12, 0.004, seed + 2000)).unwrap();
            assert!(!same.is_above(1.15), "{seed}: {same:?}");
        }
        assert_eq!(median_shift(&[], &[1.0]), None);
    }
}
