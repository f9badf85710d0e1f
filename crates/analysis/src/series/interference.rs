//! Somebody else on the bus or the host: a command that the card answers without its flash takes longer, too.

use super::Slice;
use super::channel::{filled, scatter, smoothed, stretches};
use cardscope_model::statistics::{median, quantile};

/// So much longer must such a command take (flash-behaviour 4.1: +12 %).
const SLOWER: f64 = 1.12;

/// And so many deviations of its own scatter.
const DEVIATIONS: f64 = 4.0;

/// Slices of the workload that must have been slow by it: two seconds.
const LEAST_SLICES: usize = 8;

/// What is undisturbed: the lower fifth, since bursts may take most of the time.
const UNDISTURBED: f64 = 0.2;

/// Speed in a burst against that outside of it, below which it matters.
const MATTERS: f64 = 0.93;

/// Bursts in which somebody else was there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interference {
    /// First slice and one behind the last of each.
    pub bursts: Vec<(usize, usize)>,
    /// Time of a command that needs no flash, in bursts over outside of them.
    pub ping_ratio: f64,
    /// Speed of the workload, in bursts over outside of them.
    pub speed_ratio: f64,
    /// Seconds in bursts.
    pub seconds: f64,
}

/// Looks for bursts; `None` where nothing was asked, or nothing shows.
pub(super) fn interference(slices: &[Slice]) -> Option<Interference> {
    let pings: Vec<Option<f64>> = slices.iter().map(|s| s.ping_s).collect();
    let pings = smoothed(&filled(&pings)?, 3);
    let usual = quantile(&pings, UNDISTURBED).filter(|p| *p > 0.0)?;
    let logs: Vec<f64> = pings.iter().map(|p| (p / usual).ln()).collect();
    let limit = SLOWER.ln().max(DEVIATIONS * scatter(&logs));
    let slow: Vec<bool> = logs.iter().map(|l| *l > limit).collect();
    let mut bursts = stretches(&slow, 1);
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
    Some(Interference { bursts, ping_ratio, speed_ratio, seconds })
}

/// True for the slices that somebody else had a part in: the bursts, and the slice on either side, in which they began
/// and ended.
pub(super) fn touched(found: Option<&Interference>, slices: usize) -> Vec<bool> {
    let mut mask = vec![false; slices];
    for (from, to) in found.iter().flat_map(|f| &f.bursts) {
        mask[from.saturating_sub(1)..(to + 1).min(slices)].fill(true);
    }
    mask
}
