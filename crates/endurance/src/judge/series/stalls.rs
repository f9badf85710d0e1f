//! Stalls, during which the card cleans up and does not answer (docs/reference/flash.md#garbage-collection): count, length
//! and period in bytes. Also interference by the bus or host, which slows even a command without flash access.

use super::{SeriesSlice, fill_gaps, neighbour_scatter, running_median, running_quantile, true_ranges};
use cardscope_model::statistics::{median, quantile};
use cardscope_model::sustain::{self, HostInterference, StallPeriod};
use cardscope_model::units::mb_per_s;
use cardscope_statistics::period::strongest_period;

/// Ratio to the usual time between completions from which a gap is a stall …
const MIN_GAP_RATIO: f64 = 8.0;

/// … and its least length in seconds, below which nobody notices it.
const MIN_STALL_S: f64 = 0.1;

/// Slices in the window around a slice.
const WINDOW_SLICES: usize = 25;

/// Quantile of the I/O times around a slice that counts as usual. The card may stall in the slower ones.
const UNSTALLED_QUANTILE: f64 = 0.25;

/// Share of the speed around it below which a slice is slow (docs/reference/flash.md#causes-of-a-slow-spell).
const SLOW_SHARE: f64 = 0.82;

/// Share below which at least one slice of a stall must be, because the card hardly answers then.
const DEEP_SHARE: f64 = 0.65;

/// Most slices of a stall. A longer one is a level.
const MAX_STALL_SLICES: usize = 4;

/// Least number of slow slices or stalls.
const MIN_STALLS: usize = 8;

/// Least share of time, for fewer stalls.
const MIN_STALL_SHARE: f64 = 0.02;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesStall {
    /// Time in seconds.
    pub at_s: f64,
    /// Bytes moved before it.
    pub at_bytes: u64,
    pub seconds: f64,
}

/// Stalls of a series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesStalls {
    pub stalls: Vec<SeriesStall>,
    /// True if there are enough to be reported.
    pub is_notable: bool,
    /// Figures as stored in the document.
    pub figures: sustain::CardStalls,
}

/// Finds stalls in the slices that are not `hit` by interference. `least` is the least length of a stall in each
/// slice. Returns the stalls, and a mask of the slices that they slowed.
pub(super) fn find_stalls(slices: &[SeriesSlice], hit: &[bool], least: &[f64]) -> (SeriesStalls, Vec<bool>) {
    let speeds: Vec<f64> = slices.iter().map(SeriesSlice::speed).collect();
    let around = running_quantile(&speeds, WINDOW_SLICES, 0.75);
    let low = short_slow_slices(&speeds, &around, hit);
    let timed = slices.iter().any(|s| s.ios > 0);
    let stalls = match timed {
        true => stalls_by_gaps(slices, hit, least),
        false => stalls_by_slow_slices(slices, &around, &low),
    };
    let slowed = low.iter().filter(|l| **l).count();
    let seconds: f64 = slices.iter().map(|s| s.seconds).sum();
    let bytes: u64 = slices.iter().map(|s| s.bytes).sum();
    let lengths: Vec<f64> = stalls.iter().map(|s| s.seconds).collect();
    let stalled: f64 = lengths.iter().sum();
    let share = stalled / seconds.max(1e-9);
    let enough = stalls.len() >= MIN_STALLS && (slowed >= MIN_STALLS || share >= MIN_STALL_SHARE);
    let few_but_long = stalls.len() >= 3 && share >= MIN_STALL_SHARE && stalled >= 2.0;
    let (per_gb, per_gb_ci95) = stall_rate(stalls.len(), bytes);
    let figures = sustain::CardStalls {
        count: stalls.len() as u64,
        per_gb,
        per_gb_ci95,
        median_s: median(&lengths).unwrap_or_default(),
        p99_s: quantile(&lengths, 0.99).unwrap_or_default(),
        longest_s: lengths.iter().copied().fold(0.0, f64::max),
        share,
        between_mb_s: mb_per_s(bytes, (seconds - stalled).max(1e-9)),
        period: stall_period(&stalls, bytes),
    };
    let found = SeriesStalls { is_notable: enough || few_but_long, figures, stalls };
    (found, low)
}

/// Rate of k stalls per GB, with the interval k ± 1.96 √(k + 1) (docs/reference/flash.md#garbage-collection).
fn stall_rate(count: usize, bytes: u64) -> (f64, [f64; 2]) {
    let gb = (bytes as f64 / 1e9).max(1e-9);
    let (k, half) = (count as f64, 1.96 * (count as f64 + 1.0).sqrt());
    (k / gb, [(k - half).max(0.0) / gb, (k + half) / gb])
}

/// Marks short sequences of slow slices between normal ones.
fn short_slow_slices(speeds: &[f64], around: &[f64], touched: &[bool]) -> Vec<bool> {
    let is_low = |i: usize| !touched[i] && speeds[i] < SLOW_SHARE * around[i];
    let low: Vec<bool> = (0..speeds.len()).map(is_low).collect();
    let mut short = vec![false; speeds.len()];
    for (from, to) in true_ranges(&low, 0) {
        let bounded = from > 0 && to < speeds.len();
        let deep = (from..to).any(|i| speeds[i] < DEEP_SHARE * around[i]);
        if to - from <= MAX_STALL_SLICES && bounded && deep {
            short[from..to].fill(true);
        }
    }
    short
}

fn stalls_by_slow_slices(slices: &[SeriesSlice], around: &[f64], low: &[bool]) -> Vec<SeriesStall> {
    let lost = |i: usize| slices[i].seconds * (1.0 - slices[i].speed() / around[i].max(1e-9));
    let stall = |(from, to): (usize, usize)| {
        let SeriesSlice { at_s, at_bytes, .. } = slices[from];
        SeriesStall { at_s, at_bytes, seconds: (from..to).map(lost).sum() }
    };
    true_ranges(low, 0).into_iter().map(stall).filter(|s| s.seconds >= MIN_STALL_S).collect()
}

fn stalls_by_gaps(slices: &[SeriesSlice], touched: &[bool], shortest: &[f64]) -> Vec<SeriesStall> {
    let untouched = slices.iter().zip(shortest).zip(touched).filter(|(_, touched)| !**touched);
    untouched
        .flat_map(|((slice, shortest), _)| {
            let stalls = slice.gaps.iter().filter(|gap| gap.seconds >= *shortest);
            stalls.map(|gap| SeriesStall { at_s: slice.at_s, at_bytes: gap.at_bytes, seconds: gap.seconds })
        })
        .collect()
}

/// Least length of a stall in each slice, in seconds: many times the usual gap of the series, and more than the time of
/// `at_once` I/Os at the speed around it.
pub(super) fn shortest_stalls(slices: &[SeriesSlice], at_once: u32) -> Vec<f64> {
    let mean = |s: &SeriesSlice| (s.ios > 0).then(|| s.seconds / f64::from(s.ios));
    let each: Vec<f64> = slices.iter().filter_map(|s| s.interval_s.or(mean(s))).collect();
    let usual = MIN_STALL_S.max(MIN_GAP_RATIO * median(&each).unwrap_or_default());
    let means: Vec<Option<f64>> = slices.iter().map(mean).collect();
    let around = fill_gaps(&means).map(|means| running_quantile(&means, WINDOW_SLICES, UNSTALLED_QUANTILE));
    around.map_or(vec![usual; slices.len()], |around| {
        around.iter().map(|mean| usual.max(f64::from(at_once + 1) * mean)).collect()
    })
}

/// Slices without the time of their stalls, which show the speed between them.
pub(super) fn without_stalls(slices: &[SeriesSlice], shortest: &[f64]) -> Vec<SeriesSlice> {
    let one = |(slice, shortest): (&SeriesSlice, &f64)| {
        let stalled: f64 = slice.gaps.iter().map(|g| g.seconds).filter(|g| g >= shortest).sum();
        // A slice that consists of a single stall keeps a minimum of time, since it has no speed.
        SeriesSlice { seconds: (slice.seconds - stalled).max(0.02 * slice.seconds), ..slice.clone() }
    };
    slices.iter().zip(shortest).map(one).collect()
}

/// Candidate periods: powers of two and three times powers of two from 1 MiB to 4 GiB, and values near the median distance.
fn candidate_periods(stalls: &[SeriesStall]) -> Vec<f64> {
    let apart = |w: &[SeriesStall]| w[1].at_bytes.saturating_sub(w[0].at_bytes) as f64;
    let distances: Vec<f64> = stalls.windows(2).map(apart).collect();
    let mut all: Vec<f64> = (20..33).flat_map(|k| [1u64 << k, 3 << k]).map(|b| b as f64).collect();
    if let Some(middle) = median(&distances).filter(|m| *m > 0.0) {
        all.extend((-20..=20).map(|step| middle * (1.0 + f64::from(step) * 0.005)));
    }
    all
}

/// Strongest period of the stalls, None if chance explains it.
fn stall_period(stalls: &[SeriesStall], bytes: u64) -> Option<StallPeriod> {
    if stalls.len() < 10 {
        return None;
    }
    let mut tried = candidate_periods(stalls);
    tried.retain(|period| *period * 4.0 <= bytes as f64);
    let positions: Vec<f64> = stalls.iter().map(|stall| stall.at_bytes as f64).collect();
    let found = strongest_period(&positions, &tried).filter(|p| p.chance < 0.001 && p.strength > 0.5)?;
    Some(StallPeriod { bytes: found.period as u64, confidence: 1.0 - found.chance })
}

/// Least ratio by which the command without flash access slows (docs/reference/flash.md#causes-of-a-slow-spell).
const MIN_PING_RATIO: f64 = 1.12;

/// Least increase in deviations of its own scatter.
const MIN_PING_DEVIATIONS: f64 = 4.0;

/// Least slices that a burst must slow: two seconds.
const MIN_BURST_SLICES: usize = 8;

/// Quantile of the command's times that counts as undisturbed, since bursts may take most of the time.
const UNDISTURBED_QUANTILE: f64 = 0.2;

/// Ratio of the speed in bursts to that outside, above which they do not matter.
const MAX_BURST_SPEED: f64 = 0.93;

/// Bursts of other load on bus or host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadBursts {
    /// Ranges of slices (start, end).
    pub slices: Vec<(usize, usize)>,
    /// Figures as stored in the document.
    pub figures: HostInterference,
}

/// Finds bursts. None if the command was not timed, or if nothing was disturbed.
pub(super) fn find_load_bursts(slices: &[SeriesSlice]) -> Option<LoadBursts> {
    let pings: Vec<Option<f64>> = slices.iter().map(|s| s.ping_s).collect();
    let pings = running_median(&fill_gaps(&pings)?, 3);
    let usual = quantile(&pings, UNDISTURBED_QUANTILE).filter(|p| *p > 0.0)?;
    let logs: Vec<f64> = pings.iter().map(|p| (p / usual).ln()).collect();
    let limit = MIN_PING_RATIO.ln().max(MIN_PING_DEVIATIONS * neighbour_scatter(&logs));
    let slow: Vec<bool> = logs.iter().map(|l| *l > limit).collect();
    let mut bursts = true_ranges(&slow, 1);
    // The running median of three lets a single outlier through only at the ends.
    bursts.retain(|(from, to)| to - from >= 2);
    let inside = |i: usize| bursts.iter().any(|(from, to)| (*from..*to).contains(&i));
    let (during, outside): (Vec<usize>, Vec<usize>) = (0..slices.len()).partition(|i| inside(*i));
    let ratio = |value: &dyn Fn(&usize) -> f64| {
        let middle = |of: &[usize]| median(&of.iter().map(value).collect::<Vec<_>>());
        Some(middle(&during)? / middle(&outside)?)
    };
    let (speed_ratio, ping_ratio) = (ratio(&|i| slices[*i].speed())?, ratio(&|i| pings[*i])?);
    if during.len() < MIN_BURST_SLICES || speed_ratio > MAX_BURST_SPEED {
        return None;
    }
    let seconds = during.iter().map(|i| slices[*i].seconds).sum();
    let figures = HostInterference { bursts: bursts.len() as u64, seconds, ping_ratio, speed_ratio };
    Some(LoadBursts { slices: bursts, figures })
}

/// Mask of the slices of bursts and of their neighbours, in which bursts begin and end.
pub(super) fn disturbed_slices(found: Option<&LoadBursts>, slices: usize) -> Vec<bool> {
    let mut mask = vec![false; slices];
    for (from, to) in found.iter().flat_map(|f| &f.slices) {
        mask[from.saturating_sub(1)..(to + 1).min(slices)].fill(true);
    }
    mask
}
