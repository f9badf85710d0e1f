//! Stopping rule of a test: the mean speed is known to ±ε, or a limit is reached.
//!
//! The rule follows docs/reference/flash.md#stopping-rule. Cards stall, so a rule that trusts the observed spread stops
//! before the first stall and is usually wrong. This one always assumes one more stall than observed. It checks at
//! geometrically growing times, since frequent checks would increase the error.
//!
//! The mean is the ratio R = total time / total I/Os. The variance of the total time is that of the normal units, widened by
//! their lag-1 correlation, plus the square of each stall (their number varies by its root), plus the square of one unseen
//! stall: V = n·s_f²·(1 + ρ₁)/(1 − ρ₁) + Σ sᵢ² + s_max².

mod units;

pub use units::unit_ios;

use crate::estimate::student_t95;
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::RepeatUntil;
use cardscope_model::test_name::TestName;
use units::{IoUnit, IoUnits, UsualPace, end_of_startup};

/// Growth of the time between two checks (docs/reference/flash.md#stopping-rule).
const CHECK_GROWTH: f64 = 1.15;

/// Unseen stall in seconds (docs/reference/flash.md#stopping-rule): the time to close an erase block for writes, to retry
/// a read for reads.
const UNSEEN_WRITE_STALL_S: f64 = 0.250;
const UNSEEN_READ_STALL_S: f64 = 0.020;

#[derive(Debug, Clone, PartialEq)]
pub enum StopDecision {
    Continue,
    Reached(KnownMean),
    /// `max_s` has passed before the interval was narrow enough.
    LimitHit {
        /// None if not even one unit was completed.
        known: Option<KnownMean>,
        caveat: Caveat,
    },
}

#[derive(Debug, Clone)]
pub struct StopPrecision {
    until: RepeatUntil,
    unseen_stall_s: f64,
    units: IoUnits,
    elapsed_s: f64,
    next_check_s: f64,
}

impl StopPrecision {
    pub fn new(until: RepeatUntil, test: TestName) -> Self {
        StopPrecision {
            until,
            unseen_stall_s: if test.op.writes() { UNSEEN_WRITE_STALL_S } else { UNSEEN_READ_STALL_S },
            units: IoUnits::new(unit_ios(test.pattern)),
            elapsed_s: 0.0,
            next_check_s: until.min_s.min(until.max_s),
        }
    }

    /// Adds a slice: `ios` I/Os completed within `seconds` since the previous slice. Slices leave no gaps; pauses between
    /// loops are left out. A slice for each [`unit_ios`] I/Os is ideal, 10 to 50 ms at high rates are sufficient.
    pub fn push(&mut self, seconds: f64, ios: u64) -> StopDecision {
        self.units.push(seconds, ios);
        self.elapsed_s += seconds;
        if self.elapsed_s < self.next_check_s { StopDecision::Continue } else { self.check() }
    }

    pub fn estimate(&self) -> Option<KnownMean> {
        evaluate_units(self.units.complete(), self.unseen_stall_s)
    }

    /// Caveat for a test that `limit` ended before the interval was narrow enough, None if it was.
    pub fn caveat(&self, limit: &str) -> Option<Caveat> {
        let reached = self.estimate().map(|k| k.half_width_percent);
        reached.is_none_or(|r| r > self.until.ci95_percent).then(|| self.precision_caveat(reached, limit))
    }

    fn check(&mut self) -> StopDecision {
        self.next_check_s = (self.elapsed_s * CHECK_GROWTH).min(self.until.max_s);
        let known = self.estimate();
        match known {
            Some(k) if k.half_width_percent <= self.until.ci95_percent => StopDecision::Reached(k),
            _ if self.elapsed_s >= self.until.max_s => {
                let limit = format!("the limit of {} s", self.until.max_s);
                let caveat = self.precision_caveat(known.map(|k| k.half_width_percent), &limit);
                StopDecision::LimitHit { known, caveat }
            }
            _ => StopDecision::Continue,
        }
    }

    fn precision_caveat(&self, reached: Option<f64>, limit: &str) -> Caveat {
        let wanted_percent = self.until.ci95_percent;
        match reached {
            Some(reached_percent) => {
                Caveat::NotPrecise { wanted_percent, reached_percent, limit: limit.to_owned() }
            }
            None => Caveat::Other {
                text: format!("the 95 % interval of ±{wanted_percent} % was not reached: {limit} came first"),
            },
        }
    }
}

/// Limit of the correlation. Higher values mean a drift, and would make the variance infinite.
const MAX_CORRELATION: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownMean {
    /// Half width of the 95 % interval in percent of the mean.
    pub half_width_percent: f64,
    pub iops: f64,
    /// Seconds of start-up, which are ignored.
    pub startup_s: f64,
    pub counted_s: f64,
    pub stalls: u32,
    /// Longest stall in seconds above the usual time.
    pub longest_stall_s: f64,
    /// Share of the time spent in stalls, 0 to 1. Above 0.3 the mean is misleading.
    pub stall_share: f64,
}

fn evaluate_units(units: &[IoUnit], unseen_stall_s: f64) -> Option<KnownMean> {
    let start = end_of_startup(units);
    let counted = &units[start..];
    let total = |part: &[IoUnit]| part.iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
    let (seconds, ios) = total(counted);
    if seconds <= 0.0 {
        return None;
    }
    let usual = UsualPace::from_units(counted);
    let (stalled, fast): (Vec<IoUnit>, Vec<IoUnit>) = counted.iter().partition(|u| usual.is_stall(**u));
    let stalls: Vec<f64> = stalled.iter().map(|u| usual.excess(*u)).collect();
    let longest = stalls.iter().copied().fold(0.0, f64::max);
    let seen: f64 = stalls.iter().map(|s| s * s).sum();
    let variance = variance_of_fast(&fast) + seen + longest.max(unseen_stall_s).powi(2);
    let degrees = (counted.len() as f64 - 1.0).max(1.0);
    Some(KnownMean {
        half_width_percent: 100.0 * student_t95(degrees) * variance.sqrt() / seconds,
        iops: ios / seconds,
        startup_s: total(&units[..start]).0,
        counted_s: seconds,
        stalls: stalls.len() as u32,
        longest_stall_s: longest,
        stall_share: stalls.iter().sum::<f64>() / seconds,
    })
}

/// n·s_f²·(1 + ρ₁)/(1 − ρ₁) of the units without stalls.
fn variance_of_fast(fast: &[IoUnit]) -> f64 {
    if fast.len() < 2 {
        return 0.0;
    }
    let (seconds, ios) = fast.iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
    let pace = seconds / ios;
    let off: Vec<f64> = fast.iter().map(|u| u.seconds - pace * u.ios).collect();
    let squares: f64 = off.iter().map(|d| d * d).sum();
    let n = off.len() as f64;
    let correlation = lag1_correlation(&off, squares);
    n * squares / (n - 1.0) * (1.0 + correlation) / (1.0 - correlation)
}

/// Lag-1 correlation. A negative one counts as 0, because noise must not narrow the interval.
fn lag1_correlation(off: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (products / squares).clamp(0.0, MAX_CORRELATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(ci95_percent: f64, min_s: f64, max_s: f64) -> RepeatUntil {
        RepeatUntil { ci95_percent, min_s, max_s }
    }

    fn steady(name: &str, until: RepeatUntil, seconds: f64, ios: u64) -> (StopDecision, f64) {
        let mut rule = StopPrecision::new(until, name.parse().unwrap());
        loop {
            let decision = rule.push(seconds, ios);
            if decision != StopDecision::Continue {
                return (decision, rule.elapsed_s);
            }
        }
    }

    #[test]
    fn noise_free_test_allows_for_an_unseen_stall() {
        // 1.96 × 0.25 s / 0.05 = 9.8 s for writes, 1.96 × 0.02 s / 0.02 = 1.96 s for reads, plus start-up and the
        // 15 % between two checks.
        let (decision, write_s) = steady("SEQ1M Q1T1 write", until(5.0, 1.0, 120.0), 0.052, 1);
        assert!(
            matches!(decision, StopDecision::Reached(_)) && (9.8..12.0).contains(&write_s),
            "{write_s} s"
        );
        let (_, read_s) = steady("RND4K Q1T1 read", until(2.0, 1.0, 120.0), 0.008, 16);
        assert!((1.96..2.9).contains(&read_s), "{read_s} s");
    }

    #[test]
    fn estimate_is_independent_of_slice_length() {
        for (seconds, ios) in [(0.000_5, 1), (0.008, 16), (0.04, 80), (0.05, 100)] {
            let (decision, _) = steady("RND4K Q1T1 read", until(2.0, 3.0, 120.0), seconds, ios);
            let StopDecision::Reached(known) = decision else { panic!("{decision:?}") };
            assert!((known.iops - 2000.0).abs() < 1e-6, "{known:?}");
            assert_eq!((known.stalls, known.startup_s <= 0.51), (0, true), "{known:?}");
        }
    }

    #[test]
    fn limit_is_reported_with_the_precision_reached() {
        let (decision, elapsed) = steady("SEQ1M Q1T1 write", until(2.0, 1.0, 6.0), 0.05, 1);
        let StopDecision::LimitHit { known: Some(known), caveat } = decision else { panic!("{decision:?}") };
        assert!((6.0..6.1).contains(&elapsed) && known.half_width_percent > 8.0, "{known:?} after {elapsed}");
        let text = caveat.to_string();
        assert!(text.contains("instead of ±2.0 %: the limit of 6 s came first"), "{text}");
    }

    #[test]
    fn no_complete_unit_has_no_interval() {
        let mut rule = StopPrecision::new(until(2.0, 1.0, 5.0), "RND4K Q1T1 write".parse().unwrap());
        let StopDecision::LimitHit { known: None, caveat } = rule.push(9.0, 1) else {
            panic!("one I/O decided")
        };
        assert!(caveat.to_string().contains("was not reached"));
        assert!(rule.caveat("Ctrl-C").unwrap().to_string().contains("Ctrl-C came first"));
    }

    #[test]
    fn precise_early_end_has_no_caveat() {
        let mut rule = StopPrecision::new(until(5.0, 60.0, 120.0), "RND4K Q1T1 read".parse().unwrap());
        (0..1000).for_each(|_| assert_eq!(rule.push(0.008, 16), StopDecision::Continue));
        assert_eq!(rule.caveat("Ctrl-C"), None);
    }

    fn unit(seconds: f64) -> IoUnit {
        IoUnit { seconds, ios: 1.0 }
    }

    #[test]
    fn stalls_enter_the_variance_squared() {
        let mut units = vec![unit(0.05); 200];
        units[100] = unit(0.85);
        let known = evaluate_units(&units, 0.25).unwrap();
        assert_eq!(known.stalls, 1);
        assert!((known.longest_stall_s - 0.8).abs() < 1e-9, "{known:?}");
        // 190 units count (half a second cut): 10.3 s. V = 0.8² + 0.8² with t = 1.973: 1.973 × 1.131 / 10.3.
        assert!(
            (known.counted_s - 10.3).abs() < 0.06 && (known.half_width_percent - 21.7).abs() < 0.3,
            "{known:?}"
        );
        assert!((known.stall_share - 0.8 / 10.3).abs() < 0.001);
    }

    #[test]
    fn correlation_widens_the_interval() {
        let alternating: Vec<IoUnit> =
            (0..400).map(|i| unit(if i % 2 == 0 { 0.045 } else { 0.055 })).collect();
        let ranges: Vec<IoUnit> =
            (0..400).map(|i| unit(if (i / 10) % 2 == 0 { 0.045 } else { 0.055 })).collect();
        // Sequences of ten: 360 of 399 pairs alike, 39 opposite, hence ρ₁ = 321 / 400 and (1 + ρ₁)/(1 − ρ₁) = 9.13.
        let ratio = variance_of_fast(&ranges) / variance_of_fast(&alternating);
        assert!((ratio - 9.13).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn no_slices_give_no_estimate() {
        assert_eq!(evaluate_units(&[], 0.25), None);
    }
}
