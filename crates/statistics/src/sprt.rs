//! Wald's sequential probability ratio test, which stops as soon as the evidence suffices, with bounded error rates. For
//! yes-or-no observations (slow writes) and for rates against a threshold (docs/reference/flash.md#open-blocks,
//! docs/reference/flash.md#marks-by-measuring).

use crate::robust::robust_deviation;
use cardscope_model::statistics::median;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SprtVerdict {
    Null,
    Alternative,
    /// More observations are needed.
    Open,
}

/// Sum of log-likelihood ratios between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SprtTest {
    sum: f64,
    lower: f64,
    upper: f64,
}

impl SprtTest {
    /// Creates a test with the probabilities of falsely rejecting (`alpha`) and falsely keeping (`beta`) the null hypothesis.
    pub fn new(alpha: f64, beta: f64) -> Self {
        SprtTest { sum: 0.0, lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() }
    }

    /// Adds the log-likelihood ratio of an observation, alternative over null.
    pub fn add_log_ratio(&mut self, ratio: f64) {
        self.sum += ratio;
    }

    /// Adds a yes-or-no observation with the probabilities of yes under the null hypothesis and the alternative.
    pub fn add_event(&mut self, yes: bool, p0: f64, p1: f64) {
        self.add_log_ratio(if yes { (p1 / p0).ln() } else { ((1.0 - p1) / (1.0 - p0)).ln() });
    }

    pub fn decide(&self) -> SprtVerdict {
        match self.sum {
            s if s >= self.upper => SprtVerdict::Alternative,
            s if s <= self.lower => SprtVerdict::Null,
            _ => SprtVerdict::Open,
        }
    }

    pub fn null_probability(&self) -> f64 {
        1.0 / (1.0 + self.sum.clamp(-700.0, 700.0).exp())
    }
}

pub const RATE_ERROR: f64 = 0.01;

pub const RATE_BELOW: f64 = 0.9;

/// Least relative spread of slices, which a few equal ones must not undercut.
const MIN_SLICE_SPREAD: f64 = 0.02;

/// Tests if a rate is at least `threshold` (null) or at most 0.9 of it (alternative), from the rates of equal time slices.
/// They are assumed to be log-normal with a robust spread.
pub fn test_rate(slices: &[f64], threshold: f64) -> SprtTest {
    let mut test = SprtTest::new(RATE_ERROR, RATE_ERROR);
    if threshold <= 0.0 {
        return test;
    }
    // A slice without a completed I/O only shows that it was very slow.
    let logs: Vec<f64> = slices.iter().map(|r| (r.max(threshold * 1e-3) / threshold).ln()).collect();
    let Some(centre) = median(&logs) else { return test };
    let spread = robust_deviation(&logs, centre).unwrap_or(0.0);
    let variance = spread.max(MIN_SLICE_SPREAD).powi(2);
    let below = RATE_BELOW.ln();
    for log in logs {
        test.add_log_ratio((log * below - below * below / 2.0) / variance);
    }
    test
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::random::SeededRandom;

    #[test]
    fn two_slow_writes_decide() {
        // docs/reference/flash.md#open-blocks: slow +2.81, fast -0.66, over at +4.6.
        let mut test = SprtTest::new(0.01, 0.01);
        test.add_event(true, 0.03, 0.5);
        assert!((test.sum - 2.813).abs() < 1e-3 && test.decide() == SprtVerdict::Open);
        test.add_event(false, 0.03, 0.5);
        assert!((test.sum - 2.813 + 0.663).abs() < 1e-3);
        test.add_event(true, 0.03, 0.5);
        assert_eq!(test.decide(), SprtVerdict::Alternative);
    }

    #[test]
    fn nine_slices_decide_a_rate_ten_percent_below() {
        // docs/reference/flash.md#marks-by-measuring: CV 10 %, about 9 slices; each error at most 1 % by design, here
        // within 3 %.
        let mut random = SeededRandom::from_state(7);
        let (mut wrong, mut slices) = (0, 0);
        for round in 0..1000 {
            let level = if round % 2 == 0 { 500.0 } else { 450.0 };
            let mut seen = Vec::new();
            let verdict = loop {
                seen.push(level * (0.1 * random.normal()).exp());
                let verdict =
                    if seen.len() < 8 { SprtVerdict::Open } else { test_rate(&seen, 500.0).decide() };
                if verdict != SprtVerdict::Open || seen.len() > 200 {
                    break verdict;
                }
            };
            slices += seen.len();
            let right = if round % 2 == 0 { SprtVerdict::Null } else { SprtVerdict::Alternative };
            wrong += usize::from(verdict != right);
        }
        assert!(wrong <= 30, "{wrong} of 1000 wrong");
        assert!((8_000..16_000).contains(&slices), "{slices}");
    }

    #[test]
    fn no_observation_decides_nothing() {
        assert_eq!(test_rate(&[], 500.0).decide(), SprtVerdict::Open);
        assert!((test_rate(&[], 500.0).null_probability() - 0.5).abs() < 1e-12);
    }
}
