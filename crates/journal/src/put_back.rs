//! Puts back what a [`Journal`] holds, then opens the card again, reads everything and compares.
//!
//! Where two addresses of a fake lead to one place, the place must end with its oldest content (reference page
//! `flash-behaviour` 3.11, "Keeping the data"). Such a second address shows itself: what was saved from it are the
//! probe's own stamps, written through the first. Those ranges go first, newest batch first, and with them what was
//! saved twice; all others go by address, which has a card deal with one erase block after the other instead of with each
//! of them once per batch. Where anything is missing after that, because a fake mixes up its places in a way that no stamp
//! tells, everything is written once more, newest batch first: that is right whatever a fake does.

use cardscope_engine::card::{Answer, Card, Stop, extents};
use cardscope_engine::content::{Content, read_stamp, read_stamp_header};
use cardscope_engine::event::{Listener, Steps};
use cardscope_engine::journal::{Journal, Restoring, SavedRange};
use cardscope_engine::ranges::Ranges;

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
}

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
    watch: &mut dyn Listener,
) -> Result<PutBack, Stop> {
    let ranges = journal.saved();
    let order = in_order(card, journal, &ranges, watch)?;
    let mut result = PutBack::default();
    journal.restoring(Restoring::Begun);
    write_all(card, journal, &order, &mut result, watch)?;
    journal.restoring(Restoring::Written);
    look(card, journal, &ranges, &mut result, watch)?;
    if !result.lost.is_empty() {
        result = PutBack::default();
        write_all(card, journal, &ranges, &mut result, watch)?;
        look(card, journal, &ranges, &mut result, watch)?;
    }
    Ok(result)
}

/// Opens the card anew and compares. Nothing is called lost on one look.
fn look(
    card: &mut Card<'_>,
    journal: &mut dyn Journal,
    ranges: &[SavedRange],
    result: &mut PutBack,
    watch: &mut dyn Listener,
) -> Result<(), Stop> {
    card.flush()?;
    card.reopen()?;
    compare_all(card, journal, ranges, result, watch)?;
    if result.lost.is_empty() {
        return Ok(());
    }
    card.reopen()?;
    let first = std::mem::take(&mut result.lost);
    result.lost_data.clear();
    let doubted =
        |k: &SavedRange| first.iter().any(|l| l.offset < k.offset + k.len && k.offset < l.offset + l.len);
    let doubted: Vec<SavedRange> = ranges.iter().filter(|k| doubted(k)).copied().collect();
    compare_all(card, journal, &doubted, result, watch)?;
    result.lost = common(&first, &result.lost);
    result.lost_data = common(&first, &result.lost_data);
    Ok(())
}

/// The order in which the ranges are written: `ranges` is newest batch first.
fn in_order(
    card: &mut Card<'_>,
    journal: &mut dyn Journal,
    ranges: &[SavedRange],
    watch: &mut dyn Listener,
) -> Result<Vec<SavedRange>, Stop> {
    let mut steps = Steps::begin("reading what is to be put back", bytes_of(ranges), card.seconds(), watch);
    let mut original = Vec::new();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    let mut covered = Ranges::default();
    for range in ranges.iter().rev() {
        card.go_on()?;
        let (start, end) = (range.offset, range.offset + range.len);
        let again = covered.add(start, end) != [(start, end)];
        // What cannot be read now may be a moment later, when it is written.
        let readable = journal.original(*range, &mut original).is_ok();
        if !readable || again || holds_aliases(start, &original) {
            first.push(*range);
        } else {
            others.push(*range);
        }
        steps.done(range.len, card.seconds(), watch);
    }
    first.reverse();
    others.sort_by_key(|range| range.offset);
    first.append(&mut others);
    Ok(first)
}

fn write_all(
    card: &mut Card<'_>,
    journal: &mut dyn Journal,
    ranges: &[SavedRange],
    result: &mut PutBack,
    watch: &mut dyn Listener,
) -> Result<(), Stop> {
    let mut steps = Steps::begin("putting the card's data back", bytes_of(ranges), card.seconds(), watch);
    let mut original = Vec::new();
    for range in ranges {
        card.go_on()?;
        match journal.original(*range, &mut original) {
            // What it does not take is found by the comparison.
            Ok(()) => {
                card.put_back(range.offset, &original)?;
                result.bytes += range.len;
            }
            Err(error) => result.unreadable.push((*range, error.to_string())),
        }
        steps.done(range.len, card.seconds(), watch);
    }
    Ok(())
}

fn compare_all(
    card: &mut Card<'_>,
    journal: &mut dyn Journal,
    ranges: &[SavedRange],
    result: &mut PutBack,
    watch: &mut dyn Listener,
) -> Result<(), Stop> {
    let mut steps = Steps::begin("comparing what was put back", bytes_of(ranges), card.seconds(), watch);
    let mut original = Vec::new();
    let mut compared = Ranges::default();
    // The oldest first: of a range that was saved twice, the newer copy was overwritten again.
    for range in ranges.iter().rev() {
        if journal.original(*range, &mut original).is_ok() {
            let open = compared.add(range.offset, range.offset + range.len);
            for (start, end) in open {
                let from = (start - range.offset) as usize;
                let expected = &original[from..from + (end - start) as usize];
                let mut lost = Vec::new();
                compare(card, start, expected, &mut lost)?;
                let telling = |l: &SavedRange| {
                    let from = (l.offset - start) as usize;
                    let original = &expected[from..from + l.len as usize];
                    original.iter().any(|b| *b != original[0])
                };
                result.lost_data.extend(lost.iter().filter(|l| telling(l)));
                lost.into_iter().for_each(|range| range.join(&mut result.lost));
            }
        }
        steps.done(range.len, card.seconds(), watch);
    }
    result.lost.sort_by_key(|lost| lost.offset);
    Ok(())
}

/// Reads a range and names the sectors that do not hold what they should.
fn compare(card: &mut Card<'_>, start: u64, expected: &[u8], lost: &mut Vec<SavedRange>) -> Result<(), Stop> {
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
    bad.sort_by_key(|lost| lost.offset);
    bad.into_iter().for_each(|range| range.join(lost));
    Ok(())
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

fn bytes_of(ranges: &[SavedRange]) -> u64 {
    ranges.iter().map(|range| range.len).sum()
}

/// What is in both of two sets of ranges.
fn common(one: &[SavedRange], other: &[SavedRange]) -> Vec<SavedRange> {
    let meet = |a: &SavedRange, b: &SavedRange| {
        let (start, end) = (a.offset.max(b.offset), (a.offset + a.len).min(b.offset + b.len));
        (start < end).then(|| SavedRange { offset: start, len: end - start })
    };
    one.iter().flat_map(|a| other.iter().filter_map(move |b| meet(a, b))).collect()
}
