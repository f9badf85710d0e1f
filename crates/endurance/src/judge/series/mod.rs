//! Causes of slowdowns in long use: a full cache, heat, stalls by housekeeping, other load on the bus
//! (docs/reference/flash.md#causes-of-a-slow-spell). Each leaves a different trace in the quantities that are measured
//! with the speed.
//!
//! Input are slices of about a quarter of a second, output are levels, stalls and events. The rule, in this order: stalls
//! are short and end by themselves; interference slows even a command without flash access; heat slows reads too, or moves
//! the card's counters; a lasting slowdown that remains is the end of a cache. Several causes may act at once.

mod causes;
mod change_points;
mod stalls;
mod steady;

pub use causes::{HotLevel, SeriesCauses, SlowdownCause, SpeedStep, find_causes};
pub use change_points::SpeedRange;
pub use stalls::{LoadBursts, SeriesStall, SeriesStalls};
pub use steady::{PauseExperiment, WINDOW_ROUNDS, steady_state};

use cardscope_model::statistics::median_in_place;

/// Unusually long time without a completion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompletionGap {
    /// Bytes moved by the workload before it.
    pub at_bytes: u64,
    pub seconds: f64,
}

/// Slice of a long workload, with the quantities measured at its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesSlice {
    /// Start in seconds.
    pub at_s: f64,
    /// Seconds of the workload itself.
    pub seconds: f64,
    /// Bytes that the workload moved before the slice.
    pub at_bytes: u64,
    /// Bytes moved in the slice.
    pub bytes: u64,
    /// I/Os completed, 0 if unknown.
    pub ios: u32,
    /// Median time between completions in seconds.
    pub interval_s: Option<f64>,
    /// Long times without a completion.
    pub gaps: Vec<CompletionGap>,
    /// Median time of single small reads in seconds, always at the same places.
    pub probe_s: Option<f64>,
    /// Time of a long read in seconds, always of the same length.
    pub long_read_s: Option<f64>,
    /// Time of a command without flash access in seconds.
    pub ping_s: Option<f64>,
    /// Temperature of the card in °C.
    pub celsius: Option<f64>,
    /// Throttling events (T1 and T2) that the card has counted in its lifetime.
    pub throttles: Option<u32>,
}

impl SeriesSlice {
    /// Bytes per second, 0 if no time passed.
    pub fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }
}

/// Properties of a workload.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SeriesFacts {
    /// True if it wrote, since only then a cache can fill.
    pub writes: bool,
    /// Temperature in °C at which the card starts to throttle (TMT1).
    pub tmt1_c: Option<f64>,
    /// I/Os that may complete together without a stall: all in flight for sequential I/O, which the kernel may merge, and 1 for
    /// random I/O.
    pub at_once: u32,
}

#[cfg(test)]
mod tests;

pub(super) use cardscope_statistics::robust::MAD_SCALE;

/// Running median of odd `width`, with shorter windows at the ends.
pub(super) fn running_median(values: &[f64], width: usize) -> Vec<f64> {
    running_statistic(values, width, |window| median_in_place(window).unwrap_or_default())
}

/// Running quantile, as the nearest value in each window.
pub(super) fn running_quantile(values: &[f64], width: usize, q: f64) -> Vec<f64> {
    running_statistic(values, width, |window| {
        let place = (q * (window.len() - 1) as f64).round() as usize;
        *window.select_nth_unstable_by(place, f64::total_cmp).1
    })
}

fn running_statistic(values: &[f64], width: usize, statistic: impl Fn(&mut [f64]) -> f64) -> Vec<f64> {
    let half = width / 2;
    let mut window = Vec::with_capacity(width);
    let mut at = |i: usize| {
        window.clear();
        window.extend_from_slice(&values[i.saturating_sub(half)..(i + half + 1).min(values.len())]);
        statistic(&mut window)
    };
    (0..values.len()).map(&mut at).collect()
}

/// Scatter between neighbours, which is insensitive to levels: robust deviation of the differences over √2.
pub(super) fn neighbour_scatter(values: &[f64]) -> f64 {
    let mut steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    median_in_place(&mut steps).unwrap_or_default() * MAD_SCALE / std::f64::consts::SQRT_2
}

/// Fills gaps with the value before them. None if there is no value at all.
pub(super) fn fill_gaps(values: &[Option<f64>]) -> Option<Vec<f64>> {
    let mut last = values.iter().flatten().next().copied()?;
    let known = |value: &Option<f64>| {
        last = value.unwrap_or(last);
        last
    };
    Some(values.iter().map(known).collect())
}

/// Ranges (start, end) of true values. Ranges that are at most `bridge` apart are joined.
pub(super) fn true_ranges(mask: &[bool], bridge: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (i, _) in mask.iter().enumerate().filter(|(_, is)| **is) {
        match found.last_mut() {
            Some((_, end)) if i - *end <= bridge => *end = i + 1,
            _ => found.push((i, i + 1)),
        }
    }
    found
}
