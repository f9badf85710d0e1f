//! Time an I/O as a ratio, and how far it may be off (flash-behaviour 4.3).
//!
//! R = all time / all I/Os. The variance of the total time is that of the usual units, widened by their lag-1
//! correlation, plus the square of each stall seen (stalls come at random, so their number varies by its root),
//! plus the square of one more stall than was seen:
//! V = n·s_f²·(1 + ρ₁)/(1 − ρ₁) + Σ sᵢ² + s_max².

use super::startup::end_of_startup;
use super::units::{Unit, Usual};
use crate::student::t95;

/// Correlation above this says "still moving", and would make the variance infinite.
const MOST_CORRELATION: f64 = 0.99;

/// What is known about a test's mean speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Half width of the 95 % interval, in percent of the mean.
    pub half_width_percent: f64,
    /// Mean I/Os per second after the start-up.
    pub iops: f64,
    /// Seconds at the start that were left out as start-up.
    pub startup_s: f64,
    /// Seconds that count.
    pub counted_s: f64,
    /// Stalls in them.
    pub stalls: u32,
    /// Longest of them, in seconds above the usual time.
    pub longest_stall_s: f64,
    /// Share of the time that went into stalls, 0 to 1. Above 0.3 the mean alone says little.
    pub stall_share: f64,
}

/// What the units say; `None` if there are none.
pub(super) fn evaluate(units: &[Unit], unseen_stall_s: f64) -> Option<Known> {
    let start = end_of_startup(units);
    let counted = &units[start..];
    let total = |part: &[Unit]| part.iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
    let (seconds, ios) = total(counted);
    if seconds <= 0.0 {
        return None;
    }
    let usual = Usual::of(counted);
    let (stalled, fast): (Vec<Unit>, Vec<Unit>) = counted.iter().partition(|u| usual.is_stall(**u));
    let stalls: Vec<f64> = stalled.iter().map(|u| usual.excess(*u)).collect();
    let longest = stalls.iter().copied().fold(0.0, f64::max);
    let seen: f64 = stalls.iter().map(|s| s * s).sum();
    let variance = variance_of_fast(&fast) + seen + longest.max(unseen_stall_s).powi(2);
    let degrees = (counted.len() as f64 - 1.0).max(1.0);
    Some(Known {
        half_width_percent: 100.0 * t95(degrees) * variance.sqrt() / seconds,
        iops: ios / seconds,
        startup_s: total(&units[..start]).0,
        counted_s: seconds,
        stalls: stalls.len() as u32,
        longest_stall_s: longest,
        stall_share: stalls.iter().sum::<f64>() / seconds,
    })
}

/// n·s_f²·(1 + ρ₁)/(1 − ρ₁) of the units that are no stalls.
fn variance_of_fast(fast: &[Unit]) -> f64 {
    if fast.len() < 2 {
        return 0.0;
    }
    let (seconds, ios) = fast.iter().fold((0.0, 0.0), |(s, n), u| (s + u.seconds, n + u.ios));
    let pace = seconds / ios;
    let off: Vec<f64> = fast.iter().map(|u| u.seconds - pace * u.ios).collect();
    let squares: f64 = off.iter().map(|d| d * d).sum();
    let n = off.len() as f64;
    let correlation = lag1(&off, squares);
    n * squares / (n - 1.0) * (1.0 + correlation) / (1.0 - correlation)
}

/// Correlation of neighbours. A negative one would narrow the interval on the strength of noise, so it counts as 0.
fn lag1(off: &[f64], squares: f64) -> f64 {
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (products / squares).clamp(0.0, MOST_CORRELATION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(seconds: f64) -> Unit {
        Unit { seconds, ios: 1.0 }
    }

    #[test]
    fn a_stall_is_told_from_the_usual_and_enters_with_its_square() {
        let mut units = vec![unit(0.05); 200];
        units[100] = unit(0.85);
        let known = evaluate(&units, 0.25).unwrap();
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
    fn neighbours_that_are_alike_widen_the_interval() {
        let alternating: Vec<Unit> = (0..400).map(|i| unit(if i % 2 == 0 { 0.045 } else { 0.055 })).collect();
        let stretches: Vec<Unit> =
            (0..400).map(|i| unit(if (i / 10) % 2 == 0 { 0.045 } else { 0.055 })).collect();
        // Stretches of ten: 360 of 399 pairs alike, 39 opposite, hence ρ₁ = 321 / 400 and (1 + ρ₁)/(1 − ρ₁) = 9.13.
        let ratio = variance_of_fast(&stretches) / variance_of_fast(&alternating);
        assert!((ratio - 9.13).abs() < 0.01, "{ratio}");
    }

    #[test]
    fn nothing_measured_is_nothing_known() {
        assert_eq!(evaluate(&[], 0.25), None);
    }
}
