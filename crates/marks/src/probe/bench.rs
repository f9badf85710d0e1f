//! What all parts of the measurement share: the card and how it is cut, and writing that keeps to the time given on a
//! card of any speed. What is under way cannot be taken back, so the first of many writes is done by itself, and after it
//! no more is begun than there is time for.

use super::options::MarkOptions;
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_engine::target::IoDirection;
use cardscope_model::judged_mark::{FailedEvidence, MarksMeasured};
use cardscope_model::statistics::median;
use cardscope_model::units::{GIB, MIB};
use cardscope_probing::context::ProbeContext;

/// Taken for the allocation unit where nobody tells one: that of nearly all SDHC cards, and a part of every larger one.
const USUAL_UNIT: u64 = 4 * MIB;

/// What a card without a stated speed unit is judged by: 8 MiB is the one that most units are multiples of.
const USUAL_SPEED_UNIT: u64 = 8 * MIB;

/// One write waits while another is under way, so that the bus is always busy, as the specification has it.
pub(super) const DEPTH: u32 = 2;

/// Seconds that the first write of a recording may take longer.
const PREPARATION: f64 = 1.0;

/// Everything that a part of the measurement works with.
pub(super) struct MarkTester<'b, 's, 't> {
    pub(super) context: &'b mut ProbeContext<'s, 't>,
    pub(super) options: &'b MarkOptions,
    pub(super) into: &'b mut MarksMeasured,
    pub(super) family: CapacityFamily,
    pub(super) cut: MarkAreas,
    /// Whether timed reads reach the card.
    pub(super) readable: bool,
}

impl MarkTester<'_, '_, '_> {
    /// Carries out a part and notes how many of its I/Os failed.
    pub(super) fn noting(
        &mut self,
        noted: fn(&mut FailedEvidence) -> &mut u64,
        part: impl FnOnce(&mut Self) -> Result<(), ProbeStop>,
    ) -> Result<(), ProbeStop> {
        let before = self.context.counts().failed();
        let ended = part(self);
        *noted(&mut self.into.failed_ios) += self.context.counts().failed() - before;
        ended
    }

    /// Says what was left out, and why.
    pub(super) fn leave_out(&mut self, what: impl Into<String>) {
        self.into.left_out.push(what.into());
    }

    /// A random place for `bytes` on a multiple of `align` from the start of what may be used.
    pub(super) fn somewhere(&mut self, bytes: u64, align: u64) -> u64 {
        let region = self.context.region;
        region.start + self.context.random.below((region.len - bytes) / align + 1) * align
    }

    /// A random place for `bytes` that begins with an allocation unit.
    pub(super) fn place(&mut self, bytes: u64) -> u64 {
        let (MarkAreas { unit, origin, .. }, region) = (self.cut, self.context.region);
        let first = (region.start - origin).div_ceil(unit);
        let last = (region.end() - origin - bytes) / unit;
        origin + (first + self.context.random.below(last.saturating_sub(first) + 1)) * unit
    }
}

/// How the card is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkAreas {
    /// Allocation unit.
    pub(super) unit: u64,
    /// Range by which video classes are judged.
    pub(super) speed_unit: u64,
    /// Written in one go: whole units, and at least a speed unit.
    pub(super) range: u64,
    /// What counts as the card's own boundary: units are counted from here.
    pub(super) origin: u64,
}

impl MarkAreas {
    /// How the card is cut; `None` where there is no room for a single range.
    pub(super) fn of(
        context: &ProbeContext<'_, '_>,
        options: &MarkOptions,
        into: &mut MarksMeasured,
    ) -> Option<MarkAreas> {
        let stated = options.unit.filter(|unit| *unit >= MIB / 64);
        let unit = stated.unwrap_or(USUAL_UNIT);
        into.au_bytes = unit;
        into.au_from = match stated {
            Some(_) => options.unit_from.clone(),
            None => "typical; not stated by the card".to_owned(),
        };
        let speed_unit = options.speed_unit.unwrap_or(USUAL_SPEED_UNIT);
        let range = speed_unit.div_ceil(unit) * unit;
        let origin = if options.card_addresses { 0 } else { context.region.start };
        let first = (context.region.start - origin).div_ceil(unit) * unit + origin;
        if first + 2 * range > context.region.end() {
            into.left_out.push(format!(
                "everything: {} bytes are available, and whole allocation units need {}",
                context.region.len,
                2 * range
            ));
            return None;
        }
        Some(MarkAreas { unit, speed_unit, range, origin })
    }
}

/// The capacity families, which differ in the unit of recording (Physical Layer Specification 4.13.1, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CapacityFamily {
    /// Up to 2 GB.
    Standard,
    /// Up to 32 GB.
    High,
    /// Above.
    Extended,
}

impl CapacityFamily {
    pub(super) fn of(bytes: u64) -> CapacityFamily {
        match bytes {
            b if b <= 2 * GIB => CapacityFamily::Standard,
            b if b <= 32 * GIB => CapacityFamily::High,
            _ => CapacityFamily::Extended,
        }
    }
}

/// Extents as they were written: when each ended, in seconds since the first was submitted. What failed is not in it.
pub(super) struct WriteRun {
    pub(super) start: u64,
    pub(super) ends: Vec<(CardExtent, f64)>,
}

impl WriteRun {
    /// A write run from `start` on, in which nothing was written yet.
    pub(super) fn new(start: u64) -> WriteRun {
        WriteRun { start, ends: Vec::new() }
    }

    /// Seconds until the last end.
    pub(super) fn seconds(&self) -> f64 {
        self.ends.last().map_or(0.0, |(_, end)| *end)
    }

    /// Bytes that were written.
    pub(super) fn bytes(&self) -> u64 {
        self.ends.iter().map(|(extent, _)| u64::from(extent.len)).sum()
    }

    /// Writes what was prepared, until all of it is written or the time is over; false where there is time for nothing
    /// that takes as long as the first extent.
    pub(super) fn write(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        all: &mut impl Iterator<Item = CardExtent>,
    ) -> Result<bool, ProbeStop> {
        if self.ends.is_empty() && !self.first(context, all)? {
            return Ok(false);
        }
        // What the time cuts off says nothing, since only whole units count: a slow range must not take minutes.
        let (before, left) = (self.seconds(), context.seconds_left());
        context
            .stream_for(IoDirection::Write, left, all, |extent, at| self.ends.push((extent, before + at)))?;
        Ok(true)
    }

    /// The first extent by itself; false where there is no time for several that take as long.
    fn first(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        all: &mut impl Iterator<Item = CardExtent>,
    ) -> Result<bool, ProbeStop> {
        let Some(extent) = all.next().filter(|_| context.has_time(0.0)) else { return Ok(false) };
        let began = context.seconds();
        let time = context.write(extent)?;
        self.ends.extend(time.map(|time| (extent, time)));
        let took = context.seconds() - began;
        Ok(context.has_time(took * f64::from(DEPTH)))
    }

    /// The write run without what its first write took longer than the others: each is a recording that begins, and
    /// the card may still tidy up what was written elsewhere (Physical Layer Specification 4.13.2, 4.13.4: 1 s is
    /// allowed).
    pub(super) fn excused(mut self) -> WriteRun {
        let times: Vec<f64> = self.times().collect();
        let usual = median(&times).unwrap_or(0.0);
        let excess = times.first().map_or(0.0, |t| (t - usual).clamp(0.0, PREPARATION));
        self.ends.iter_mut().for_each(|(_, end)| *end -= excess);
        self
    }

    /// Seconds from end to end.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> {
        let befores = [0.0].into_iter().chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(befores).map(|((_, end), before)| end - before)
    }
}
