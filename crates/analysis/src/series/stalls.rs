//! Stalls: the card does something of its own (garbage collection, a merge) and answers nothing meanwhile; then it is
//! back at full speed (flash-behaviour 3.7). How many, how long, and whether they come at a period in bytes.

use super::Slice;
use super::channel::{running_quantile, stretches};
use crate::period::strongest;
use cardscope_model::statistics::{median, quantile};

/// A time without a completion is a stall if it is so many times the usual one …
const TIMES: f64 = 8.0;

/// … and so long, in seconds: below it no one notices.
const SHORTEST_S: f64 = 0.1;

/// Slices on either side that tell what is usual around a slice.
const WINDOW: usize = 25;

/// Below this share of the speed around it a slice is low (flash-behaviour 4.1).
const LOW: f64 = 0.82;

/// And one slice of a stall is below this: the card answers next to nothing.
const DEEP: f64 = 0.65;

/// Slices that a stall takes at most; what is longer is another level.
const LONGEST: usize = 4;

/// Low slices, or stalls, that must be seen.
const LEAST: usize = 8;

/// Share of the time that they must take, from fewer stalls.
const SHARE: f64 = 0.02;

/// One stall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// When, in seconds.
    pub at_s: f64,
    /// Bytes moved before it.
    pub at_bytes: u64,
    /// How long, in seconds.
    pub seconds: f64,
}

/// A period in bytes at which stalls come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// Bytes.
    pub bytes: u64,
    /// Length of the mean of the unit vectors at their phases: 1 for a clock, near 0 for chance.
    pub strength: f64,
    /// Probability of so strong a period by chance, all periods that were tried counted.
    pub chance: f64,
}

/// The stalls of a series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stalls {
    /// All of them.
    pub stalls: Vec<Stall>,
    /// True where there are enough to be worth naming.
    pub found: bool,
    /// Per GB (10^9 bytes) moved.
    pub per_gb: f64,
    /// 95 % interval of that, by Poisson.
    pub per_gb_ci95: [f64; 2],
    /// Median length in seconds.
    pub median_s: f64,
    /// 99 % are no longer, in seconds.
    pub p99_s: f64,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// Share of the time that they take.
    pub share: f64,
    /// The period in bytes, where there is one.
    pub period: Option<Period>,
}

/// Finds stalls in slices that nobody else `touched`; gives them and which slices they slowed.
pub(super) fn stalls(slices: &[Slice], touched: &[bool]) -> (Stalls, Vec<bool>) {
    let speeds: Vec<f64> = slices.iter().map(Slice::speed).collect();
    let around = running_quantile(&speeds, WINDOW, 0.75);
    let low = short_lows(&speeds, &around, touched);
    let timed = slices.iter().any(|s| s.ios > 0);
    let stalls = if timed { by_gaps(slices, touched) } else { by_lows(slices, &around, &low) };
    let slowed = low.iter().filter(|l| **l).count();
    let seconds: f64 = slices.iter().map(|s| s.seconds).sum();
    let bytes: u64 = slices.iter().map(|s| s.bytes).sum();
    let lengths: Vec<f64> = stalls.iter().map(|s| s.seconds).collect();
    let share = lengths.iter().sum::<f64>() / seconds.max(1e-9);
    let enough = stalls.len() >= LEAST && (slowed >= LEAST || share >= SHARE);
    let few_but_long = stalls.len() >= 3 && share >= SHARE && lengths.iter().sum::<f64>() >= 2.0;
    let (per_gb, per_gb_ci95) = rate(stalls.len(), bytes);
    let found = Stalls {
        found: enough || few_but_long,
        per_gb,
        per_gb_ci95,
        median_s: median(&lengths).unwrap_or_default(),
        p99_s: quantile(&lengths, 0.99).unwrap_or_default(),
        longest_s: lengths.iter().copied().fold(0.0, f64::max),
        share,
        period: period(&stalls, bytes),
        stalls,
    };
    (found, low)
}

/// k stalls: k ± 1.96 √(k + 1) (flash-behaviour 3.7), per GB.
fn rate(count: usize, bytes: u64) -> (f64, [f64; 2]) {
    let gb = (bytes as f64 / 1e9).max(1e-9);
    let (k, half) = (count as f64, 1.96 * (count as f64 + 1.0).sqrt());
    (k / gb, [(k - half).max(0.0) / gb, (k + half) / gb])
}

/// Low slices in short runs, between others that are not low.
fn short_lows(speeds: &[f64], around: &[f64], touched: &[bool]) -> Vec<bool> {
    let low: Vec<bool> = (0..speeds.len()).map(|i| !touched[i] && speeds[i] < LOW * around[i]).collect();
    let mut short = vec![false; speeds.len()];
    for (from, to) in stretches(&low, 0) {
        let bounded = from > 0 && to < speeds.len();
        let deep = (from..to).any(|i| speeds[i] < DEEP * around[i]);
        if to - from <= LONGEST && bounded && deep {
            short[from..to].fill(true);
        }
    }
    short
}

fn by_lows(slices: &[Slice], around: &[f64], low: &[bool]) -> Vec<Stall> {
    let lost = |i: usize| slices[i].seconds * (1.0 - slices[i].speed() / around[i].max(1e-9));
    let stall = |(from, to): (usize, usize)| Stall {
        at_s: slices[from].at_s,
        at_bytes: slices[from].at_bytes,
        seconds: (from..to).map(lost).sum(),
    };
    stretches(low, 0).into_iter().map(stall).filter(|s| s.seconds >= SHORTEST_S).collect()
}

fn by_gaps(slices: &[Slice], touched: &[bool]) -> Vec<Stall> {
    let shortest = shortest(slices);
    let untouched = slices.iter().zip(touched).filter(|(_, touched)| !**touched);
    untouched
        .flat_map(|(slice, _)| slice.gaps.iter().map(move |gap| (slice, gap)))
        .filter(|(_, gap)| gap.seconds >= shortest)
        .map(|(slice, gap)| Stall { at_s: slice.at_s, at_bytes: gap.at_bytes, seconds: gap.seconds })
        .collect()
}

/// Seconds from which on a time without a completion is a stall.
fn shortest(slices: &[Slice]) -> f64 {
    let each = |s: &Slice| s.interval_s.or((s.ios > 0).then(|| s.seconds / f64::from(s.ios)));
    let each: Vec<f64> = slices.iter().filter_map(each).collect();
    SHORTEST_S.max(TIMES * median(&each).unwrap_or_default())
}

/// The slices without the time of their stalls: what the card does between them.
pub(super) fn removed(slices: &[Slice]) -> Vec<Slice> {
    let shortest = shortest(slices);
    let one = |slice: &Slice| {
        let stalled: f64 = slice.gaps.iter().map(|g| g.seconds).filter(|g| *g >= shortest).sum();
        // A slice of one stall and nothing else has no speed of its own.
        Slice { seconds: (slice.seconds - stalled).max(0.02 * slice.seconds), ..slice.clone() }
    };
    slices.iter().map(one).collect()
}

/// Periods tried: powers of two and three times those, from 1 MiB to 4 GiB, and the median distance with its parts.
fn candidates(stalls: &[Stall]) -> Vec<f64> {
    let distances: Vec<f64> =
        stalls.windows(2).map(|w| w[1].at_bytes.saturating_sub(w[0].at_bytes) as f64).collect();
    let mut all: Vec<f64> =
        (0..13).flat_map(|k| [1u64 << (20 + k), 3 << (20 + k)]).map(|b| b as f64).collect();
    if let Some(middle) = median(&distances).filter(|m| *m > 0.0) {
        all.extend((-20..=20).map(|step| middle * (1.0 + f64::from(step) * 0.005)));
    }
    all
}

/// The strongest period of the stalls' positions, where chance does not explain it.
fn period(stalls: &[Stall], bytes: u64) -> Option<Period> {
    if stalls.len() < 10 {
        return None;
    }
    let tried: Vec<f64> = candidates(stalls).into_iter().filter(|p| *p * 4.0 <= bytes as f64).collect();
    let positions: Vec<f64> = stalls.iter().map(|stall| stall.at_bytes as f64).collect();
    let found = strongest(&positions, &tried).filter(|found| found.chance < 0.001 && found.strength > 0.5)?;
    Some(Period { bytes: found.period as u64, strength: found.strength, chance: found.chance })
}
