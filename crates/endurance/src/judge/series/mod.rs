//! Why a card became slower while it was used for long: a cache that is full, heat, stalls of its own housekeeping, or
//! other traffic on the bus (docs/reference/flash.md#causes-of-a-slow-spell). Each cause leaves its own mark on what is
//! measured beside the speed.
//!
//! In come slices of about a quarter of a second; out come levels, stalls and events. The rule, in this order: stalls
//! are short and end by themselves; interference slows even a command that needs no flash; heat slows reads too, or
//! moves the card's own counters; what is left and stays is the end of a cache. Several may hold at once.

mod causes;
mod levels;
mod stalls;
mod steady;

pub use causes::{HotLevel, SeriesCauses, SlowdownCause, SpeedStep, causes};
pub use levels::SpeedRange;
pub use stalls::{LoadBursts, SeriesStall, SeriesStalls};
pub use steady::{PauseExperiment, ROUNDS, steady};

use cardscope_model::statistics::median_in_place;

/// A time in which nothing was completed, longer than usual.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompletionGap {
    /// Bytes moved by the workload before it.
    pub at_bytes: u64,
    /// How long, in seconds.
    pub seconds: f64,
}

/// A slice of a long workload: what was moved, and what was asked beside it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesSlice {
    /// When it began, in seconds.
    pub at_s: f64,
    /// How long the workload itself ran in it.
    pub seconds: f64,
    /// Bytes that the workload moved before it.
    pub at_bytes: u64,
    /// Bytes that it moved in it.
    pub bytes: u64,
    /// I/Os that ended in it; 0 where that is not known.
    pub ios: u32,
    /// Median time from one completion to the next, in seconds; `None` where that is not known.
    pub interval_s: Option<f64>,
    /// Long times without a completion.
    pub gaps: Vec<CompletionGap>,
    /// Median time of small reads one at a time, always of the same places, in seconds.
    pub probe_s: Option<f64>,
    /// Time of a long read, always as long, in seconds.
    pub long_read_s: Option<f64>,
    /// Time of a command that needs no flash, in seconds.
    pub ping_s: Option<f64>,
    /// Temperature of the card in °C.
    pub celsius: Option<f64>,
    /// Times that the card says it began to throttle (T1 and T2), since it was made.
    pub throttles: Option<u32>,
}

impl SeriesSlice {
    /// Bytes per second; 0 for no time.
    pub fn speed(&self) -> f64 {
        if self.seconds > 0.0 { self.bytes as f64 / self.seconds } else { 0.0 }
    }
}

/// What is known of a workload beside its slices.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SeriesFacts {
    /// True where it wrote: only then can a cache be full.
    pub writes: bool,
    /// Temperature at which the card says that it begins to throttle (TMT1), in °C.
    pub tmt1_c: Option<f64>,
    /// I/Os that may end at once though the card does not stall: those in flight where they follow each other, which the
    /// kernel may join to one, and one where they lie at random.
    pub at_once: u32,
}

#[cfg(test)]
mod tests;

pub(super) use cardscope_statistics::robust::MAD_SCALE;

/// Running median of odd `width`; at the ends of what is there.
pub(super) fn smoothed(values: &[f64], width: usize) -> Vec<f64> {
    running(values, width, |window| median_in_place(window).unwrap_or_default())
}

/// A running quantile, to the next value that is there.
pub(super) fn running_quantile(values: &[f64], width: usize, q: f64) -> Vec<f64> {
    running(values, width, |window| {
        let place = (q * (window.len() - 1) as f64).round() as usize;
        *window.select_nth_unstable_by(place, f64::total_cmp).1
    })
}

fn running(values: &[f64], width: usize, statistic: impl Fn(&mut [f64]) -> f64) -> Vec<f64> {
    let half = width / 2;
    let mut window = Vec::with_capacity(width);
    (0..values.len())
        .map(|i| {
            window.clear();
            window.extend_from_slice(&values[i.saturating_sub(half)..(i + half + 1).min(values.len())]);
            statistic(&mut window)
        })
        .collect()
}

/// Scatter from one value to the next, blind to levels: robust deviation of the differences over √2.
pub(super) fn scatter(values: &[f64]) -> f64 {
    let mut steps: Vec<f64> = values.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    median_in_place(&mut steps).unwrap_or_default() * MAD_SCALE / std::f64::consts::SQRT_2
}

/// Fills what is missing with the value before it; `None` where there is none at all.
pub(super) fn filled(values: &[Option<f64>]) -> Option<Vec<f64>> {
    let mut last = values.iter().flatten().next().copied()?;
    let known = |value: &Option<f64>| {
        last = value.unwrap_or(last);
        last
    };
    Some(values.iter().map(known).collect())
}

/// Ranges of true values: first and one behind the last; those up to `bridge` apart are one.
pub(super) fn ranges(mask: &[bool], bridge: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (i, _) in mask.iter().enumerate().filter(|(_, is)| **is) {
        match found.last_mut() {
            Some((_, end)) if i - *end <= bridge => *end = i + 1,
            _ => found.push((i, i + 1)),
        }
    }
    found
}
