//! Puts back what a [`Journal`] holds, then opens the card again, reads everything and compares.
//!
//! Where two addresses of a fake lead to one place, the place must end with its oldest content
//! (docs/reference/flash.md#preserving-the-data). Such a second address shows itself: what was saved from it are the
//! probe's own stamps, written through the first. Those ranges go first, newest batch first, and with them what was
//! saved twice; all others go by address, which has a card deal with one erase block after the other instead of with
//! each of them once per batch. Where anything is missing after that, because a fake mixes up its places in a way that
//! no stamp tells, everything is written once more, newest batch first: that is right whatever a fake does.
//!
//! What was written is read in requests unlike those that saved it, in size, in where they begin and in their order: a reader
//! that answers some requests wrongly would otherwise agree with itself.

use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::content::{IoContent, constant, read_stamp, read_stamp_header};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::journal::{JournalError, JournalWriter, RestoreProgress, SavedRange};
use cardscope_engine::ranges::ByteRanges;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::verify::IoCounts;
use cardscope_model::verify::IoError;
use std::ops::Range;

/// What became of the originals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoreResult {
    /// Bytes that were put back.
    pub bytes: u64,
    /// Ranges that the card did not keep: beyond what it really has, or damaged.
    pub lost: Vec<SavedRange>,
    /// Those of them whose original was more than one byte repeated: data. What a fake reads as where nothing is, is one
    /// byte repeated on most.
    pub lost_data: Vec<SavedRange>,
    /// Ranges that held their original in requests of one shape and something else in those of another.
    pub doubtful: Vec<SavedRange>,
    /// Ranges whose original could not be read again, and why.
    pub unreadable: Vec<(SavedRange, String)>,
    /// Bytes that the card had not kept at first, and may have when everything was written once more.
    pub lost_at_first: u64,
    /// I/Os that it took, and how many of them failed.
    pub counts: IoCounts,
    /// The first of those that failed, those included that went well when they were repeated.
    pub io_errors: Vec<IoError>,
}

impl RestoreResult {
    /// Takes what two looks found, in requests of two shapes: lost is what is missing in both.
    pub(crate) fn take_looks(&mut self, first: &ComparedSectors, second: &ComparedSectors) {
        self.lost = common(&first.missing, &second.missing);
        self.lost_data = common(&first.data, &second.data);
        self.doubtful = without(&first.unequal, &second.missing);
    }

    /// Bytes that the card did not keep.
    pub fn lost_bytes(&self) -> u64 {
        self.lost.iter().map(|range| range.len).sum()
    }

    /// Bytes whose original could not be read again.
    pub fn unreadable_bytes(&self) -> u64 {
        self.unreadable.iter().map(|(range, _)| range.len).sum()
    }

    /// Everything that may not hold what it held, in order. Beyond the `usable` bytes of a fake nothing can be kept, and what
    /// read as one byte repeated there was no data.
    pub fn may_have_changed(&self, usable: Option<u64>) -> Vec<SavedRange> {
        let usable = usable.unwrap_or(u64::MAX);
        let below = self.lost.iter().filter(|range| range.offset < usable);
        let beyond = self.lost_data.iter().filter(|range| range.offset >= usable);
        let unreadable = self.unreadable.iter().map(|(range, _)| range);
        joined(below.chain(beyond).chain(&self.doubtful).chain(unreadable).copied())
    }

    /// The finding of a card that may not hold what it held, in the ranges given.
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

/// The stage of a verb in which the card's data is put back.
pub const RESTORING: &str = "restoring";

/// Parts of it: reading the journal, writing and comparing.
const READING: Range<f64> = 0.0..0.1;
const WRITING: Range<f64> = 0.1..0.6;
const COMPARING: Range<f64> = 0.6..1.0;

/// A sector, the finest unit in which something is lost.
const SECTOR: u64 = 512;

/// Bytes of the requests that compare, which begin at odd multiples of a [`STEP`]: no divisor or multiple of those that save.
const REQUEST: u64 = 508 << 10;
const STEP: u64 = 4096;

/// Bytes that are written by themselves where a request failed that joined more.
const ALONE: usize = 1 << 20;

/// Originals in memory while they are compared: requests under way, each across the border of two of them.
const ORIGINALS: usize = 8;

/// Puts everything back and compares. What cannot be read from the journal is named and left out; what the card does
/// not take or keep is named as lost. Doing it again does no harm.
///
/// It stops when the card's interrupt is raised; to put things back after Ctrl-C, hand in a card with an interrupt of
/// its own.
///
/// # Errors
/// If the card is gone or the user stops it; the journal holds everything still.
pub fn put_back(
    card: &mut IoDriver<'_>,
    journal: &mut dyn JournalWriter,
    events: &mut dyn Listener,
) -> Result<RestoreResult, ProbeStop> {
    let ranges = journal.saved();
    let bytes = ranges.iter().map(|range| range.len).sum();
    if bytes > 0 {
        events.restoring_stage(RESTORING, bytes);
    }
    let mut putting = RestoreRun { card, journal, events, result: RestoreResult::default() };
    let order = putting.in_order(&ranges)?;
    putting.journal.restoring(RestoreProgress::Begun);
    putting.write_all(&order)?;
    putting.journal.restoring(RestoreProgress::Written);
    putting.look(&ranges)?;
    if !putting.result.lost.is_empty() {
        putting.result =
            RestoreResult { lost_at_first: putting.result.lost_bytes(), ..RestoreResult::default() };
        putting.write_all(&ranges)?;
        putting.look(&ranges)?;
    }
    putting.result.counts = putting.card.counts();
    putting.result.io_errors = putting.card.io_errors().to_vec();
    Ok(putting.result)
}

/// Reads what a journal holds and compares, without a write.
///
/// # Errors
/// If the card is gone or the user stops it.
pub fn compare(
    card: &mut IoDriver<'_>,
    journal: &mut dyn JournalWriter,
    events: &mut dyn Listener,
) -> Result<RestoreResult, ProbeStop> {
    let ranges = journal.saved();
    let mut putting = RestoreRun { card, journal, events, result: RestoreResult::default() };
    putting.look(&ranges)?;
    putting.result.io_errors = putting.card.io_errors().to_vec();
    Ok(putting.result)
}

/// Putting back that is under way.
struct RestoreRun<'a, 't> {
    card: &'a mut IoDriver<'t>,
    journal: &'a mut dyn JournalWriter,
    events: &'a mut dyn Listener,
    result: RestoreResult,
}

impl RestoreRun<'_, '_> {
    /// Takes ranges one by one, each with its original as far as it can be read, and reports how far it is.
    fn each<'r>(
        &mut self,
        (part, what): (Range<f64>, &str),
        ranges: impl Iterator<Item = &'r SavedRange> + Clone,
        mut each: impl FnMut(&mut Self, SavedRange, Result<&[u8], JournalError>) -> Result<(), ProbeStop>,
    ) -> Result<(), ProbeStop> {
        let bytes = ranges.clone().map(|range| range.len).sum();
        self.events.part(part, what, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let mut original = Vec::new();
        for range in ranges {
            let read = self.journal.original(*range, &mut original);
            each(self, *range, read.map(|()| original.as_slice()))?;
            progress.add(range.len, self.events);
        }
        Ok(())
    }

    /// Opens the card anew and compares. Nothing is called lost on one look, and nothing restored on the second alone.
    fn look(&mut self, ranges: &[SavedRange]) -> Result<(), ProbeStop> {
        self.card.flush()?;
        self.card.reopen()?;
        let first = self.compare_all(ranges, ReadShape::Unlike)?;
        if first.is_empty() {
            return Ok(());
        }
        self.card.reopen()?;
        let doubted = |k: &SavedRange| {
            first.missing.iter().any(|l| l.offset < k.offset + k.len && k.offset < l.offset + l.len)
        };
        let doubted: Vec<SavedRange> = ranges.iter().filter(|k| doubted(k)).copied().collect();
        let second = self.compare_all(&doubted, ReadShape::AsSaved)?;
        self.result.take_looks(&first, &second);
        Ok(())
    }

    /// The order in which the ranges are written: `ranges` is newest batch first.
    fn in_order(&mut self, ranges: &[SavedRange]) -> Result<Vec<SavedRange>, ProbeStop> {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut covered = ByteRanges::default();
        self.each((READING, "reading the journal"), ranges.iter().rev(), |putting, range, original| {
            putting.card.go_on()?;
            let (start, end) = (range.offset, range.offset + range.len);
            let again = covered.add(start, end) != [(start, end)];
            // What cannot be read now may be a moment later, when it is written.
            if again || original.map_or(true, |original| holds_aliases(start, original)) {
                first.push(range);
            } else {
                others.push(range);
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
        self.each((WRITING, "writing"), ranges.iter(), |putting, range, original| {
            putting.card.go_on()?;
            match original {
                Ok(original) => {
                    if !joined.fits(range, putting.card) {
                        putting.write(&mut joined)?;
                    }
                    joined.add(range, original);
                }
                Err(error) => putting.result.unreadable.push((range, error.to_string())),
            }
            Ok(())
        })?;
        self.write(&mut joined)
    }

    /// Writes what was joined. What the card does not take is found by the comparison.
    fn write(&mut self, joined: &mut JoinedOriginals) -> Result<(), ProbeStop> {
        let JoinedOriginals { start, originals } = std::mem::take(joined);
        let failed = self.card.put_back(start, &originals)?;
        // One bad sector fails a whole request: what can be written beside it is.
        if !failed.is_empty() {
            for (at, part) in (start..).step_by(ALONE).zip(originals.chunks(ALONE)) {
                self.card.put_back(at, part)?;
            }
        }
        self.result.bytes += originals.len() as u64;
        Ok(())
    }

    /// Compares ranges, of which the newest come first.
    fn compare_all(&mut self, ranges: &[SavedRange], shape: ReadShape) -> Result<ComparedSectors, ProbeStop> {
        let known: Vec<SavedRange> = self.result.unreadable.iter().map(|(range, _)| *range).collect();
        let pieces = pieces(ranges.iter().filter(|range| !known.contains(range)));
        self.events.part(COMPARING, "comparing", Some(pieces.iter().map(|p| p.end - p.start).sum()), None);
        let mut progress = ByteProgress::default();
        let requests = shape.requests(&pieces, self.card);
        let mut originals = OriginalBytes { journal: &mut *self.journal, read: Vec::new() };
        let (mut compared, mut failed) = (ComparedSectors::default(), Vec::new());
        let events = &mut *self.events;
        self.card.read(requests, IoContent::Buffer, |extent, _, answer| {
            let found = if let ReadAnswer::Differs { bytes, .. } = answer { Some(bytes) } else { None };
            for part in parts(&pieces, extent) {
                match (found, originals.of(part)) {
                    (_, None) => {}
                    (Some(bytes), Some(wanted)) => {
                        let from = (part.start - extent.offset) as usize;
                        let found = &bytes[from..from + wanted.len()];
                        compared.unequal_in(part.start, wanted, changed(part.start, wanted, found));
                    }
                    (None, Some(_)) => failed.push(part),
                }
                progress.add(part.end - part.start, events);
            }
            Ok(())
        })?;
        // A request may have failed over a neighbour: what is compared is read by itself.
        for part in failed {
            let block = self.card.block();
            self.card.read(
                extents(part.start, part.end, block),
                IoContent::Buffer,
                |extent, _, answer| {
                    let part = CardPiece { start: extent.offset, end: extent.end(), ..part };
                    match (answer, originals.of(part)) {
                        (_, None) => {}
                        (ReadAnswer::Differs { bytes, .. }, Some(wanted)) => {
                            compared.unequal_in(part.start, wanted, changed(part.start, wanted, bytes));
                        }
                        (_, Some(wanted)) => compared.failed_at(part.start, wanted),
                    }
                    Ok(())
                },
            )?;
        }
        let unreadable = originals.unreadable();
        self.result.unreadable.extend(unreadable);
        compared.sort();
        Ok(compared)
    }
}

/// Originals of places that follow each other, which one request writes.
#[derive(Debug, Default)]
struct JoinedOriginals {
    start: u64,
    originals: Vec<u8>,
}

impl JoinedOriginals {
    fn fits(&self, range: SavedRange, card: &IoDriver<'_>) -> bool {
        let bytes = self.originals.len() as u64;
        bytes == 0 || range.offset == self.start + bytes && bytes + range.len <= u64::from(card.block())
    }

    fn add(&mut self, range: SavedRange, original: &[u8]) {
        if self.originals.is_empty() {
            self.start = range.offset;
        }
        self.originals.extend_from_slice(original);
    }
}

/// How what is compared is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadShape {
    /// A range at a time, by address, as it was saved.
    AsSaved,
    /// In requests of another size, which begin elsewhere, last ones first.
    Unlike,
}

impl ReadShape {
    /// The requests that read the pieces, which are in order.
    fn requests(self, pieces: &[CardPiece], card: &IoDriver<'_>) -> Vec<CardExtent> {
        let block = card.block();
        if self == ReadShape::AsSaved {
            return pieces.iter().flat_map(|piece| extents(piece.start, piece.end, block)).collect();
        }
        let most = REQUEST.min(u64::from(block));
        let mut stretches: Vec<(u64, u64)> = Vec::new();
        for piece in pieces {
            match stretches.last_mut() {
                Some((_, end)) if *end == piece.start => *end = piece.end,
                _ => stretches.push((piece.start, piece.end)),
            }
        }
        let cut = |(start, end): (u64, u64)| {
            // A place that one request saved is read with its neighbour before it, or after it at the start of the card.
            let from = start.saturating_sub(STEP);
            let to = if start < STEP { (end + STEP).min(card.bytes()) } else { end };
            match to - from <= most {
                true => vec![CardExtent { offset: from, len: (to - from) as u32 }],
                false => unlike(from, end, most).collect(),
            }
        };
        let mut requests: Vec<CardExtent> = stretches.into_iter().flat_map(cut).collect();
        requests.reverse();
        requests
    }
}

/// Cuts a range into requests unlike those that save, of up to `most` bytes.
pub(crate) fn unlike(start: u64, end: u64, most: u64) -> impl Iterator<Item = CardExtent> {
    let most = REQUEST.min(most);
    let border = move |at: u64| {
        let behind = at.checked_sub(STEP).map_or(0, |from| from / most + 1);
        behind * most + STEP
    };
    let starts =
        std::iter::successors(Some(start), move |at| Some(border(*at))).take_while(move |at| *at < end);
    starts.map(move |at| CardExtent { offset: at, len: (border(at).min(end) - at) as u32 })
}

/// A part of the card, and the saved range that has its original.
#[derive(Debug, Clone, Copy)]
struct CardPiece {
    start: u64,
    end: u64,
    range: SavedRange,
}

/// What is compared, in order. The oldest first: of a range that was saved twice, the newer copy was overwritten again.
fn pieces<'r>(ranges: impl DoubleEndedIterator<Item = &'r SavedRange>) -> Vec<CardPiece> {
    let mut covered = ByteRanges::default();
    let mut all = Vec::new();
    for range in ranges.rev() {
        let fresh = covered.add(range.offset, range.offset + range.len);
        all.extend(fresh.into_iter().map(|(start, end)| CardPiece { start, end, range: *range }));
    }
    all.sort_unstable_by_key(|piece: &CardPiece| piece.start);
    all
}

/// What of the pieces lies in an extent.
fn parts(pieces: &[CardPiece], extent: CardExtent) -> impl Iterator<Item = CardPiece> {
    let first = pieces.partition_point(|piece| piece.end <= extent.offset);
    let within = pieces[first..].iter().take_while(move |piece| piece.start < extent.end());
    within.map(move |piece| CardPiece {
        start: piece.start.max(extent.offset),
        end: piece.end.min(extent.end()),
        ..*piece
    })
}

/// Originals that were read from the journal, newest last; `None` where that failed, and why.
struct OriginalBytes<'j> {
    journal: &'j mut dyn JournalWriter,
    read: Vec<(SavedRange, Result<Vec<u8>, String>)>,
}

impl OriginalBytes<'_> {
    /// The original of a piece, unless it cannot be read.
    fn of(&mut self, piece: CardPiece) -> Option<&[u8]> {
        let known = self.read.iter().position(|(range, _)| *range == piece.range);
        let at = known.unwrap_or_else(|| self.read_original(piece.range));
        let (range, original) = &self.read[at];
        let from = (piece.start - range.offset) as usize;
        original.as_ref().ok()?.get(from..from + (piece.end - piece.start) as usize)
    }

    fn read_original(&mut self, range: SavedRange) -> usize {
        // What cannot be read is remembered to the end.
        if self.read.iter().filter(|(_, original)| original.is_ok()).count() >= ORIGINALS
            && let Some(oldest) = self.read.iter().position(|(_, original)| original.is_ok())
        {
            drop(self.read.remove(oldest));
        }
        let mut bytes = Vec::new();
        let read = self.journal.original(range, &mut bytes);
        self.read.push((range, read.map(|()| bytes).map_err(|error| error.to_string())));
        self.read.len() - 1
    }

    fn unreadable(self) -> Vec<(SavedRange, String)> {
        self.read.into_iter().filter_map(|(range, original)| Some((range, original.err()?))).collect()
    }
}

/// What a comparison found, in sectors.
#[derive(Debug, Default)]
pub(crate) struct ComparedSectors {
    /// Holds something else.
    unequal: Vec<SavedRange>,
    /// The same, and what cannot be read.
    pub(crate) missing: Vec<SavedRange>,
    /// Those of them whose original is data.
    data: Vec<SavedRange>,
}

impl ComparedSectors {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    /// Takes the sectors that differ from the original `wanted`, which begins at `start`.
    pub(crate) fn unequal_in(
        &mut self,
        start: u64,
        wanted: &[u8],
        sectors: impl IntoIterator<Item = SavedRange>,
    ) {
        let unequal = joined(sectors);
        self.unequal.extend(&unequal);
        unequal.into_iter().for_each(|range| self.miss(start, range, wanted));
    }

    pub(crate) fn failed_at(&mut self, start: u64, wanted: &[u8]) {
        self.miss(start, SavedRange { offset: start, len: wanted.len() as u64 }, wanted);
    }

    fn miss(&mut self, start: u64, range: SavedRange, wanted: &[u8]) {
        let from = (range.offset - start) as usize;
        let original = &wanted[from..from + range.len as usize];
        self.missing.push(range);
        self.data.extend(constant(original).is_none().then_some(range));
    }

    pub(crate) fn sort(&mut self) {
        for ranges in [&mut self.unequal, &mut self.missing, &mut self.data] {
            *ranges = joined(std::mem::take(ranges));
        }
    }
}

/// Ranges in order, those that touch or overlap as one.
pub fn joined(ranges: impl IntoIterator<Item = SavedRange>) -> Vec<SavedRange> {
    let mut all = ByteRanges::default();
    ranges.into_iter().for_each(|range| drop(all.add(range.offset, range.offset + range.len)));
    all.iter().map(|(start, end)| SavedRange { offset: start, len: end - start }).collect()
}

/// The sectors in which two readings of one place differ.
pub(crate) fn differing(offset: u64, wanted: &[u8], found: &[u8]) -> Vec<SavedRange> {
    if wanted == found {
        return Vec::new();
    }
    let sectors = wanted.chunks(SECTOR as usize).zip(found.chunks(SECTOR as usize));
    let unequal = sectors.zip((offset..).step_by(SECTOR as usize)).filter(|((a, b), _)| a != b);
    unequal.map(|((wanted, _), offset)| SavedRange { offset, len: wanted.len() as u64 }).collect()
}

/// The sectors of an original that are not there again.
///
/// An "original" that is a stamp of another address is no data: the probe had written it there itself, through
/// another address of the same place, whose own original is the one that counts.
fn changed(start: u64, wanted: &[u8], found: &[u8]) -> impl Iterator<Item = SavedRange> {
    differing(start, wanted, found).into_iter().filter(move |sector| {
        let from = (sector.offset - start) as usize;
        !is_alias(sector.offset, &wanted[from..from + sector.len as usize])
    })
}

/// Whether a sector belongs to another address, as far as its header says: its rest may be damaged.
fn holds_aliases(offset: u64, original: &[u8]) -> bool {
    let mut sectors = original.chunks(SECTOR as usize).zip((offset..).step_by(SECTOR as usize));
    sectors.any(|(sector, address)| read_stamp_header(sector).is_some_and(|stamp| stamp.address != address))
}

fn is_alias(address: u64, original: &[u8]) -> bool {
    read_stamp(original).is_some_and(|stamp| stamp.address != address)
}

/// What is in the first of two sets of ranges alone.
fn without(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let mut others = ByteRanges::default();
    other.iter().for_each(|range| drop(others.add(range.offset, range.offset + range.len)));
    let left = one.iter().flat_map(|range| others.missing(range.offset, range.offset + range.len));
    left.map(|(start, end)| SavedRange { offset: start, len: end - start }).collect()
}

/// What is in both of two sets of ranges, each in order and apart.
fn common(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let (mut both, mut from) = (Vec::new(), 0);
    for a in one {
        let end = a.offset + a.len;
        // A card may have lost every other sector: no range is held against all others.
        from += other[from..].iter().take_while(|b| b.offset + b.len <= a.offset).count();
        both.extend(other[from..].iter().take_while(|b| b.offset < end).map(|b| {
            let (start, end) = (a.offset.max(b.offset), end.min(b.offset + b.len));
            SavedRange { offset: start, len: end - start }
        }));
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
        joined(
            (0..).zip(sectors).filter(|(_, is_in)| **is_in).map(|(offset, _)| SavedRange { offset, len: 1 }),
        )
    }

    proptest! {
        #[test]
        fn what_two_sets_have_in_common_and_what_one_has_alone_is_exact(
            all in proptest::collection::vec((any::<bool>(), any::<bool>()), 0..200),
        ) {
            let (one, other): (Vec<bool>, Vec<bool>) = all.iter().copied().unzip();
            let at = |is_in: fn(&(bool, bool)) -> bool| -> Vec<u64> {
                (0..).zip(&all).filter(|(_, two)| is_in(two)).map(|(at, _)| at).collect()
            };
            let (one, other) = (ranges(&one), ranges(&other));
            prop_assert_eq!(sectors(&common(&one, &other)), at(|(a, b)| *a && *b));
            prop_assert_eq!(sectors(&without(&one, &other)), at(|(a, b)| *a && !*b));
        }
    }
}
