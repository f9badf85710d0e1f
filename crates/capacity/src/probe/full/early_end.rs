//! Confirms a fake from bad samples, so that writing can stop early. All reads are repeated with the card reopened
//! in between.

use super::pass::FullPass;
use super::pass_verdict::WriteEnd;
use super::samples::{ReadSample, SAMPLE_BYTES, random_place, read_samples};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::random::{SeededRandom, mix_bits};
use cardscope_model::verify::SectorFound;

/// Samples on each side of a suspected end.
const SAMPLES: u64 = 64;

/// Attempts to find the end below the lowest bad sample.
const MAX_STEPS: u32 = 4;

/// Length of a lost range, in ranges, before writing stops.
const MIN_LOST_RANGES: u64 = 4;

impl FullPass<'_, '_> {
    /// Rereads bad samples, and returns the reason to stop writing if it is certain.
    pub(super) fn confirm_bad_samples(&mut self, bad: &[ReadSample]) -> Result<Option<WriteEnd>, ProbeStop> {
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
    fn is_start_overwritten(&mut self) -> Result<bool, ProbeStop> {
        let first = self.sample_checker.cut.range(0).1.min(self.evidence.written);
        let len = u64::from(self.card.block()).min(first).min(4096) as u32;
        let list = [0, 4096, 8192].map(|offset| CardExtent { offset, len });
        let list = list.into_iter().filter(|p| p.end() <= first);
        let samples = read_samples(self.card, list, self.expected_stamps())?;
        Ok(!samples.is_empty() && samples.iter().all(is_from_later))
    }

    /// Tests whether everything from about `from` on is lost, apart from a cache's content, and everything below is
    /// intact.
    fn confirm_end(&mut self, mut from: u64) -> Result<Option<WriteEnd>, ProbeStop> {
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
            let below =
                if from > 0 { read_samples(self.card, spread(0, from), stamped)? } else { Vec::new() };
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
