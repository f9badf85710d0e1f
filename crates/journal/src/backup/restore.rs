//! Restores an image: writes it, reopens the card, reads it again and compares.
//!
//! Another card may have been inserted meanwhile, which must not be written to. So the device is reopened first, which
//! fails if the kernel noticed another medium; the card's identity is read again; and blocks that the test did not
//! write are compared with the image.

use super::checksums::{CHUNK, UnreadRange};
use super::{CardImage, DEPTH, RESTORING};
use crate::restoring::{ComparedSectors, ReadShape, RestoreResult, differing_sectors, misaligned_requests};
use crate::survey::single_read_plan;
use crate::{JournalFailure, Result};
use cardscope_engine::byte_ranges::ByteRanges;

use cardscope_engine::content::IoContent;
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::SavedRange;
use cardscope_engine::target::Target;
use cardscope_model::units::Nanos;
use std::borrow::Cow;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Blocks that are compared to recognize the card.
const SAMPLES: usize = 16;

/// Longest time to finish I/Os of the stopped test: the kernel's own limit of a command (SD_TIMEOUT, scsi/sd.h).
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of such a block.
const SAMPLE_BYTES: u32 = 4096;

/// Range of the image: one chunk with its checksum, or a run of zeros without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ImageRange {
    start: u64,
    end: u64,
    crc: Option<u32>,
}

impl CardImage {
    /// Restores the image to its own card and compares. Ctrl-C does not stop this, because the card's content would be
    /// lost; a second Ctrl-C ends the program and leaves the image. `key_now` is the identity that the card has now.
    pub fn restore_to_own_card(
        self,
        target: &mut dyn Target,
        key_now: Option<&str>,
        events: &mut dyn Listener,
    ) -> Result<RestoreResult> {
        let own = InterruptFlag::default();
        let checked = self.check_same_card(target, key_now, &own);
        checked
            .map_err(|error| JournalFailure::io_for(format!("{error}; {}", self.restore_hint()), error))?;
        self.restore_to(target, &own, events)
    }

    /// Writes the image to any card, as far as both reach, and compares. Ends when the interrupt is raised.
    pub fn restore_to(
        &self,
        target: &mut dyn Target,
        interrupt: &InterruptFlag,
        events: &mut dyn Listener,
    ) -> Result<RestoreResult> {
        let mut card = IoDriver::new(target, interrupt, CHUNK, DEPTH).map_err(|s| self.to_error(s))?;
        self.write_and_compare(&mut card, events).map_err(|s| self.to_error(s))
    }

    fn to_error(&self, stop: ProbeStop) -> JournalFailure {
        match stop {
            ProbeStop::Interrupted => JournalFailure::Stop(stop),
            other => JournalFailure::io_for(format!("{other}; {}", self.restore_hint()), other),
        }
    }

    fn write_and_compare(
        &self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<RestoreResult, ProbeStop> {
        let mut result = RestoreResult::default();
        events.restoring_stage(RESTORING, card.bytes());
        events.begin_part(0.0..0.5, "writing", Some(card.bytes()), None);
        let mut progress = ByteProgress::default();
        for part in self.ranges(card.bytes()) {
            card.check_interrupt()?;
            self.write_range(card, part, &mut result, &mut progress, events)?;
        }
        card.flush()?;
        card.reopen()?;
        events.begin_part(0.5..1.0, "comparing", Some(card.bytes()), None);
        let (mut progress, mut first) = (ByteProgress::default(), ComparedSectors::default());
        for part in self.ranges(card.bytes()) {
            self.compare_range(card, part, ReadShape::Misaligned, &mut first, &mut |extent, _| {
                progress.add(u64::from(extent.len), events);
            })?;
        }
        if !first.is_empty() {
            self.compare_again(card, first, &mut result)?;
        }
        for UnreadRange { offset, len, reason } in &self.sums.unread {
            let why = format!("unreadable when the image was taken: {reason}");
            result.unreadable.push((SavedRange { offset: *offset, len: *len }, why));
        }
        result.counts = card.counts();
        result.io_errors = card.io_errors().to_vec();
        Ok(result)
    }

    /// Ranges of the image below `most` bytes, with adjacent zero chunks merged.
    fn ranges(&self, most: u64) -> impl Iterator<Item = ImageRange> {
        let end = self.sums.about.bytes.min(most);
        let mut at = 0;
        self.sums.chunks.chunk_by(|a, b| a.is_none() && b.is_none()).map_while(move |run| {
            let start = at;
            at = (at + run.len() as u64 * u64::from(CHUNK)).min(end);
            (start < at).then_some(ImageRange { start, end: at, crc: run[0] })
        })
    }

    fn write_range(
        &self,
        card: &mut IoDriver<'_>,
        part: ImageRange,
        result: &mut RestoreResult,
        progress: &mut ByteProgress,
        events: &mut dyn Listener,
    ) -> Result<(), ProbeStop> {
        let ImageRange { start, end, crc } = part;
        let Some(crc) = crc else {
            // Whatever the card does not accept shows in the comparison.
            card.write(split_extents(start, end, CHUNK), IoContent::Constant(0), |extent, _, _| {
                progress.add(u64::from(extent.len), events);
            })?;
            result.bytes += end - start;
            return Ok(());
        };
        match self.verified_chunk(start, end, crc) {
            Ok(bytes) => {
                for (from, to) in self.readable_parts(start, end) {
                    card.restore_bytes(from, &bytes[(from - start) as usize..(to - start) as usize])?;
                    result.bytes += to - from;
                }
                progress.add(end - start, events);
            }
            Err(why) => result.unreadable.push((SavedRange { offset: start, len: end - start }, why)),
        }
        Ok(())
    }

    /// Compares chunks with losses again, in the requests that wrote them: one comparison alone does not prove a loss.
    fn compare_again(
        &self,
        card: &mut IoDriver<'_>,
        mut first: ComparedSectors,
        result: &mut RestoreResult,
    ) -> Result<(), ProbeStop> {
        first.merge_and_sort();
        card.reopen()?;
        let (mut second, mut next, chunk) = (ComparedSectors::default(), 0, u64::from(CHUNK));
        for range in &first.missing {
            let chunks = range.offset / chunk..(range.offset + range.len).div_ceil(chunk);
            for number in chunks.start.max(next)..chunks.end {
                let start = number * chunk;
                let end = (start + chunk).min(self.sums.about.bytes).min(card.bytes());
                let part = ImageRange { start, end, crc: self.sums.chunks[number as usize] };
                self.compare_range(card, part, ReadShape::AsSaved, &mut second, &mut |_, _| ())?;
            }
            next = chunks.end;
        }
        second.merge_and_sort();
        result.set_losses(&first, &second);
        Ok(())
    }

    /// Compares a range of the card with the image and skips chunks that are damaged in it. Calls `each` after every
    /// request, with its end time.
    fn compare_range(
        &self,
        card: &mut IoDriver<'_>,
        ImageRange { start, end, crc }: ImageRange,
        shape: ReadShape,
        compared: &mut ComparedSectors,
        each: &mut dyn FnMut(CardExtent, Nanos),
    ) -> Result<(), ProbeStop> {
        let Ok(chunk) = crc.map(|crc| self.verified_chunk(start, end, crc)).transpose() else {
            return Ok(());
        };
        let expected = if chunk.is_some() { IoContent::Buffer } else { IoContent::Constant(0) };
        let wanted = |extent: CardExtent| match &chunk {
            Some(chunk) => Cow::Borrowed(&chunk[(extent.offset - start) as usize..][..extent.len as usize]),
            None => Cow::Owned(vec![0; extent.len as usize]),
        };
        for (from, to) in self.readable_parts(start, end) {
            let requests: &mut dyn Iterator<Item = CardExtent> = match shape {
                ReadShape::AsSaved => &mut split_extents(from, to, CHUNK),
                ReadShape::Misaligned => &mut misaligned_requests(from, to, u64::from(CHUNK)),
            };
            card.read(requests, expected, |extent, at, answer| {
                match answer {
                    ReadAnswer::Same => {}
                    ReadAnswer::Differs { bytes, .. } => {
                        let wanted = wanted(extent);
                        let sectors = differing_sectors(extent.offset, &wanted, bytes);
                        compared.add_unequal(extent.offset, &wanted, sectors);
                    }
                    ReadAnswer::Failed(_) => compared.add_failed(extent.offset, &wanted(extent)),
                }
                each(extent, at);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Reads and verifies a whole chunk, cut to the size of the card.
    fn verified_chunk(&self, start: u64, end: u64, crc: u32) -> Result<Vec<u8>, String> {
        let whole = (start + u64::from(CHUNK)).min(self.sums.about.bytes);
        let mut bytes = self.read_range(start, whole).map_err(|e| e.to_string())?;
        if crc32c::crc32c(&bytes) != crc {
            return Err("damaged in the image (wrong checksum)".to_owned());
        }
        bytes.truncate((end - start) as usize);
        Ok(bytes)
    }

    /// Parts of a range that were readable when the image was taken.
    fn readable_parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut unread = ByteRanges::default();
        for UnreadRange { offset, len, .. } in &self.sums.unread {
            unread.add(*offset, offset + len);
        }
        unread.missing(start, end)
    }

    fn read_range(&self, start: u64, end: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = vec![0; (end - start) as usize];
        self.image.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    }

    /// Refuses any card but the one in the image, before anything is written.
    fn check_same_card(
        &self,
        target: &mut dyn Target,
        key_now: Option<&str>,
        interrupt: &InterruptFlag,
    ) -> Result<()> {
        let (name, bytes) = (target.info().name.clone(), target.info().bytes);
        let another = |why: &str| {
            let text = format!("{name} is not the saved card ({why}); nothing was restored to it");
            JournalFailure::Io(text.into())
        };
        if bytes != self.sums.about.bytes {
            return Err(another("it has another size"));
        }
        let was = self.sums.about.card_key.as_deref();
        if key_now.is_some_and(|is| was.is_some_and(|was| was != is)) {
            return Err(another("another identity"));
        }
        drain_in_flight(target);
        let mut card = IoDriver::new(target, interrupt, SAMPLE_BYTES, 1)?;
        card.reopen()?;
        let (same, other) = self.count_matches(&mut card)?;
        // Most blocks are enough, because a defective card that loses some data is still the same card.
        if other > same { Err(another("its untouched data differs")) } else { Ok(()) }
    }

    /// Counts blocks outside of the overwritten range that match the image, and those that differ.
    fn count_matches(&self, card: &mut IoDriver<'_>) -> Result<(usize, usize), ProbeStop> {
        let places = self.untouched_chunks();
        let step = places.len().div_ceil(SAMPLES).max(1);
        let (mut same, mut other) = (0, 0);
        for start in places.into_iter().step_by(step) {
            let end = (start + u64::from(SAMPLE_BYTES)).min(self.sums.about.bytes);
            let Ok(wanted) = self.read_range(start, end) else { continue };
            card.read(split_extents(start, end, SAMPLE_BYTES), IoContent::Buffer, |_, _, answer| {
                match answer {
                    ReadAnswer::Differs { bytes, .. } if *bytes == wanted[..] => same += 1,
                    ReadAnswer::Differs { .. } => other += 1,
                    ReadAnswer::Same | ReadAnswer::Failed(_) => {}
                }
                Ok(())
            })?;
        }
        Ok((same, other))
    }

    /// Starts of chunks with data that the test did not write.
    fn untouched_chunks(&self) -> Vec<u64> {
        let Some((from, to)) = self.overwritten else { return Vec::new() };
        let held = self.sums.chunks.iter().zip((0..).step_by(CHUNK as usize));
        let whole = held.filter(|(crc, _)| crc.is_some()).map(|(_, start)| start);
        whole.filter(|start| start + u64::from(CHUNK) <= from || *start >= to).collect()
    }
}

/// Collects I/Os that an interrupted test left in flight. Waits no longer than the kernel does, and not at all for a
/// card that is gone.
fn drain_in_flight(target: &mut dyn Target) {
    let plan = single_read_plan(SAMPLE_BYTES);
    let until = Instant::now() + DRAIN_TIMEOUT;
    let mut done = Vec::new();
    while target.plan(&plan).is_err_and(|error| !error.is_final()) && Instant::now() < until {
        let _ = target.complete(1, &mut done);
        std::thread::sleep(Duration::from_millis(1));
    }
}
