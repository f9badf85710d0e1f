//! Stopping rule of random I/O: when slices separate a rate from the demands of the A classes, and the resulting rate.

use super::margin::random_at_best;
use cardscope_engine::target::TargetRegion;
use cardscope_model::mark_result::RandomRate;
use cardscope_sd::mark::Mark;
use cardscope_statistics::sprt::{self, SprtVerdict};

const SLICE_SECONDS: f64 = 0.25;
/// Slices before anything is decided. The first third is warm-up and does not count.
const LEAST_SLICES: usize = 12;
/// Seconds after which a clear rate, and a close one, is accepted.
const CLEAR_SECONDS: f64 = 10.0;
const CLOSE_SECONDS: f64 = 30.0;
/// Seconds for rates that decide nothing.
const INFO_SECONDS: f64 = 4.0;
/// Relative distance to a demand that counts as close.
const NEAR: f64 = 0.1;
/// Busy limits of the specification in seconds, as a stall that might have happened.
const WRITE_STALL: f64 = 0.25;
const READ_STALL: f64 = 0.02;

/// Shortest test in seconds.
pub(super) const LEAST_SECONDS: f64 = SLICE_SECONDS * LEAST_SLICES as f64;
/// Slices of a test that lasts minutes.
const SLICES_OF_A_LONG_TEST: f64 = 60.0;

/// Measurement of random I/O with fixed parameters.
#[derive(Debug, Clone, Copy)]
pub(super) struct SliceTask {
    pub(super) write: bool,
    pub(super) area: TargetRegion,
    pub(super) depth: u32,
    pub(super) preconditioned: bool,
    /// True if a mark depends on the rate.
    pub(super) decides: bool,
    /// Seconds of a command without flash access, if known and not hidden by a queue.
    pub(super) null_s: Option<f64>,
    /// Fixed length in seconds, as in the specification.
    pub(super) lasts: Option<f64>,
}

impl SliceTask {
    /// Seconds of a slice. A long test has a fixed number of them.
    pub(super) fn slice_seconds(&self) -> f64 {
        self.lasts.map_or(SLICE_SECONDS, |lasts| lasts / SLICES_OF_A_LONG_TEST)
    }
}

/// Slices after the warm-up. A test of fixed length counts completely.
fn counted_slices(slices: &[(u64, f64)], task: SliceTask) -> &[(u64, f64)] {
    let start_up = if task.lasts.is_some() { 0 } else { slices.len() / 3 };
    &slices[start_up..]
}

pub(super) fn iops_of(slices: &[(u64, f64)]) -> f64 {
    let seconds: f64 = slices.iter().map(|(_, s)| s).sum();
    let ios: u64 = slices.iter().map(|(n, _)| n).sum();
    if seconds > 0.0 { ios as f64 / seconds } else { 0.0 }
}

pub(super) fn is_enough(slices: &[(u64, f64)], seconds: f64, task: SliceTask) -> bool {
    if let Some(lasts) = task.lasts {
        return seconds >= lasts;
    }
    if slices.len() < LEAST_SLICES || seconds < LEAST_SECONDS {
        // If a single write takes seconds, a few slices are enough.
        return seconds > if task.decides { CLEAR_SECONDS } else { INFO_SECONDS } && slices.len() >= 3;
    }
    if !task.decides {
        return true;
    }
    let counted = counted_slices(slices, task);
    let rates: Vec<f64> = counted.iter().map(|(n, s)| *n as f64 / s).collect();
    let mean = iops_of(counted);
    let demands = demanded_iops(task.write);
    let near = demands.iter().any(|demand| (mean / demand - 1.0).abs() < NEAR);
    let limit = if near { CLOSE_SECONDS } else { CLEAR_SECONDS };
    seconds >= limit || demands.iter().all(|demand| is_decided(counted, &rates, *demand, task))
}

/// True if the sequential test and the mean agree, even with one more stall.
fn is_decided(counted: &[(u64, f64)], rates: &[f64], demand: f64, task: SliceTask) -> bool {
    let mean = iops_of(counted);
    let seconds: f64 = counted.iter().map(|(_, s)| s).sum();
    let stall = if task.write { WRITE_STALL } else { READ_STALL }.max(longest_stall(counted));
    let with_stall = mean * seconds / (seconds + stall);
    match sprt::test_rate(rates, demand).decide() {
        SprtVerdict::Null => with_stall >= demand,
        // A rate below the demand is not enough, because a longer test might average more.
        SprtVerdict::Alternative => random_at_best(rates, mean, task.null_s) < demand,
        SprtVerdict::Open => false,
    }
}

/// Excess of the slowest slice over the median time of its I/Os, in seconds.
fn longest_stall(counted: &[(u64, f64)]) -> f64 {
    let per_io: Vec<f64> = counted.iter().map(|(n, s)| s / (*n).max(1) as f64).collect();
    let usual = cardscope_model::statistics::median(&per_io).unwrap_or(0.0);
    counted.iter().map(|(n, s)| s - usual * *n as f64).fold(0.0, f64::max)
}

/// IOPS that the A classes demand.
pub(super) fn demanded_iops(write: bool) -> Vec<f64> {
    let demands = Mark::all().filter(|mark| mark.letter() == 'A').map(|mark| mark.demand());
    demands
        .filter_map(|demand| if write { demand.random_write_iops } else { demand.random_read_iops })
        .collect()
}

pub(super) fn summarize_slices(slices: &[(u64, f64)], seconds: f64, task: SliceTask) -> Option<RandomRate> {
    let counted = counted_slices(slices, task);
    (slices.len() >= 3).then(|| RandomRate {
        write: task.write,
        span_bytes: task.area.len,
        depth: task.depth,
        preconditioned: task.preconditioned,
        iops: iops_of(counted),
        slices_iops: counted.iter().map(|(n, s)| *n as f64 / s).collect(),
        ios: slices.iter().map(|(n, _)| n).sum(),
        seconds,
        longest_stall_s: longest_stall(counted),
    })
}
