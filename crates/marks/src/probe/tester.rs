//! Shared by all tests of marks: the card's layout, and writing that keeps to a time limit on a card of any speed.
//! I/Os in flight cannot be cancelled, so the first of many writes is timed alone, and only as many follow as fit.

use super::options::MarkOptions;
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_engine::target::IoDirection;
use cardscope_model::mark_result::{FailedEvidence, MarksMeasured};
use cardscope_model::statistics::median;
use cardscope_model::units::{GIB, MIB};
use cardscope_probing::context::ProbeContext;

/// Allocation unit if none is stated: the usual one of SDHC cards, and a divisor of those of larger cards.
const USUAL_UNIT: u64 = 4 * MIB;

/// Speed unit if none is stated: the one that most speed units are multiples of.
const USUAL_SPEED_UNIT: u64 = 8 * MIB;

/// Writes in flight. One waits while another is in flight, so that the bus is always busy, as the specification
/// demands.
pub(super) const DEPTH: u32 = 2;

/// Seconds by which the first write of a recording may be slower.
const PREPARATION: f64 = 1.0;

/// Card, options and results, shared by all tests of marks.
pub(super) struct MarkTester<'b, 's, 't> {
    pub(super) context: &'b mut ProbeContext<'s, 't>,
    pub(super) options: &'b MarkOptions,
    pub(super) into: &'b mut MarksMeasured,
    pub(super) family: CapacityFamily,
    pub(super) cut: MarkAreas,
    /// True if timed reads reach the card.
    pub(super) readable: bool,
}

impl MarkTester<'_, '_, '_> {
    /// Runs a test and counts its failed I/Os in one of the fields of [`FailedEvidence`].
    pub(super) fn counting_failures(
        &mut self,
        noted: fn(&mut FailedEvidence) -> &mut u64,
        part: impl FnOnce(&mut Self) -> Result<(), ProbeStop>,
    ) -> Result<(), ProbeStop> {
        let before = self.context.counts().failed();
        let ended = part(self);
        *noted(&mut self.into.failed_ios) += self.context.counts().failed() - before;
        ended
    }

    /// Reports a test that was left out, with the reason.
    pub(super) fn report_skipped(&mut self, what: impl Into<String>) {
        self.into.left_out.push(what.into());
    }

    /// Random offset for `bytes`, aligned to `align` from the start of the region.
    pub(super) fn random_offset(&mut self, bytes: u64, align: u64) -> u64 {
        let region = self.context.region;
        region.start + self.context.random.below((region.len - bytes) / align + 1) * align
    }

    /// Random offset for `bytes` at the start of an allocation unit.
    pub(super) fn random_unit(&mut self, bytes: u64) -> u64 {
        let (MarkAreas { unit, origin, .. }, region) = (self.cut, self.context.region);
        let first = (region.start - origin).div_ceil(unit);
        let last = (region.end() - origin - bytes) / unit;
        origin + (first + self.context.random.below(last.saturating_sub(first) + 1)) * unit
    }
}

/// Sizes and alignment of the areas to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkAreas {
    /// Allocation unit in bytes.
    pub(super) unit: u64,
    /// Bytes by which video classes are judged.
    pub(super) speed_unit: u64,
    /// Bytes written in one go: whole allocation units, at least a speed unit.
    pub(super) range: u64,
    /// Address from which allocation units are counted.
    pub(super) origin: u64,
}

impl MarkAreas {
    /// Derives the sizes; `None` if not even two ranges fit.
    pub(super) fn from_options(
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
            let (len, needed) = (context.region.len, 2 * range);
            let why = format!("{len} bytes are available, and whole allocation units need {needed}");
            into.left_out.push(format!("everything: {why}"));
            return None;
        }
        Some(MarkAreas { unit, speed_unit, range, origin })
    }
}

/// Capacity families, which differ in their recording units (Physical Layer Specification 4.13.1, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CapacityFamily {
    /// Up to 2 GB (SDSC).
    Standard,
    /// Up to 32 GB (SDHC).
    High,
    /// Larger cards (SDXC, SDUC).
    Extended,
}

impl CapacityFamily {
    pub(super) fn from_bytes(bytes: u64) -> CapacityFamily {
        match bytes {
            b if b <= 2 * GIB => CapacityFamily::Standard,
            b if b <= 32 * GIB => CapacityFamily::High,
            _ => CapacityFamily::Extended,
        }
    }
}

/// Written extents with their end in seconds since the first was submitted. Failed writes are not included.
pub(super) struct WriteRun {
    pub(super) start: u64,
    pub(super) ends: Vec<(CardExtent, f64)>,
}

impl WriteRun {
    pub(super) fn new(start: u64) -> WriteRun {
        WriteRun { start, ends: Vec::new() }
    }

    pub(super) fn seconds(&self) -> f64 {
        self.ends.last().map_or(0.0, |(_, end)| *end)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.ends.iter().map(|(extent, _)| u64::from(extent.len)).sum()
    }

    /// Writes extents until all are written or the time is up. Returns false if there is no time for several that take
    /// as long as the first.
    pub(super) fn write(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        all: &mut impl Iterator<Item = CardExtent>,
    ) -> Result<bool, ProbeStop> {
        if self.ends.is_empty() && !self.write_first(context, all)? {
            return Ok(false);
        }
        // The time may cut off a range: only whole units count, and one slow range must not take minutes.
        let (before, left) = (self.seconds(), context.seconds_left());
        let ended = |extent, at| self.ends.push((extent, before + at));
        context.stream_for(IoDirection::Write, left, all, ended)?;
        Ok(true)
    }

    /// Writes the first extent alone; returns false if there is no time for several that take as long.
    fn write_first(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        all: &mut impl Iterator<Item = CardExtent>,
    ) -> Result<bool, ProbeStop> {
        let Some(extent) = all.next().filter(|_| context.has_time(0.0)) else { return Ok(false) };
        let began = context.seconds();
        let time = context.time_write(extent)?;
        self.ends.extend(time.map(|time| (extent, time)));
        let took = context.seconds() - began;
        Ok(context.has_time(took * f64::from(DEPTH)))
    }

    /// Shortens the first write to the median of all, by a second at most. Each run begins a recording, for which the
    /// card may first clean up earlier writes (Physical Layer Specification 4.13.2, 4.13.4: 1 s is allowed).
    pub(super) fn without_startup(mut self) -> WriteRun {
        let times: Vec<f64> = self.end_intervals().collect();
        let usual = median(&times).unwrap_or(0.0);
        let excess = times.first().map_or(0.0, |t| (t - usual).clamp(0.0, PREPARATION));
        self.ends.iter_mut().for_each(|(_, end)| *end -= excess);
        self
    }

    /// Seconds between consecutive ends.
    pub(super) fn end_intervals(&self) -> impl Iterator<Item = f64> {
        let befores = [0.0].into_iter().chain(self.ends.iter().map(|(_, end)| *end));
        self.ends.iter().zip(befores).map(|((_, end), before)| end - before)
    }
}
