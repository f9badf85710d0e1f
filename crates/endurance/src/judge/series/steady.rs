//! Steady state by the SNIA performance test specification: over five rounds the highest and the lowest speed differ by at
//! most 20 % of the mean, and the fitted line changes by at most 10 %. It is a label, not a proof: a cache that lasts for
//! five rounds passes (docs/reference/flash.md#steady-state).
//!
//! Pause experiment, which distinguishes heat from a full cache: the card rests for half a minute and is measured again
//! (docs/reference/flash.md#causes-of-a-slow-spell). Cooling speeds up reads and writes, an emptied cache only writes.

use super::{SeriesSlice, SlowdownCause};
use cardscope_model::statistics::mean;
use cardscope_model::sustain::SteadyState;

/// Rounds in the window.
pub const WINDOW_ROUNDS: usize = 5;

/// Largest difference of highest and lowest, as a share of the mean.
const MAX_SPREAD: f64 = 0.20;

/// Largest change of the fitted line across the window, as a share of the mean.
const MAX_SLOPE: f64 = 0.10;

/// Judges the last five rounds of `round_s` seconds of workload each. None if there are fewer.
pub fn steady_state(slices: &[SeriesSlice], round_s: f64) -> Option<SteadyState> {
    let (rounds, from_s) = last_rounds(slices, round_s)?;
    let speed = mean(&rounds).filter(|m| *m > 0.0)?;
    let highest = rounds.iter().copied().fold(f64::MIN, f64::max);
    let lowest = rounds.iter().copied().fold(f64::MAX, f64::min);
    let spread = (highest - lowest) / speed;
    // Least squares over x = −2 … 2: Σx² = 10; across the window the line runs over 4.
    let slope = (0..WINDOW_ROUNDS).map(|i| (i as f64 - 2.0) * rounds[i]).sum::<f64>() / 10.0 * 4.0 / speed;
    let reached = spread <= MAX_SPREAD && slope.abs() <= MAX_SLOPE;
    Some(SteadyState { reached, mb_s: speed / 1e6, spread, slope, round_s, from_s })
}

/// Speeds of the last rounds, oldest first, and the start of the oldest.
fn last_rounds(slices: &[SeriesSlice], round_s: f64) -> Option<([f64; WINDOW_ROUNDS], f64)> {
    let (mut rounds, mut from_s) = ([0.0; WINDOW_ROUNDS], 0.0);
    let mut rest = slices.iter().rev();
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

/// Least gain of reads by the pause that proves heat.
const MIN_READS_GAIN: f64 = 1.11;

/// Least gain of writes by the pause that proves a full cache, if reads gained nothing.
const MIN_WRITES_GAIN: f64 = 1.22;

/// Speeds around the pause, in any common unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PauseExperiment {
    pub reads_before: f64,
    pub reads_after: f64,
    pub writes_before: f64,
    pub writes_after: f64,
    /// Writes after another half minute of reads, in which the card could clean up but not cool down.
    pub writes_later: f64,
}

impl PauseExperiment {
    /// True if writes after the pause exceed `speed` by more than anything but free cache explains.
    pub fn writes_exceed(&self, speed: f64) -> bool {
        self.writes_after.max(self.writes_later) > MIN_WRITES_GAIN * speed
    }

    /// Causes that the pause proves. Both are possible.
    pub fn proven_causes(&self) -> Vec<SlowdownCause> {
        let gain = |after: f64, before: f64| if before > 0.0 { after / before } else { 1.0 };
        let reads = gain(self.reads_after, self.reads_before);
        let writes = gain(self.writes_after.max(self.writes_later), self.writes_before);
        let heat = reads > MIN_READS_GAIN;
        // Heat slows writes and reads equally within a quarter (docs/reference/flash.md#heat).
        let cache = if heat { writes > 1.35 * reads } else { writes > MIN_WRITES_GAIN };
        let causes = [(heat, SlowdownCause::Throttling), (cache, SlowdownCause::CacheEnd)];
        causes.into_iter().filter_map(|(proven, cause)| proven.then_some(cause)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(mb_s: &[f64]) -> Vec<SeriesSlice> {
        let slice = |(i, v): (usize, &f64)| SeriesSlice {
            at_s: i as f64,
            seconds: 1.0,
            bytes: (v * 1e6) as u64,
            ..SeriesSlice::default()
        };
        mb_s.iter().enumerate().map(slice).collect()
    }

    #[test]
    fn five_even_rounds_are_steady() {
        let found = steady_state(&rounds(&[500.0, 100.0, 104.0, 98.0, 101.0, 97.0]), 1.0).unwrap();
        assert!(found.reached && (found.mb_s - 100.0).abs() < 1e-6 && found.from_s == 1.0);
        assert!((found.spread - 0.07).abs() < 1e-9);
        assert_eq!(steady_state(&rounds(&[100.0; 4]), 1.0), None);
    }

    #[test]
    fn falling_or_uneven_rounds_are_not_steady() {
        // 106, 103 … 94: the line falls by 12 % of the mean.
        assert!(!steady_state(&rounds(&[106.0, 103.0, 100.0, 97.0, 94.0]), 1.0).unwrap().reached);
        assert!(!steady_state(&rounds(&[100.0, 111.0, 89.0, 111.0, 89.0]), 1.0).unwrap().reached);
    }

    const CACHE: PauseExperiment = PauseExperiment {
        reads_before: 750.0,
        reads_after: 748.0,
        writes_before: 290.0,
        writes_after: 610.0,
        writes_later: 610.0,
    };

    #[test]
    fn pause_frees_a_cache_for_writes_only() {
        assert_eq!(CACHE.proven_causes(), [SlowdownCause::CacheEnd]);
    }

    #[test]
    fn pause_cools_reads_and_writes() {
        // Lexar without a fan: reads at 0.72, writes at 0.83 of the cool level.
        let heat = PauseExperiment {
            reads_before: 540.0,
            reads_after: 750.0,
            writes_before: 234.0,
            writes_after: 282.0,
            writes_later: 240.0,
        };
        assert_eq!(heat.proven_causes(), [SlowdownCause::Throttling]);
        let both = PauseExperiment { writes_after: 600.0, ..heat };
        assert_eq!(both.proven_causes(), [SlowdownCause::Throttling, SlowdownCause::CacheEnd]);
    }

    #[test]
    fn pause_without_effect_names_no_cause() {
        let settled = PauseExperiment { writes_after: 295.0, writes_later: 291.0, ..CACHE };
        assert_eq!(settled.proven_causes(), []);
    }
}
