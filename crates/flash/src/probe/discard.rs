//! Effect of discard: times small flushed writes before and after all blocks are discarded. The same writes compare
//! file systems.
//!
//! Advice for discard needs this measurement, since neither discard nor any file system helped the card of
//! docs/reference/reports.md#lexar-review.

use super::options::{MapOptions, Result};
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop};
use cardscope_model::card_map::TriedState;
use cardscope_model::card_map::advice::{AFTER_DISCARD, BEFORE_DISCARD};
use cardscope_model::units::MIB;
use cardscope_probing::context::{CARD_START, ProbeContext};
use cardscope_probing::write_scope::WriteScope;
use cardscope_statistics::bootstrap::{BootstrapPlan, bootstrap_interval95};
use std::time::Duration;

/// Bytes of a small write: the least that file systems and databases write.
const SMALL_BYTES: u32 = 4096;

/// Range of the small writes in bytes, larger than any small-write log that is on record.
pub const SPAN: u64 = 64 * MIB;

/// Most writes of a series, fewest for an interval, and seconds after which none is started.
const MAX_WRITES: usize = 512;
const MIN_WRITES: usize = 16;
const MAX_SERIES_S: f64 = 15.0;

/// Pause before a series, so that it does not pay for the garbage of earlier writes.
const REST: Duration = Duration::from_secs(2);

/// Bootstrap of the 95 % intervals (docs/reference/flash.md#comparing-two-cards). One stall delays neighbouring
/// writes, so three are drawn together.
const INTERVAL: BootstrapPlan = BootstrapPlan { resamples: 10_000, block: 3, seed: 4 };

pub const BEFORE: &str = "small writes before discard";
pub const AFTER: &str = "small writes after discard";

pub(super) fn series_seconds() -> f64 {
    MAX_SERIES_S + REST.as_secs_f64()
}

pub(super) fn series_bytes() -> u64 {
    MAX_WRITES as u64 * u64::from(SMALL_BYTES)
}

/// Times small writes, discards the write region, and times them again. `before` has the small writes of the
/// untouched card where a map has timed them already ([`MeasuredMap::small_writes`]).
///
/// [`MeasuredMap::small_writes`]: cardscope_model::card_map::MeasuredMap
///
/// # Errors
/// If the card is gone or the user stopped the test. `into` keeps what was measured.
pub fn measure_discard(
    card: &mut IoDriver<'_>,
    options: &MapOptions,
    events: &mut dyn Listener,
    before: Option<TriedState>,
    into: &mut Vec<TriedState>,
) -> Result<()> {
    let mut context = ProbeContext::new(card, WriteScope::new(None), &options.limits, events);
    if !context.has_time(2.0 * series_seconds()) {
        into.push(skipped_trial(AFTER_DISCARD, "no time left"));
        return Ok(());
    }
    let before = match before {
        Some(before) => before,
        None => {
            context.begin_stage(BEFORE);
            time_small_writes(&mut context, BEFORE_DISCARD)?
        }
    };
    let measured = before.iops.is_some();
    into.push(before);
    if !measured {
        into.push(skipped_trial(AFTER_DISCARD, "small writes before it could not be measured"));
        return Ok(());
    }
    let region = context.region;
    if !context.discard(region.start, region.len)? {
        into.push(skipped_trial(AFTER_DISCARD, "the card or its reader does not support discard"));
        return Ok(());
    }
    context.begin_stage(AFTER);
    into.push(time_small_writes(&mut context, AFTER_DISCARD)?);
    Ok(())
}

pub fn skipped_trial(what: &str, reason: impl ToString) -> TriedState {
    TriedState { what: what.to_owned(), reason: Some(reason.to_string()), ..TriedState::default() }
}

/// Times random 4 KiB writes, each with a flush, within the first [`SPAN`] of the write region after the card's
/// start.
///
/// # Errors
/// If the card is gone, the user stopped the test, or the old content could not be saved.
pub fn time_small_writes(context: &mut ProbeContext, what: &str) -> Result<TriedState> {
    context.set_queue(SMALL_BYTES, 1)?;
    let places = small_extents(context);
    match context.save_before_write(&places) {
        Err(ProbeStop::Limit) => return Ok(skipped_trial(what, "the write limit is too low")),
        prepared => prepared?,
    }
    context.rest(REST);
    let began = context.seconds();
    let mut times = Vec::with_capacity(places.len());
    for place in places {
        let start = context.seconds();
        if start - began > MAX_SERIES_S {
            break;
        }
        let written = context.time_write(place)?;
        context.flush()?;
        times.extend(written.map(|_| context.seconds() - start));
    }
    Ok(summarize_writes(what, &times))
}

fn small_extents(context: &mut ProbeContext) -> Vec<CardExtent> {
    let unit = u64::from(SMALL_BYTES.max(context.sector()));
    let end = context.region.end();
    // A region that ends near the card's start was chosen by the user, so the start is not skipped there.
    let least = if end > 2 * CARD_START { CARD_START } else { 0 };
    let start = context.region.start.max(least);
    let slots = (end - start).min(SPAN) / unit;
    (0..MAX_WRITES)
        .map(|_| CardExtent { offset: start + context.random.below(slots.max(1)) * unit, len: unit as u32 })
        .filter(|extent| extent.end() <= end)
        .collect()
}

fn summarize_writes(what: &str, times: &[f64]) -> TriedState {
    let total: f64 = times.iter().sum();
    if times.len() < MIN_WRITES || total <= 0.0 {
        let reason = format!("only {} writes were timed", times.len());
        return skipped_trial(what, &reason);
    }
    let rate = |times: &[f64]| times.len() as f64 / times.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    TriedState {
        what: what.to_owned(),
        iops: Some(rate(times)),
        ci95: bootstrap_interval95(times, INTERVAL, rate).map(|[low, high]| (low, high)),
        longest_s: times.iter().copied().reduce(f64::max),
        reason: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stall_widens_interval_and_sets_longest_write() {
        let mut times = vec![0.003; 400];
        let steady = summarize_writes("as it was", &times);
        assert!((steady.iops.unwrap() - 333.3).abs() < 0.1 && steady.longest_s == Some(0.003));
        times[100] = 2.0;
        let stalled = summarize_writes("as it was", &times);
        let (low, high) = stalled.ci95.unwrap();
        assert!(stalled.longest_s == Some(2.0) && low < 150.0 && high > 300.0, "{stalled:?}");
    }

    #[test]
    fn too_few_writes_give_no_figure() {
        let few = summarize_writes("ext4", &[0.9; 15]);
        assert!(few.iops.is_none() && few.reason.unwrap().contains("15 writes"));
    }
}
