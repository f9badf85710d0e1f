//! Writes range after range until the end of the card, a proven fault, or the limits.
//!
//! Failed extents are written again as a whole, for cards that fail occasionally, and in parts, for cards with bad
//! places. A command that hits one bad place fails as a whole, so the good data around it needs commands of its
//! own.

use super::pass_verdict::WriteEnd;
use super::samples::{ReadSample, SAMPLE_BYTES, random_place, read_samples};
use super::{FullPass, GENERATION};
use crate::probe::Result;
use cardscope_engine::io_driver::{CardExtent, split_extents};
use cardscope_model::random::{SeededRandom, mix_bits};
use cardscope_model::units::{DecimalSize, SpeedMbS, nanos_to_seconds};
use cardscope_model::verify::SectorFound;
use cardscope_probing::reading::{RetryDepth, read_judged};
use std::cell::Cell;

pub const WRITING: &str = "writing every block";

/// Bytes that are read at the start to estimate the read speed for the plan and the budget.
const FIRST_READ: u64 = 16 << 20;

/// Share of the time budget for writes until the read speed is measured.
const UNKNOWN_READS_SHARE: f64 = 0.4;

/// Additional attempts per failed extent, if at most this many failed.
const MAX_RETRIES: u32 = 4;
const MAX_RETRIED: usize = 16;

/// Bytes of a part, as bad places are pages and blocks.
const PART_BYTES: u32 = 64 << 10;

impl FullPass<'_, '_> {
    /// Writes the card in order. `places` are the sentinels; `written` is called with the bytes on the card.
    pub(super) fn write_all(&mut self, places: &[CardExtent], written: &mut dyn FnMut(u64)) -> Result<()> {
        let cut = self.sample_checker.cut;
        let first = self.settings.resumed_at / cut.bytes;
        let count = self.evidence.card_bytes.div_ceil(cut.bytes);
        self.events.begin_stage(WRITING, Some(self.evidence.card_bytes), None);
        for index in first..count {
            let (from, to) = cut.range(index);
            let from = from.max(self.settings.resumed_at);
            let to = self.allowed_end(from, to);
            if from < to {
                let to = self.write_range(from, to)?;
                self.evidence.written = to;
                written(to);
            }
            if self.evidence.written < cut.range(index).1 || self.evidence.write_end.is_some() {
                break;
            }
            if index == first {
                self.announce_plan(from, to)?;
            }
            if !self.settings.two_passes {
                let bad = self.sample_checker.check_samples(self.card, index)?;
                let places_of_bad = bad.iter().map(|sample| sample.extent);
                places_of_bad.for_each(|place| drop(self.misread.add(place.offset, place.end())));
                self.evidence.write_end = match self.confirm_bad_samples(&bad)? {
                    Some(WriteEnd::EndsAt(_)) if !self.is_end_certain(places)? => None,
                    other => other,
                };
                if let (Some(address), false) = (self.lowest_lost, self.loss_reported) {
                    self.loss_reported = true;
                    self.events.report_note(&format!(
                        "data is lost at {}; writing continues until the cause is certain",
                        DecimalSize(address)
                    ));
                }
            }
            if self.evidence.write_end.is_some() {
                break;
            }
        }
        self.report_end();
        Ok(())
    }

    fn report_end(&mut self) {
        let written = DecimalSize(self.evidence.written);
        let text = match self.evidence.write_end {
            Some(WriteEnd::AddressesRepeat) => format!(
                "writing ends after {written}: the first addresses hold what was written to later ones. All that was \
                 written is read"
            ),
            Some(WriteEnd::EndsAt(end)) => format!(
                "writing ends after {written}: the card keeps nothing beyond {}. All that was written is read",
                DecimalSize(end)
            ),
            Some(WriteEnd::RefusesWrites) => format!(
                "writing ends after {written}: the card refuses every further write. All of it is read"
            ),
            None if self.evidence.written < self.evidence.card_bytes => {
                format!("the limit ends writing after {written}; that much is read back")
            }
            None => return,
        };
        self.events.report_note(&text);
        self.remarks.push(text);
    }

    /// End of the part of a range that the limits allow.
    fn allowed_end(&mut self, from: u64, to: u64) -> u64 {
        let sector = u64::from(self.card.sector());
        let left = self.remaining_sequential_bytes() / sector * sector;
        // Time to read back everything written so far, plus a tenth.
        let reading = self.read_mb_s.map_or(0.0, |mb_s| from as f64 / 1e6 / mb_s * 1.1);
        let needed = self.card.seconds() - self.began + reading;
        match self.settings.budget_s {
            Some(budget) if needed >= budget => from,
            _ => from.saturating_add(left).min(to),
        }
    }

    /// Writes a range, or the part that the budget allows, and returns its end.
    fn write_range(&mut self, from: u64, to: u64) -> Result<u64> {
        let over = Cell::new(false);
        // Until the read speed is measured, part of the time is reserved for reading.
        let share = if self.read_mb_s.is_some() { 1.0 } else { UNKNOWN_READS_SHARE };
        let until = self.settings.budget_s.map(|budget| self.began + budget * share);
        let content = self.stamps_of(GENERATION).content();
        let (chart, events, taken_to) = (&mut self.chart, &mut *self.events, &mut self.evidence.accepted_to);
        chart.write.resume(self.card.now());
        let mut failed: Vec<CardExtent> = Vec::new();
        let mut reached = from;
        let block = self.card.block();
        let list = split_extents(from, to, block).take_while(|_| !over.get());
        self.card.write(list, content, |extent, at, io_error| {
            over.set(until.is_some_and(|until| nanos_to_seconds(at) >= until));
            match io_error {
                None => {
                    chart.write.add_completed(extent.offset, u64::from(extent.len), at);
                    *taken_to = extent.end().max(*taken_to);
                }
                Some(_) => {
                    chart.add_error(extent.offset);
                    failed.push(extent);
                }
            }
            reached = reached.max(extent.end());
            events.report_bytes(reached);
        })?;
        let all = failed.len() as u64 >= (to - from).div_ceil(u64::from(block)) && failed.len() > 1;
        if !self.write_failed_again(&failed)? && all {
            self.evidence.write_end = Some(WriteEnd::RefusesWrites);
        }
        self.card.flush()?;
        Ok(reached)
    }

    /// Reads the first MiBs back to measure the read speed, and announces the plan.
    fn announce_plan(&mut self, from: u64, to: u64) -> Result<()> {
        let end = to.min(from + FIRST_READ);
        let (began, block, stamped) = (self.card.seconds(), self.card.block(), self.expected_stamps());
        let misread = &mut self.misread;
        read_judged(self.card, split_extents(from, end, block), stamped, |_, _, seen| {
            let bad = seen.iter().filter(|seen| seen.result != SectorFound::Expected);
            bad.for_each(|seen| drop(misread.add(seen.start, seen.end)));
        })?;
        let took = self.card.seconds() - began;
        let reads = (end - from) as f64 / 1e6 / took.max(1e-9);
        self.read_mb_s = Some(reads);
        let Some(writes) = self.chart.write.mb_s() else { return Ok(()) };
        let left = self.settings.max_write.unwrap_or(u64::MAX).min(self.evidence.card_bytes - to);
        let seconds = left as f64 / 1e6 / writes + (to + left) as f64 / 1e6 / reads;
        let write = format!("{} to write at {}", DecimalSize(left), SpeedMbS(writes));
        let read = format!("{} to read at {}", DecimalSize(to + left), SpeedMbS(reads));
        self.events.report_note(&format!("plan: {write} and {read}, about {}", format_duration(seconds)));
        Ok(())
    }

    /// Writes failed extents again. Returns true if the card accepted any part.
    fn write_failed_again(&mut self, failed: &[CardExtent]) -> Result<bool> {
        let tries = if failed.len() <= MAX_RETRIED { MAX_RETRIES } else { 0 };
        let mut took_any = false;
        for extent in failed {
            let mut took = false;
            for _ in 0..tries {
                took = took || self.write_once(*extent)?;
            }
            took_any |= took || self.write_parts(*extent)?;
        }
        Ok(took_any)
    }

    /// Writes the parts of an extent, until the time for failing ones is used up.
    fn write_parts(&mut self, extent: CardExtent) -> Result<bool> {
        let mut took_any = false;
        let mut ends_here = true;
        for part in split_extents(extent.offset, extent.end(), PART_BYTES) {
            let began = self.card.seconds();
            if !self.patience.has_time(RetryDepth::Coarse) || !self.has_time(0.0) {
                break;
            }
            // At the first failing part everything before the bad sector is still written.
            let took = self.write_once(part)? || std::mem::take(&mut ends_here) && self.write_start(part)?;
            took_any |= took;
            self.patience.charge(RetryDepth::Coarse, self.card.seconds() - began, took);
        }
        Ok(took_any)
    }

    /// Writes the sectors at the start of an extent up to the first failing one, found by bisection.
    fn write_start(&mut self, extent: CardExtent) -> Result<bool> {
        let (mut start, mut end, sector) = (extent.offset, extent.end(), u64::from(self.card.sector()));
        let mut took_any = false;
        while start < end {
            let len = ((end - start) / 2 / sector * sector).max(sector).min(end - start);
            if self.write_once(CardExtent { offset: start, len: len as u32 })? {
                took_any = true;
                start += len;
            } else {
                end = if len > sector { start + len } else { start };
            }
        }
        Ok(took_any)
    }

    /// Writes an extent if the limits allow it, and returns true if it succeeded.
    fn write_once(&mut self, extent: CardExtent) -> Result<bool> {
        if self.remaining_sequential_bytes() < u64::from(extent.len) {
            return Ok(false);
        }
        let mut took = false;
        let content = self.expected_stamps().content();
        self.card.write([extent], content, |_, _, io_error| took = io_error.is_none())?;
        if took {
            self.evidence.accepted_to = extent.end().max(self.evidence.accepted_to);
        }
        Ok(took)
    }
}

fn format_duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 90.0 => format!("{:.0} min", s / 60.0),
        s => format!("{s:.0} s"),
    }
}

/// Samples on each side of a suspected end.
const SAMPLES: u64 = 64;

const MAX_STEPS: u32 = 4;

/// Length of a lost range, in ranges, before writing stops.
const MIN_LOST_RANGES: u64 = 4;

impl FullPass<'_, '_> {
    /// Rereads bad samples, and returns the reason to stop writing if it is certain.
    pub(super) fn confirm_bad_samples(&mut self, bad: &[ReadSample]) -> Result<Option<WriteEnd>> {
        if bad.is_empty() {
            return Ok(None);
        }
        self.card.reopen()?;
        let mut again = read_samples(self.card, bad.iter().map(|s| s.extent), self.expected_stamps())?;
        again.retain(|sample| !sample.is_good());
        let lost = |s: &&ReadSample| !matches!(s.found, SectorFound::Flipped { .. });
        let lowest = again.iter().filter(lost).map(|s| s.extent.offset).min();
        self.lowest_lost = [self.lowest_lost, lowest].into_iter().flatten().min();
        if again.iter().any(is_from_later) && self.is_start_overwritten()? {
            return Ok(Some(WriteEnd::AddressesRepeat));
        }
        match self.lowest_lost {
            Some(from) => self.confirm_end(from),
            None => Ok(None),
        }
    }

    /// True if the first addresses hold data of later ones. Lost blocks that show data of others do not prove a
    /// repetition, and the first blocks are not lost.
    fn is_start_overwritten(&mut self) -> Result<bool> {
        let first = self.sample_checker.cut.range(0).1.min(self.evidence.written);
        let len = u64::from(self.card.block()).min(first).min(4096) as u32;
        let list = [0, 4096, 8192].map(|offset| CardExtent { offset, len });
        let list = list.into_iter().filter(|p| p.end() <= first);
        let samples = read_samples(self.card, list, self.expected_stamps())?;
        Ok(!samples.is_empty() && samples.iter().all(is_from_later))
    }

    /// Tests whether everything from about `from` on is lost, apart from a cache's content, and everything below is
    /// intact.
    fn confirm_end(&mut self, mut from: u64) -> Result<Option<WriteEnd>> {
        let (written, stamped) = (self.evidence.written, self.expected_stamps());
        if written.saturating_sub(from) < MIN_LOST_RANGES * self.sample_checker.cut.bytes {
            return Ok(None);
        }
        let mut random = SeededRandom::new(mix_bits(stamped.salt ^ written));
        let mut spread = |from: u64, to: u64| -> Vec<CardExtent> {
            let part = ((to - from) / SAMPLES).next_multiple_of(SAMPLE_BYTES).max(SAMPLE_BYTES);
            let starts = (from..to).step_by(part as usize);
            starts.map(|start| random_place(start, (start + part).min(to), &mut random)).collect()
        };
        for _ in 0..MAX_STEPS {
            let older = from + (written - from) / 2 / SAMPLE_BYTES * SAMPLE_BYTES;
            let beyond = read_samples(self.card, spread(from, older), stamped)?;
            let bad = beyond.iter().filter(|s| !s.is_good()).count();
            if bad * 10 < beyond.len() * 9 {
                return Ok(None);
            }
            if from == 0 {
                return Ok(Some(WriteEnd::EndsAt(0)));
            }
            let below = read_samples(self.card, spread(0, from), stamped)?;
            let bad = below.iter().filter(|s| !s.is_good());
            // Samples are coarse, so the end may lie slightly below the lowest bad one.
            if bad.clone().count() * 20 <= below.len() {
                return Ok(Some(WriteEnd::EndsAt(from)));
            }
            from = bad.map(|s| s.extent.offset).min().unwrap_or_default();
        }
        Ok(None)
    }
}

fn is_from_later(sample: &ReadSample) -> bool {
    matches!(sample.found, SectorFound::Elsewhere { address } if address > sample.extent.offset)
}
