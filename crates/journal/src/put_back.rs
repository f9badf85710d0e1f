//! Puts back what a [`Journal`] holds, then opens the card again, reads everything and compares.
//!
//! Where two addresses of a fake lead to one place, the place must end with its oldest content (reference page
//! `flash-behaviour` 3.11, "Keeping the data"). Such a second address shows itself: what was saved from it are the
//! probe's own stamps, written through the first. Those ranges go first, newest batch first, and with them what was
//! saved twice; all others go by address, which has a card deal with one erase block after the other instead of with each
//! of them once per batch. Where anything is missing after that, because a fake mixes up its places in a way that no stamp
//! tells, everything is written once more, newest batch first: that is right whatever a fake does.

use cardscope_engine::card::{Answer, Card, IoError, Stop, extents};
use cardscope_engine::content::{Content, read_stamp, read_stamp_header};
use cardscope_engine::event::{Listener, Steps};
use cardscope_engine::journal::{Journal, JournalError, Restoring, SavedRange};
use cardscope_engine::ranges::Ranges;
use std::ops::Range;

/// What became of the originals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutBack {
    /// Bytes that were put back.
    pub bytes: u64,
    /// Ranges that the card did not keep: beyond what it really has, or damaged.
    pub lost: Vec<SavedRange>,
    /// Those of them whose original was more than one byte repeated: data. What a fake reads as where nothing is, is one
    /// byte repeated on most.
    pub lost_data: Vec<SavedRange>,
    /// Ranges whose original could not be read again, and why.
    pub unreadable: Vec<(SavedRange, String)>,
    /// Bytes that the card had not kept at first, and may have when everything was written once more.
    pub lost_at_first: u64,
    /// I/Os that failed meanwhile, those included that went well when they were repeated.
    pub io_errors: Vec<IoError>,
}

impl PutBack {
    /// Bytes that the card did not keep.
    pub fn lost_bytes(&self) -> u64 {
        self.lost.iter().map(|range| range.len).sum()
    }

    /// Bytes whose original could not be read again.
    pub fn unreadable_bytes(&self) -> u64 {
        self.unreadable.iter().map(|(range, _)| range.len).sum()
    }

    /// First address that is not as it was; `None` where all is.
    pub fn first_missing(&self) -> Option<u64> {
        self.lost.iter().chain(self.unreadable.iter().map(|(range, _)| range)).map(|r| r.offset).min()
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

/// Puts everything back and compares. What cannot be read from the journal is named and left out; what the card does
/// not take or keep is named as lost. Doing it again does no harm.
///
/// It stops when the card's interrupt is raised; to put things back after Ctrl-C, hand in a card with an interrupt of
/// its own.
///
/// # Errors
/// If the card is gone or the user stops it; the journal holds everything still.
pub fn put_back(
    card: &mut Card<'_>,
    journal: &mut dyn Journal,
    events: &mut dyn Listener,
) -> Result<PutBack, Stop> {
    let ranges = journal.saved();
    let bytes = ranges.iter().map(|range| range.len).sum();
    if bytes > 0 {
        events.stage(RESTORING, Some(bytes), None);
    }
    let mut putting = Putting { card, journal, events, result: PutBack::default() };
    let order = putting.in_order(&ranges)?;
    putting.journal.restoring(Restoring::Begun);
    putting.write_all(&order)?;
    putting.journal.restoring(Restoring::Written);
    putting.look(&ranges)?;
    if !putting.result.lost.is_empty() {
        putting.result = PutBack { lost_at_first: putting.result.lost_bytes(), ..PutBack::default() };
        putting.write_all(&ranges)?;
        putting.look(&ranges)?;
    }
    putting.result.io_errors = putting.card.io_errors().to_vec();
    Ok(putting.result)
}

/// Putting back that is under way.
struct Putting<'a, 't> {
    card: &'a mut Card<'t>,
    journal: &'a mut dyn Journal,
    events: &'a mut dyn Listener,
    result: PutBack,
}

impl Putting<'_, '_> {
    /// Takes ranges one by one, each with its original as far as it can be read, and reports how far it is.
    fn each<'r>(
        &mut self,
        (part, what): (Range<f64>, &str),
        ranges: impl Iterator<Item = &'r SavedRange> + Clone,
        mut each: impl FnMut(&mut Self, SavedRange, Result<&[u8], JournalError>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let bytes = ranges.clone().map(|range| range.len).sum();
        self.events.part(part, what, Some(bytes), None);
        let mut steps = Steps::begin(self.card.seconds());
        let mut original = Vec::new();
        for range in ranges {
            let read = self.journal.original(*range, &mut original);
            each(self, *range, read.map(|()| original.as_slice()))?;
            steps.done(range.len, self.card.seconds(), self.events);
        }
        Ok(())
    }

    /// Opens the card anew and compares. Nothing is called lost on one look.
    fn look(&mut self, ranges: &[SavedRange]) -> Result<(), Stop> {
        self.card.flush()?;
        self.card.reopen()?;
        self.compare_all(ranges)?;
        if self.result.lost.is_empty() {
            return Ok(());
        }
        self.card.reopen()?;
        let first = std::mem::take(&mut self.result.lost);
        self.result.lost_data.clear();
        let doubted =
            |k: &SavedRange| first.iter().any(|l| l.offset < k.offset + k.len && k.offset < l.offset + l.len);
        let doubted: Vec<SavedRange> = ranges.iter().filter(|k| doubted(k)).copied().collect();
        self.compare_all(&doubted)?;
        self.result.lost = common(&first, &self.result.lost);
        self.result.lost_data = common(&first, &self.result.lost_data);
        Ok(())
    }

    /// The order in which the ranges are written: `ranges` is newest batch first.
    fn in_order(&mut self, ranges: &[SavedRange]) -> Result<Vec<SavedRange>, Stop> {
        let (mut first, mut others) = (Vec::new(), Vec::new());
        let mut covered = Ranges::default();
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

    fn write_all(&mut self, ranges: &[SavedRange]) -> Result<(), Stop> {
        self.each((WRITING, "writing"), ranges.iter(), |putting, range, original| {
            putting.card.go_on()?;
            match original {
                // What it does not take is found by the comparison.
                Ok(original) => {
                    putting.card.put_back(range.offset, original)?;
                    putting.result.bytes += range.len;
                }
                Err(error) => putting.result.unreadable.push((range, error.to_string())),
            }
            Ok(())
        })
    }

    fn compare_all(&mut self, ranges: &[SavedRange]) -> Result<(), Stop> {
        let mut compared = Ranges::default();
        // The oldest first: of a range that was saved twice, the newer copy was overwritten again.
        self.each((COMPARING, "comparing"), ranges.iter().rev(), |putting, range, original| {
            let Ok(original) = original else { return Ok(()) };
            for (start, end) in compared.add(range.offset, range.offset + range.len) {
                let from = (start - range.offset) as usize;
                let expected = &original[from..from + (end - start) as usize];
                let lost = compare(putting.card, start, expected)?;
                let telling = |l: &SavedRange| {
                    let from = (l.offset - start) as usize;
                    let original = &expected[from..from + l.len as usize];
                    original.iter().any(|b| *b != original[0])
                };
                putting.result.lost_data.extend(lost.iter().filter(|l| telling(l)));
                lost.into_iter().for_each(|range| range.join(&mut putting.result.lost));
            }
            Ok(())
        })?;
        self.result.lost.sort_by_key(|lost| lost.offset);
        Ok(())
    }
}

/// Reads a range and names the sectors that do not hold what they should.
fn compare(card: &mut Card<'_>, start: u64, expected: &[u8]) -> Result<Vec<SavedRange>, Stop> {
    let mut bad = Vec::new();
    let end = start + expected.len() as u64;
    card.read(extents(start, end, card.block()), Content::Buffer, |extent, _, answer| {
        let from = (extent.offset - start) as usize;
        let wanted = &expected[from..from + extent.len as usize];
        match answer {
            Answer::Differs { bytes, .. } => bad.extend(differing(extent.offset, wanted, bytes)),
            Answer::Failed(_) => bad.push(SavedRange { offset: extent.offset, len: u64::from(extent.len) }),
            Answer::Same => {}
        }
        Ok(())
    })?;
    Ok(joined(bad))
}

/// Ranges in order, those that touch as one.
pub(crate) fn joined(mut ranges: Vec<SavedRange>) -> Vec<SavedRange> {
    ranges.sort_by_key(|range| range.offset);
    let mut all = Vec::new();
    ranges.into_iter().for_each(|range| range.join(&mut all));
    all
}

/// The sectors in which two readings of one place differ.
///
/// An "original" that is a stamp of another address is no data: the probe had written it there itself, through
/// another address of the same place, whose own original is the one that counts.
fn differing(offset: u64, wanted: &[u8], found: &[u8]) -> Vec<SavedRange> {
    if wanted == found {
        return Vec::new();
    }
    let sectors = wanted.chunks(SECTOR as usize).zip(found.chunks(SECTOR as usize));
    let at = |i: usize| offset + i as u64 * SECTOR;
    sectors
        .enumerate()
        .filter(|(i, (wanted, found))| wanted != found && !is_alias(at(*i), wanted))
        .map(|(i, (wanted, _))| SavedRange { offset: at(i), len: wanted.len() as u64 })
        .collect()
}

/// Whether a sector belongs to another address, as far as its header says: its rest may be damaged.
fn holds_aliases(offset: u64, original: &[u8]) -> bool {
    let mut sectors = original.chunks(SECTOR as usize).zip((offset..).step_by(SECTOR as usize));
    sectors.any(|(sector, address)| read_stamp_header(sector).is_some_and(|stamp| stamp.address != address))
}

fn is_alias(address: u64, original: &[u8]) -> bool {
    read_stamp(original).is_some_and(|stamp| stamp.address != address)
}

/// What is in both of two sets of ranges.
fn common(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let meet = |a: &SavedRange, b: &SavedRange| {
        let (start, end) = (a.offset.max(b.offset), (a.offset + a.len).min(b.offset + b.len));
        (start < end).then(|| SavedRange { offset: start, len: end - start })
    };
    one.iter().flat_map(|a| other.iter().filter_map(move |b| meet(a, b))).collect()
}
