//! From the first bad sample to certainty: is it a fake whose end is known by now, so that writing on would show
//! nothing new? Everything here is read twice, with the card opened again in between.

use super::reading::Stamped;
use super::samples::{SAMPLE, Sample, Stretches, place, read};
use crate::sector::SectorFound;
use cardscope_engine::card::{Card, Extent, Stop};
use cardscope_model::random::{Random, mix};

/// Why writing ended before the end of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certain {
    /// What was written later stands in the first addresses.
    Wraps,
    /// Nothing beyond this address stays.
    EndsAt(u64),
    /// It takes no more writes.
    Refuses,
}

/// Samples on each side of a suspected end.
const SAMPLES: u64 = 64;

/// The end is looked for below the lowest bad sample so many times.
const STEPS_DOWN: u32 = 4;

/// A lost range must be so many stretches long before the rest of the card is given up.
const LONG_ENOUGH: u64 = 4;

/// What is known of bad samples so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suspicion {
    lowest_lost: Option<u64>,
    reported: bool,
}

impl Suspicion {
    /// Takes bad samples; gives the reason to stop writing, if there is one now. `written` bytes from 0 are written.
    pub(crate) fn judge(
        &mut self,
        card: &mut Card<'_>,
        bad: &[Sample],
        written: u64,
        stretches: Stretches,
        stamped: Stamped,
    ) -> Result<Option<Certain>, Stop> {
        if bad.is_empty() {
            return Ok(None);
        }
        card.reopen()?;
        let again: Vec<Sample> =
            read(card, bad.iter().map(|s| s.extent), stamped)?.into_iter().filter(|s| !s.good()).collect();
        let lost = |s: &&Sample| !matches!(s.found, SectorFound::Flipped { .. });
        let lowest = again.iter().filter(lost).map(|s| s.extent.offset).min();
        self.lowest_lost = [self.lowest_lost, lowest].into_iter().flatten().min();
        let first = stretches.range(0).1.min(written);
        if again.iter().any(forward) && wraps(card, first, stamped)? {
            return Ok(Some(Certain::Wraps));
        }
        match self.lowest_lost {
            Some(from) => ends(card, from, written, stretches, stamped),
            None => Ok(None),
        }
    }

    /// The address to name when it is told for the first time.
    pub(crate) fn news(&mut self) -> Option<u64> {
        let from = self.lowest_lost.filter(|_| !self.reported)?;
        self.reported = true;
        Some(from)
    }
}

fn forward(sample: &Sample) -> bool {
    matches!(sample.found, SectorFound::Elsewhere { address } if address > sample.extent.offset)
}

/// The very first addresses hold what was written to later ones. Where a lost block shows data of another one, only
/// lost blocks do; the first ones are not lost.
fn wraps(card: &mut Card<'_>, first: u64, stamped: Stamped) -> Result<bool, Stop> {
    let len = u64::from(card.block()).min(first).min(4096) as u32;
    let list = [0, 4096, 8192].map(|offset| Extent { offset, len });
    let list = list.into_iter().filter(|p| p.end() <= first);
    let samples = read(card, list, stamped)?;
    Ok(!samples.is_empty() && samples.iter().all(forward))
}

/// Everything from about `from` on is lost but for what a cache may still hold, and everything below is there.
fn ends(
    card: &mut Card<'_>,
    from: u64,
    written: u64,
    stretches: Stretches,
    stamped: Stamped,
) -> Result<Option<Certain>, Stop> {
    if written.saturating_sub(from) < LONG_ENOUGH * stretches.bytes {
        return Ok(None);
    }
    let mut random = Random::new(mix(stamped.salt ^ written));
    let mut spread = |from: u64, to: u64| -> Vec<Extent> {
        let part = ((to - from) / SAMPLES).next_multiple_of(SAMPLE).max(SAMPLE);
        (from..to)
            .step_by(part as usize)
            .map(|start| place(start, (start + part).min(to), &mut random))
            .collect()
    };
    let mut from = from;
    for _ in 0..STEPS_DOWN {
        let older = from + (written - from) / 2 / SAMPLE * SAMPLE;
        let beyond = read(card, spread(from, older), stamped)?;
        let bad = beyond.iter().filter(|s| !s.good()).count();
        if bad * 10 < beyond.len() * 9 {
            return Ok(None);
        }
        let below = if from > 0 { read(card, spread(0, from), stamped)? } else { Vec::new() };
        let bad = below.iter().filter(|s| !s.good());
        // Sample places are coarse: the end may lie a little below the lowest bad one.
        if bad.clone().count() * 20 <= below.len() {
            return Ok(Some(Certain::EndsAt(from)));
        }
        from = bad.map(|s| s.extent.offset).min().unwrap_or_default();
    }
    Ok(None)
}
