//! Stalls, in which the card cleans or merges, answers nothing and is back at full speed afterwards
//! (docs/reference/flash.md#garbage-collection): number, length, and whether they come at a period in bytes. And
//! interference by the bus or the host: then a command that the card answers without its flash takes longer, too.

use super::{SeriesSlice, filled, ranges, running_quantile, scatter, smoothed};
use cardscope_model::statistics::{median, quantile};
use cardscope_model::sustain::{self, HostInterference, StallPeriod};
use cardscope_model::units::mb_per_s;
use cardscope_statistics::period::strongest;

/// A time without a completion is a stall if it is so many times the usual one …
const TIMES: f64 = 8.0;

/// … and so long, in seconds: below it no one notices.
const SHORTEST_S: f64 = 0.1;

/// Slices on either side that tell what is usual around a slice.
const WINDOW: usize = 25;

/// The time of an I/O around a slice is that of the faster slices, this share of them: in many of the others a card may stall.
const UNSTALLED: f64 = 0.25;

/// Below this share of the speed around it a slice is low (docs/reference/flash.md#causes-of-a-slow-spell).
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
pub struct SeriesStall {
    /// When, in seconds.
    pub at_s: f64,
    /// Bytes moved before it.
    pub at_bytes: u64,
    /// How long, in seconds.
    pub seconds: f64,
}

/// The stalls of a series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesStalls {
    /// All of them.
    pub stalls: Vec<SeriesStall>,
    /// True where there are enough to be worth naming.
    pub found: bool,
    /// What they come to, as the document of a long run has it.
    pub figures: sustain::CardStalls,
}

/// Finds stalls in slices that nobody else `touched`, from the seconds on that are the [`shortest`] in each; gives them and
/// which slices they slowed.
pub(super) fn stalls(
    slices: &[SeriesSlice],
    touched: &[bool],
    shortest: &[f64],
) -> (SeriesStalls, Vec<bool>) {
    let speeds: Vec<f64> = slices.iter().map(SeriesSlice::speed).collect();
    let around = running_quantile(&speeds, WINDOW, 0.75);
    let low = short_lows(&speeds, &around, touched);
    let timed = slices.iter().any(|s| s.ios > 0);
    let stalls = if timed { by_gaps(slices, touched, shortest) } else { by_lows(slices, &around, &low) };
    let slowed = low.iter().filter(|l| **l).count();
    let seconds: f64 = slices.iter().map(|s| s.seconds).sum();
    let bytes: u64 = slices.iter().map(|s| s.bytes).sum();
    let lengths: Vec<f64> = stalls.iter().map(|s| s.seconds).collect();
    let share = lengths.iter().sum::<f64>() / seconds.max(1e-9);
    let enough = stalls.len() >= LEAST && (slowed >= LEAST || share >= SHARE);
    let few_but_long = stalls.len() >= 3 && share >= SHARE && lengths.iter().sum::<f64>() >= 2.0;
    let (per_gb, per_gb_ci95) = rate(stalls.len(), bytes);
    let figures = sustain::CardStalls {
        count: stalls.len() as u64,
        per_gb,
        per_gb_ci95,
        median_s: median(&lengths).unwrap_or_default(),
        p99_s: quantile(&lengths, 0.99).unwrap_or_default(),
        longest_s: lengths.iter().copied().fold(0.0, f64::max),
        share,
        between_mb_s: mb_per_s(bytes, (seconds - lengths.iter().sum::<f64>()).max(1e-9)),
        period: period(&stalls, bytes),
    };
    let found = SeriesStalls { found: enough || few_but_long, figures, stalls };
    (found, low)
}

/// k stalls: k ± 1.96 √(k + 1), per GB (docs/reference/flash.md#garbage-collection).
fn rate(count: usize, bytes: u64) -> (f64, [f64; 2]) {
    let gb = (bytes as f64 / 1e9).max(1e-9);
    let (k, half) = (count as f64, 1.96 * (count as f64 + 1.0).sqrt());
    (k / gb, [(k - half).max(0.0) / gb, (k + half) / gb])
}

/// Low slices in short runs, between others that are not low.
fn short_lows(speeds: &[f64], around: &[f64], touched: &[bool]) -> Vec<bool> {
    let low: Vec<bool> = (0..speeds.len()).map(|i| !touched[i] && speeds[i] < LOW * around[i]).collect();
    let mut short = vec![false; speeds.len()];
    for (from, to) in ranges(&low, 0) {
        let bounded = from > 0 && to < speeds.len();
        let deep = (from..to).any(|i| speeds[i] < DEEP * around[i]);
        if to - from <= LONGEST && bounded && deep {
            short[from..to].fill(true);
        }
    }
    short
}

fn by_lows(slices: &[SeriesSlice], around: &[f64], low: &[bool]) -> Vec<SeriesStall> {
    let lost = |i: usize| slices[i].seconds * (1.0 - slices[i].speed() / around[i].max(1e-9));
    let stall = |(from, to): (usize, usize)| SeriesStall {
        at_s: slices[from].at_s,
        at_bytes: slices[from].at_bytes,
        seconds: (from..to).map(lost).sum(),
    };
    ranges(low, 0).into_iter().map(stall).filter(|s| s.seconds >= SHORTEST_S).collect()
}

fn by_gaps(slices: &[SeriesSlice], touched: &[bool], shortest: &[f64]) -> Vec<SeriesStall> {
    let untouched = slices.iter().zip(shortest).zip(touched).filter(|(_, touched)| !**touched);
    untouched
        .flat_map(|((slice, shortest), _)| {
            let stalls = slice.gaps.iter().filter(|gap| gap.seconds >= *shortest);
            stalls.map(|gap| SeriesStall { at_s: slice.at_s, at_bytes: gap.at_bytes, seconds: gap.seconds })
        })
        .collect()
}

/// Seconds from which on a time without a completion is a stall, in each slice: many times what is usual in the whole
/// series, and more than the I/Os take, at the speed around it, that may end `at_once`.
pub(super) fn shortest(slices: &[SeriesSlice], at_once: u32) -> Vec<f64> {
    let mean = |s: &SeriesSlice| (s.ios > 0).then(|| s.seconds / f64::from(s.ios));
    let each: Vec<f64> = slices.iter().filter_map(|s| s.interval_s.or(mean(s))).collect();
    let usual = SHORTEST_S.max(TIMES * median(&each).unwrap_or_default());
    let means: Vec<Option<f64>> = slices.iter().map(mean).collect();
    let around = filled(&means).map(|means| running_quantile(&means, WINDOW, UNSTALLED));
    around.map_or(vec![usual; slices.len()], |around| {
        around.iter().map(|mean| usual.max(f64::from(at_once + 1) * mean)).collect()
    })
}

/// The slices without the time of their stalls: what the card does between them.
pub(super) fn removed(slices: &[SeriesSlice], shortest: &[f64]) -> Vec<SeriesSlice> {
    let one = |(slice, shortest): (&SeriesSlice, &f64)| {
        let stalled: f64 = slice.gaps.iter().map(|g| g.seconds).filter(|g| g >= shortest).sum();
        // A slice of one stall and nothing else has no speed of its own.
        SeriesSlice { seconds: (slice.seconds - stalled).max(0.02 * slice.seconds), ..slice.clone() }
    };
    slices.iter().zip(shortest).map(one).collect()
}

/// Periods tried: powers of two and three times those, from 1 MiB to 4 GiB, and the median distance with its parts.
fn candidates(stalls: &[SeriesStall]) -> Vec<f64> {
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
fn period(stalls: &[SeriesStall], bytes: u64) -> Option<StallPeriod> {
    if stalls.len() < 10 {
        return None;
    }
    let tried: Vec<f64> = candidates(stalls).into_iter().filter(|p| *p * 4.0 <= bytes as f64).collect();
    let positions: Vec<f64> = stalls.iter().map(|stall| stall.at_bytes as f64).collect();
    let found = strongest(&positions, &tried).filter(|found| found.chance < 0.001 && found.strength > 0.5)?;
    Some(StallPeriod { bytes: found.period as u64, confidence: 1.0 - found.chance })
}

/// Least factor by which such a command takes longer (docs/reference/flash.md#causes-of-a-slow-spell).
const SLOWER: f64 = 1.12;

/// And so many deviations of its own scatter.
const DEVIATIONS: f64 = 4.0;

/// Slices of the workload that must have been slow by it: two seconds.
const LEAST_SLICES: usize = 8;

/// What is undisturbed: the lower fifth, since bursts may take most of the time.
const UNDISTURBED: f64 = 0.2;

/// Speed in a burst against that outside of it, below which it matters.
const MATTERS: f64 = 0.93;

/// Bursts in which somebody else used bus or host.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadBursts {
    /// First slice and one behind the last of each.
    pub slices: Vec<(usize, usize)>,
    /// All of them as they are stored.
    pub figures: HostInterference,
}

/// Looks for bursts; `None` where nothing was asked, or nothing shows.
pub(super) fn interference(slices: &[SeriesSlice]) -> Option<LoadBursts> {
    let pings: Vec<Option<f64>> = slices.iter().map(|s| s.ping_s).collect();
    let pings = smoothed(&filled(&pings)?, 3);
    let usual = quantile(&pings, UNDISTURBED).filter(|p| *p > 0.0)?;
    let logs: Vec<f64> = pings.iter().map(|p| (p / usual).ln()).collect();
    let limit = SLOWER.ln().max(DEVIATIONS * scatter(&logs));
    let slow: Vec<bool> = logs.iter().map(|l| *l > limit).collect();
    let mut bursts = ranges(&slow, 1);
    // A running median of three lets a single odd value through at the ends only.
    bursts.retain(|(from, to)| to - from >= 2);
    let inside = |i: usize| bursts.iter().any(|(from, to)| (*from..*to).contains(&i));
    let of = |wanted: bool, value: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..slices.len()).filter(|i| inside(*i) == wanted).map(value).collect();
        median(&values)
    };
    let count = (0..slices.len()).filter(|i| inside(*i)).count();
    let speed_ratio = of(true, &|i| slices[i].speed())? / of(false, &|i| slices[i].speed())?;
    let ping_ratio = of(true, &|i| pings[i])? / of(false, &|i| pings[i])?;
    if count < LEAST_SLICES || speed_ratio > MATTERS {
        return None;
    }
    let seconds = (0..slices.len()).filter(|i| inside(*i)).map(|i| slices[i].seconds).sum();
    let figures = HostInterference { bursts: bursts.len() as u64, seconds, ping_ratio, speed_ratio };
    Some(LoadBursts { slices: bursts, figures })
}

/// True for the slices that somebody else had a part in: the bursts, and the slice on either side, in which they began
/// and ended.
pub(super) fn touched(found: Option<&LoadBursts>, slices: usize) -> Vec<bool> {
    let mut mask = vec![false; slices];
    for (from, to) in found.iter().flat_map(|f| &f.slices) {
        mask[from.saturating_sub(1)..(to + 1).min(slices)].fill(true);
    }
    mask
}
