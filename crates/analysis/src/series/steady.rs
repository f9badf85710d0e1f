//! Steady state as the SNIA's performance test specification has it: over five rounds the highest and the lowest differ
//! by at most 20 % of the mean, and the fitted line rises or falls by at most 10 % of it. A label, and no proof: a cache
//! that outlives five rounds passes (flash-behaviour 1.5, 4.3).

use super::Slice;
use cardscope_model::statistics::mean;

/// Rounds in the window.
pub const ROUNDS: usize = 5;

/// Highest less lowest, as a share of the mean.
const MOST_SPREAD: f64 = 0.20;

/// Rise of the fitted line across the window, as a share of the mean.
const MOST_SLOPE: f64 = 0.10;

/// The last five rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Steady {
    /// Whether both conditions hold.
    pub reached: bool,
    /// Mean speed in bytes per second.
    pub speed: f64,
    /// Highest less lowest, as a share of the mean.
    pub spread: f64,
    /// Rise of the fitted line across the window, as a share of the mean; negative where it falls.
    pub slope: f64,
    /// Seconds of a round.
    pub round_s: f64,
    /// When the window began.
    pub from_s: f64,
}

/// Looks at the last five rounds of `round_s` seconds of workload each; `None` where there are not so many.
#[must_use]
pub fn steady(slices: &[Slice], round_s: f64) -> Option<Steady> {
    let (rounds, from_s) = last_rounds(slices, round_s)?;
    let speed = mean(&rounds).filter(|m| *m > 0.0)?;
    let highest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let lowest = rounds.iter().copied().fold(f64::MAX, f64::min);
    let spread = (highest - lowest) / speed;
    // Least squares over x = −2 … 2: Σx² = 10; across the window the line runs over 4.
    let slope = (0..ROUNDS).map(|i| (i as f64 - 2.0) * rounds[i]).sum::<f64>() / 10.0 * 4.0 / speed;
    let reached = spread <= MOST_SPREAD && slope.abs() <= MOST_SLOPE;
    Some(Steady { reached, speed, spread, slope, round_s, from_s })
}

/// Speeds of the last rounds, oldest first, and when the oldest began.
fn last_rounds(slices: &[Slice], round_s: f64) -> Option<([f64; ROUNDS], f64)> {
    let mut rounds = [0.0; ROUNDS];
    let mut rest = slices.iter().rev();
    let mut from_s = 0.0;
    for round in rounds.iter_mut().rev() {
        let (mut bytes, mut seconds) = (0.0, 0.0);
        while seconds < round_s {
            let slice = rest.next()?;
            bytes += slice.bytes as f64;
            seconds += slice.seconds;
            from_s = slice.at_s;
        }
        *round = bytes / seconds;
    }
    Some((rounds, from_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(mb_s: &[f64]) -> Vec<Slice> {
        let slice = |(i, v): (usize, &f64)| Slice {
            at_s: i as f64,
            seconds: 1.0,
            bytes: (v * 1e6) as u64,
            ..Slice::default()
        };
        mb_s.iter().enumerate().map(slice).collect()
    }

    #[test]
    fn five_even_rounds_are_steady_and_four_are_no_window() {
        let found = steady(&rounds(&[500.0, 100.0, 104.0, 98.0, 101.0, 97.0]), 1.0).unwrap();
        assert!(found.reached && (found.speed - 100e6).abs() < 1.0 && found.from_s == 1.0);
        assert!((found.spread - 0.07).abs() < 1e-9);
        assert_eq!(steady(&rounds(&[100.0; 4]), 1.0), None);
    }

    #[test]
    fn rounds_that_fall_by_a_tenth_or_differ_by_a_fifth_are_not() {
        // 106, 103 … 94: the line falls by 12 % of the mean.
        assert!(!steady(&rounds(&[106.0, 103.0, 100.0, 97.0, 94.0]), 1.0).unwrap().reached);
        assert!(!steady(&rounds(&[100.0, 111.0, 89.0, 111.0, 89.0]), 1.0).unwrap().reached);
    }
}
