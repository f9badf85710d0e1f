//! Restores the data in a [`JournalWriter`], then reopens the card, reads everything and compares.
//!
//! On a fake card two addresses may lead to one place, which must end with its oldest content
//! (docs/reference/flash.md#preserving-the-data). Such a second address is recognized by the data saved from it: the
//! probe's own stamps, written through the first address. Those ranges are written first, newest batch first, together
//! with ranges that were saved twice. All others are written by address, so that the card handles one erase block after
//! the other. If anything is missing after that, everything is written once more, newest batch first, which is right on
//! any fake but slow.
//!
//! The comparison reads in requests that differ in size, alignment and order from those that saved the data: a reader
//! that answers some requests wrongly would otherwise agree with itself.

use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::{IoContent, constant_byte, read_stamp, read_stamp_header};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::{JournalError, JournalWriter, RestoreProgress, SavedRange};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::verify::{IoCounts, IoError};
use std::ops::Range;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreResult {
    /// Bytes written back.
    pub bytes: u64,
    /// Ranges that the card did not keep.
    pub lost: Vec<SavedRange>,
    /// Lost ranges whose original was real data. On most fakes, addresses without memory read as one repeated byte,
    /// which is no data.
    pub lost_data: Vec<SavedRange>,
    /// Ranges that matched in requests of one size and differed in requests of another.
    pub doubtful: Vec<SavedRange>,
    /// Ranges whose original is unreadable, with the reason.
    pub unreadable: Vec<(SavedRange, String)>,
    /// Bytes lost in the first attempt, before everything was written once more.
    pub lost_at_first: u64,
    pub counts: IoCounts,
    /// First I/Os that failed, including those that succeeded when repeated.
    pub io_errors: Vec<IoError>,
}

impl RestoreResult {
    /// Sets the losses from two comparisons with different requests: only what is missing in both is lost.
    pub(crate) fn set_losses(&mut self, first: &ComparedSectors, second: &ComparedSectors) {
        self.lost = ranges_intersection(&first.missing, &second.missing);
        self.lost_data = ranges_intersection(&first.data, &second.data);
        self.doubtful = ranges_difference(&first.unequal, &second.missing);
    }

    pub fn lost_bytes(&self) -> u64 {
        self.lost.iter().map(|range| range.len).sum()
    }

    pub fn unreadable_bytes(&self) -> u64 {
        self.unreadable.iter().map(|(range, _)| range.len).sum()
    }

    /// Ranges that may differ from their original, in order. Beyond `usable` bytes a fake keeps nothing, so only real
    /// data counts there.
    pub fn may_have_changed(&self, usable: Option<u64>) -> Vec<SavedRange> {
        let usable = usable.unwrap_or(u64::MAX);
        let below = self.lost.iter().filter(|range| range.offset < usable);
        let beyond = self.lost_data.iter().filter(|range| range.offset >= usable);
        let unreadable = self.unreadable.iter().map(|(range, _)| range);
        merged_ranges(below.chain(beyond).chain(&self.doubtful).chain(unreadable).copied())
    }

    pub fn finding(&self, changed: &[SavedRange]) -> Option<Finding> {
        let first = changed.first()?.offset;
        let doubtful: u64 = self.doubtful.iter().map(|range| range.len).sum();
        let text = match self.lost.is_empty() && self.unreadable.is_empty() {
            false => "The card's data could not be fully restored.",
            true => "Restored data reads differently in requests of another size.",
        };
        let finding = Finding::new("not-put-back", FindingWeight::Bad, 1.0, text)
            .because("bytes lost by the card", self.lost_bytes())
            .because("bytes unreadable in what was saved", self.unreadable_bytes())
            .because("first address", first);
        Some(if doubtful > 0 { finding.because("bytes read differently", doubtful) } else { finding })
    }
}

pub const RESTORING: &str = "restoring";

/// Shares of the restoring stage: reading the journal, writing, comparing.
const READING: Range<f64> = 0.0..0.1;
const WRITING: Range<f64> = 0.1..0.6;
const COMPARING: Range<f64> = 0.6..1.0;

/// Smallest unit in which data is lost.
const SECTOR: u64 = 512;

/// Bytes of a request that compares. Requests begin at odd multiples of [`ALIGN_STEP`], so none matches a request that saved.
const COMPARE_BYTES: u64 = 508 << 10;
const ALIGN_STEP: u64 = 4096;

/// Bytes of a request when a larger one failed.
const RETRY_BYTES: usize = 1 << 20;

/// Originals kept in memory while comparing: each request in flight can touch two of them.
const CACHED_ORIGINALS: usize = 8;

/// Restores everything and compares. Unreadable originals are skipped and reported, and so is what the card does not
/// keep. May be repeated.
///
/// Stops when the card's interrupt is raised. To restore after Ctrl-C, pass a card with its own interrupt.
pub fn restore_from_journal(
    card: &mut IoDriver<'_>,
    journal: &mut dyn JournalWriter,
    events: &mut dyn Listener,
) -> Result<RestoreResult, ProbeStop> {
    let ranges = journal.saved_ranges();
    let bytes = ranges.iter().map(|range| range.len).sum();
    if bytes > 0 {
        events.restoring_stage(RESTORING, bytes);
    }
    let mut run = RestoreRun { card, journal, events, result: RestoreResult::default() };
    let order = run.restore_order(&ranges)?;
    // Recorded before the first write, after which overwritten places need not hold stamps any more.
    run.journal.record_restoring(RestoreProgress::Begun);
    run.write_all(&order)?;
    run.journal.record_restoring(RestoreProgress::Written);
    run.compare_twice(&ranges)?;
    // The order by address failed on this card. Newest batch first is right on any fake.
    if !run.result.lost.is_empty() {
        let lost_at_first = run.result.lost_bytes();
        run.result = RestoreResult { lost_at_first, ..RestoreResult::default() };
        run.write_all(&ranges)?;
        run.compare_twice(&ranges)?;
    }
    run.result.counts = run.card.counts();
    run.result.io_errors = run.card.io_errors().to_vec();
    Ok(run.result)
}

/// Compares the card with the journal without writing.
pub fn compare_with_journal(
    card: &mut IoDriver<'_>,
    journal: &mut dyn JournalWriter,
    events: &mut dyn Listener,
) -> Result<RestoreResult, ProbeStop> {
    let ranges = journal.saved_ranges();
    let mut run = RestoreRun { card, journal, events, result: RestoreResult::default() };
    run.compare_twice(&ranges)?;
    run.result.io_errors = run.card.io_errors().to_vec();
    Ok(run.result)
}

struct RestoreRun<'a, 't> {
    card: &'a mut IoDriver<'t>,
    journal: &'a mut dyn JournalWriter,
    events: &'a mut dyn Listener,
    result: RestoreResult,
}

impl RestoreRun<'_, '_> {
    /// Calls `each` for every range with its original and reports progress.
    fn for_each_original<'r>(
        &mut self,
        (part, what): (Range<f64>, &str),
        ranges: impl Iterator<Item = &'r SavedRange> + Clone,
        mut each: impl FnMut(&mut Self, SavedRange, Result<&[u8], JournalError>) -> Result<(), ProbeStop>,
    ) -> Result<(), ProbeStop> {
        let bytes = ranges.clone().map(|range| range.len).sum();
        self.events.begin_part(part, what, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let mut original = Vec::new();
        for range in ranges {
            let read = self.journal.read_original(*range, &mut original);
            each(self, *range, read.map(|()| original.as_slice()))?;
            progress.add(range.len, self.events);
        }
        Ok(())
    }

    /// Reopens the card and compares, twice where something is missing: one comparison alone proves neither loss nor
    /// success.
    fn compare_twice(&mut self, ranges: &[SavedRange]) -> Result<(), ProbeStop> {
        self.card.flush()?;
        self.card.reopen()?;
        let first = self.compare_ranges(ranges, ReadShape::Misaligned)?;
        if first.is_empty() {
            return Ok(());
        }
        self.card.reopen()?;
        let missing = byte_ranges(&first.missing);
        let mut doubted = ranges.to_vec();
        doubted.retain(|range| missing.intersects(range.offset, range.offset + range.len));
        let second = self.compare_ranges(&doubted, ReadShape::AsSaved)?;
        self.result.set_losses(&first, &second);
        Ok(())
    }

    /// Order in which `ranges`, newest batch first, are written.
    fn restore_order(&mut self, ranges: &[SavedRange]) -> Result<Vec<SavedRange>, ProbeStop> {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut covered = ByteRanges::default();
        let part = (READING, "reading the journal");
        self.for_each_original(part, ranges.iter().rev(), |run, range, original| {
            run.card.check_interrupt()?;
            let (start, end) = (range.offset, range.offset + range.len);
            let again = covered.add(start, end) != [(start, end)];
            // A read that fails now may succeed when the range is written.
            let is_first = again || original.map_or(true, |original| has_alias_header(start, original));
            if is_first {
                first.push(range)
            } else {
                others.push(range)
            }
            Ok(())
        })?;
        first.reverse();
        others.sort_by_key(|range| range.offset);
        first.append(&mut others);
        Ok(first)
    }

    fn write_all(&mut self, ranges: &[SavedRange]) -> Result<(), ProbeStop> {
        let mut joined = JoinedOriginals::default();
        self.for_each_original((WRITING, "writing"), ranges.iter(), |run, range, original| {
            run.card.check_interrupt()?;
            match original {
                Ok(original) => {
                    if !joined.can_append(range, run.card) {
                        run.write_joined(&mut joined)?;
                    }
                    joined.append(range, original);
                }
                Err(error) => run.result.unreadable.push((range, error.to_string())),
            }
            Ok(())
        })?;
        self.write_joined(&mut joined)
    }

    /// Writes the joined originals. Whatever the card does not accept shows in the comparison.
    fn write_joined(&mut self, joined: &mut JoinedOriginals) -> Result<(), ProbeStop> {
        let JoinedOriginals { start, originals } = std::mem::take(joined);
        let failed = self.card.restore_bytes(start, &originals)?;
        // One bad sector fails a whole request, so the rest is written in smaller ones.
        if !failed.is_empty() {
            for (at, part) in (start..).step_by(RETRY_BYTES).zip(originals.chunks(RETRY_BYTES)) {
                self.card.restore_bytes(at, part)?;
            }
        }
        self.result.bytes += originals.len() as u64;
        Ok(())
    }

    /// Compares `all` ranges, newest first, with the card.
    fn compare_ranges(&mut self, all: &[SavedRange], shape: ReadShape) -> Result<ComparedSectors, ProbeStop> {
        let known: Vec<SavedRange> = self.result.unreadable.iter().map(|(range, _)| *range).collect();
        let pieces = pieces_to_compare(all.iter().filter(|range| !known.contains(range)));
        let bytes = pieces.iter().map(|p| p.end - p.start).sum();
        self.events.begin_part(COMPARING, "comparing", Some(bytes), None);
        let mut progress = ByteProgress::default();
        let requests = shape.requests(&pieces, self.card);
        let mut originals = OriginalBytes { journal: &mut *self.journal, read: Vec::new() };
        let (mut compared, mut failed) = (ComparedSectors::default(), Vec::new());
        let events = &mut *self.events;
        self.card.read(requests, IoContent::Buffer, |extent, _, answer| {
            let found = if let ReadAnswer::Differs { bytes, .. } = answer { Some(bytes) } else { None };
            for part in pieces_in(&pieces, extent) {
                match (found, originals.original_of(part)) {
                    (_, None) => {}
                    (Some(bytes), Some(wanted)) => {
                        let from = (part.start - extent.offset) as usize;
                        let found = &bytes[from..from + wanted.len()];
                        compared.add_unequal(part.start, wanted, changed_sectors(part.start, wanted, found));
                    }
                    (None, Some(_)) => failed.push(part),
                }
                progress.add(part.end - part.start, events);
            }
            Ok(())
        })?;
        // A request can fail because of a neighbouring range, so the failed parts are read alone.
        for part in failed {
            let extents = split_extents(part.start, part.end, self.card.block());
            self.card.read(extents, IoContent::Buffer, |extent, _, answer| {
                let start = extent.offset;
                let part = CardPiece { start, end: extent.end(), ..part };
                match (answer, originals.original_of(part)) {
                    (_, None) => {}
                    (ReadAnswer::Differs { bytes, .. }, Some(wanted)) => {
                        compared.add_unequal(start, wanted, changed_sectors(start, wanted, bytes));
                    }
                    (_, Some(wanted)) => compared.add_failed(start, wanted),
                }
                Ok(())
            })?;
        }
        let unreadable = originals.unreadable();
        self.result.unreadable.extend(unreadable);
        compared.merge_and_sort();
        Ok(compared)
    }
}

/// Originals of adjacent ranges, to be written in one request.
#[derive(Debug, Default)]
struct JoinedOriginals {
    start: u64,
    originals: Vec<u8>,
}

impl JoinedOriginals {
    fn can_append(&self, range: SavedRange, card: &IoDriver<'_>) -> bool {
        let bytes = self.originals.len() as u64;
        bytes == 0 || range.offset == self.start + bytes && bytes + range.len <= u64::from(card.block())
    }

    fn append(&mut self, range: SavedRange, original: &[u8]) {
        if self.originals.is_empty() {
            self.start = range.offset;
        }
        self.originals.extend_from_slice(original);
    }
}

/// Requests with which the card is read for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadShape {
    /// Single ranges by address, as they were saved.
    AsSaved,
    /// Other sizes and start offsets, last addresses first.
    Misaligned,
}

impl ReadShape {
    /// Requests that read `pieces`, which are in order.
    fn requests(self, pieces: &[CardPiece], card: &IoDriver<'_>) -> Vec<CardExtent> {
        let block = card.block();
        if self == ReadShape::AsSaved {
            return pieces.iter().flat_map(|piece| split_extents(piece.start, piece.end, block)).collect();
        }
        let most = COMPARE_BYTES.min(u64::from(block));
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for piece in pieces {
            match stretches.last_mut() {
                Some((_, end)) if *end == piece.start => *end = piece.end,
                _ => stretches.push((piece.start, piece.end)),
            }
        }
        let cut = |(start, end): (u64, u64)| {
            // A range that one request saved is read together with the block before it, or after it at the start of
            // the card.
            let from = start.saturating_sub(ALIGN_STEP);
            let to = if start < ALIGN_STEP { (end + ALIGN_STEP).min(card.bytes()) } else { end };
            match to - from <= most {
                true => vec![CardExtent { offset: from, len: (to - from) as u32 }],
                false => misaligned_requests(from, end, most).collect(),
            }
        };
        let mut requests: Vec<CardExtent> = stretches.into_iter().flat_map(cut).collect();
        requests.reverse();
        requests
    }
}

/// Splits a range into requests that match none of those that saved it, of at most `most` bytes.
pub(crate) fn misaligned_requests(start: u64, end: u64, most: u64) -> impl Iterator<Item = CardExtent> {
    let most = COMPARE_BYTES.min(most);
    let border = move |at: u64| {
        let behind = at.checked_sub(ALIGN_STEP).map_or(0, |from| from / most + 1);
        behind * most + ALIGN_STEP
    };
    let starts = std::iter::successors(Some(start), move |at| Some(border(*at)));
    let starts = starts.take_while(move |at| *at < end);
    starts.map(move |at| CardExtent { offset: at, len: (border(at).min(end) - at) as u32 })
}

/// Part of the card with the saved range that has its original.
#[derive(Debug, Clone, Copy)]
struct CardPiece {
    start: u64,
    end: u64,
    range: SavedRange,
}

/// Pieces to compare, in order. The oldest copy wins: of a range that was saved twice, the newer copy is test data.
fn pieces_to_compare<'r>(ranges: impl DoubleEndedIterator<Item = &'r SavedRange>) -> Vec<CardPiece> {
    let mut covered = ByteRanges::default();
    let mut all = Vec::new();
    for range in ranges.rev() {
        let fresh = covered.add(range.offset, range.offset + range.len);
        all.extend(fresh.into_iter().map(|(start, end)| CardPiece { start, end, range: *range }));
    }
    all.sort_unstable_by_key(|piece: &CardPiece| piece.start);
    all
}

fn pieces_in(pieces: &[CardPiece], extent: CardExtent) -> impl Iterator<Item = CardPiece> {
    let first = pieces.partition_point(|piece| piece.end <= extent.offset);
    let (from, to) = (extent.offset, extent.end());
    let within = pieces[first..].iter().take_while(move |piece| piece.start < to);
    within.map(move |piece| CardPiece { start: piece.start.max(from), end: piece.end.min(to), ..*piece })
}

/// Cache of originals read from the journal, newest last.
struct OriginalBytes<'j> {
    journal: &'j mut dyn JournalWriter,
    read: Vec<(SavedRange, Result<Vec<u8>, String>)>,
}

impl OriginalBytes<'_> {
    fn original_of(&mut self, piece: CardPiece) -> Option<&[u8]> {
        let known = self.read.iter().position(|(range, _)| *range == piece.range);
        let at = known.unwrap_or_else(|| self.read_original(piece.range));
        let (range, original) = &self.read[at];
        let from = (piece.start - range.offset) as usize;
        original.as_ref().ok()?.get(from..from + (piece.end - piece.start) as usize)
    }

    fn read_original(&mut self, range: SavedRange) -> usize {
        // Failures stay in the cache, so that each is reported once at the end.
        if self.read.iter().filter(|(_, original)| original.is_ok()).count() >= CACHED_ORIGINALS
            && let Some(oldest) = self.read.iter().position(|(_, original)| original.is_ok())
        {
            drop(self.read.remove(oldest));
        }
        let mut bytes = Vec::new();
        let read = self.journal.read_original(range, &mut bytes);
        self.read.push((range, read.map(|()| bytes).map_err(|error| error.to_string())));
        self.read.len() - 1
    }

    fn unreadable(self) -> Vec<(SavedRange, String)> {
        self.read.into_iter().filter_map(|(range, original)| Some((range, original.err()?))).collect()
    }
}

/// Result of a comparison, in sectors.
#[derive(Debug, Default)]
pub(crate) struct ComparedSectors {
    unequal: Vec<SavedRange>,
    /// Unequal and unreadable sectors.
    pub(crate) missing: Vec<SavedRange>,
    /// Missing sectors whose original is real data.
    data: Vec<SavedRange>,
}

impl ComparedSectors {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// Adds sectors that differ from the original `was`, which begins at `at`.
    pub(crate) fn add_unequal(&mut self, at: u64, was: &[u8], sectors: impl IntoIterator<Item = SavedRange>) {
        let unequal = merged_ranges(sectors);
        self.unequal.extend(&unequal);
        unequal.into_iter().for_each(|range| self.add_missing(at, range, was));
    }

    pub(crate) fn add_failed(&mut self, start: u64, wanted: &[u8]) {
        self.add_missing(start, SavedRange { offset: start, len: wanted.len() as u64 }, wanted);
    }

    fn add_missing(&mut self, start: u64, range: SavedRange, wanted: &[u8]) {
        let from = (range.offset - start) as usize;
        let original = &wanted[from..from + range.len as usize];
        self.missing.push(range);
        self.data.extend(constant_byte(original).is_none().then_some(range));
    }

    pub(crate) fn merge_and_sort(&mut self) {
        for ranges in [&mut self.unequal, &mut self.missing, &mut self.data] {
            *ranges = merged_ranges(std::mem::take(ranges));
        }
    }
}

/// Returns the ranges in order, with those that touch or overlap merged.
pub fn merged_ranges(ranges: impl IntoIterator<Item = SavedRange>) -> Vec<SavedRange> {
    byte_ranges(&ranges.into_iter().collect::<Vec<_>>()).iter().map(saved_range).collect()
}

pub(crate) fn byte_ranges(ranges: &[SavedRange]) -> ByteRanges {
    let mut all = ByteRanges::default();
    ranges.iter().for_each(|range| drop(all.add(range.offset, range.offset + range.len)));
    all
}

fn saved_range((start, end): (u64, u64)) -> SavedRange {
    SavedRange { offset: start, len: end - start }
}

/// Returns the sectors in which two reads of one place differ.
pub(crate) fn differing_sectors(offset: u64, wanted: &[u8], found: &[u8]) -> Vec<SavedRange> {
    if wanted == found {
        return Vec::new();
    }
    let sectors = wanted.chunks(SECTOR as usize).zip(found.chunks(SECTOR as usize));
    let unequal = sectors.zip((offset..).step_by(SECTOR as usize)).filter(|((a, b), _)| a != b);
    unequal.map(|((wanted, _), offset)| SavedRange { offset, len: wanted.len() as u64 }).collect()
}

/// Returns the sectors that do not hold their original again.
///
/// An original that is a stamp of another address is no data: the probe wrote it through another address of the same
/// place, which has the true original.
fn changed_sectors(start: u64, wanted: &[u8], found: &[u8]) -> impl Iterator<Item = SavedRange> {
    differing_sectors(start, wanted, found).into_iter().filter(move |sector| {
        let from = (sector.offset - start) as usize;
        !is_alias(sector.offset, &wanted[from..from + sector.len as usize])
    })
}

/// True if a sector's header names another address. The rest of the sector may be damaged.
fn has_alias_header(offset: u64, original: &[u8]) -> bool {
    let mut sectors = original.chunks(SECTOR as usize).zip((offset..).step_by(SECTOR as usize));
    sectors.any(|(sector, address)| read_stamp_header(sector).is_some_and(|stamp| stamp.address != address))
}

fn is_alias(address: u64, original: &[u8]) -> bool {
    read_stamp(original).is_some_and(|stamp| stamp.address != address)
}

fn ranges_difference(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let others = byte_ranges(other);
    let outside = one.iter().flat_map(|range| others.missing(range.offset, range.offset + range.len));
    outside.map(saved_range).collect()
}

/// Returns the intersection of two sorted sets of ranges.
fn ranges_intersection(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let (mut both, mut from) = (Vec::new(), 0);
    for a in one {
        let end = a.offset + a.len;
        // Linear in both sets: a card may have lost every other sector.
        from += other[from..].iter().take_while(|b| b.offset + b.len <= a.offset).count();
        let common = other[from..].iter().take_while(|b| b.offset < end);
        both.extend(common.map(|b| saved_range((a.offset.max(b.offset), end.min(b.offset + b.len)))));
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sectors(ranges: &[SavedRange]) -> Vec<u64> {
        ranges.iter().flat_map(|range| range.offset..range.offset + range.len).collect()
    }

    fn ranges(sectors: &[bool]) -> Vec<SavedRange> {
        merged_ranges(
            (0..).zip(sectors).filter(|(_, is_in)| **is_in).map(|(offset, _)| SavedRange { offset, len: 1 }),
        )
    }

    proptest! {
        #[test]
        fn range_intersection_and_difference_are_exact(
            all in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..200),
        ) {
            let (one, other): (Vec<bool>, Vec<bool>) = all.iter().copied().unzip();
            let at = |is_in: fn(&(bool, bool)) -> bool| -> Vec<u64> {
                (0..).zip(&all).filter(|(_, two)| is_in(two)).map(|(at, _)| at).collect()
            };
            let (one, other) = (ranges(&one), ranges(&other));
            prop_assert_eq!(sectors(&ranges_intersection(&one, &other)), at(|(a, b)| *a && *b));
            prop_assert_eq!(sectors(&ranges_difference(&one, &other)), at(|(a, b)| *a && !*b));
        }
    }
}
