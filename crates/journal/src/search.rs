//! Stamps of a journal's run in places that it did not save: test data whose originals are lost. Where the end of a journal
//! is missing and nothing in it shows that, the card does.

use crate::journal::Journal;
use crate::put_back::joined;
use crate::scan::JournalCompleteness;
use crate::survey::is_ours;
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::content::{IoContent, read_stamp_header};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::journal::{JournalWriter as _, SavedRange};
use cardscope_engine::ranges::ByteRanges;
use cardscope_model::units::{MIB, Nanos, nanos};

/// The stage in which it is done.
pub const SEARCHING: &str = "searching the card for further test data";

/// Bytes on both sides of what was saved that are looked at first: a run that grows has its next batch there.
const BESIDE: u64 = 16 * MIB;

/// Seconds of the card's clock that are spent on places that nothing speaks for.
const SPARE: f64 = 60.0;

/// The same where the journal cannot say whether anything is missing of it.
const IN_DOUBT: f64 = 600.0;

/// Bytes of a sector.
const SECTOR: usize = 512;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundJournal {
    /// Places with test data whose originals are not in the journal.
    pub stamped: Vec<SavedRange>,
    /// Bytes that were searched.
    pub searched: u64,
    /// Bytes that could have been: the card without what is saved.
    pub whole: u64,
    /// Bytes that could not be read.
    pub unread: u64,
}

impl FoundJournal {
    /// Whether the card was searched and read from end to end.
    pub fn is_whole(&self) -> bool {
        self.searched == self.whole && self.unread == 0
    }
}

/// Searches the card outside of what the journal holds: all of it on small cards, on others where the run had been and as
/// far as time allows. `is_telling` is false where the card held such stamps before the run: then nothing is searched.
///
/// # Errors
/// If the card is gone or the user stops it.
pub fn search(
    card: &mut IoDriver<'_>,
    journal: &Journal,
    is_telling: bool,
    events: &mut dyn Listener,
) -> Result<FoundJournal, ProbeStop> {
    let mut covered = ByteRanges::default();
    journal.saved().iter().for_each(|range| drop(covered.add(range.offset, range.offset + range.len)));
    let whole: u64 = covered.missing(0, card.bytes()).iter().map(|(start, end)| end - start).sum();
    let mut found = FoundJournal { whole, ..FoundJournal::default() };
    if !is_telling {
        return Ok(found);
    }
    events.stage(SEARCHING, Some(whole), None);
    let (saved, mut progress) = (covered.clone(), ByteProgress::default());
    let spare = if journal.completeness() == JournalCompleteness::Unknown { IN_DOUBT } else { SPARE };
    let lacks = journal.completeness() == JournalCompleteness::Lacking;
    let limit = |card: &mut IoDriver<'_>| card.now().saturating_add(nanos(spare));
    // What is missing lies in one of the parts that were counted.
    let mut end = if lacks { None } else { Some(limit(card)) };
    for regions in [parts(journal), beside(&saved), vec![(0, card.bytes())]] {
        for (from, to) in regions {
            for (start, stop) in covered.missing(from, to.min(card.bytes())) {
                if !search_range(
                    card,
                    (start, stop),
                    end,
                    (journal.salts(), &saved),
                    &mut found,
                    &mut progress,
                    events,
                )? {
                    found.stamped = joined(std::mem::take(&mut found.stamped));
                    return Ok(found);
                }
                covered.add(start, stop);
            }
        }
        end = end.or_else(|| Some(limit(card)));
    }
    found.stamped = joined(std::mem::take(&mut found.stamped));
    Ok(found)
}

/// Parts of the card in which the run had been, as the journal counted.
fn parts(journal: &Journal) -> Vec<(u64, u64)> {
    journal.parts().into_iter().map(|part| (part.start, part.end)).collect()
}

fn beside(saved: &ByteRanges) -> Vec<(u64, u64)> {
    saved.iter().map(|(start, end)| (start.saturating_sub(BESIDE), end.saturating_add(BESIDE))).collect()
}

/// Searches one range; false where the time was over before its end.
fn search_range(
    card: &mut IoDriver<'_>,
    (start, stop): (u64, u64),
    end: Option<Nanos>,
    (salts, saved): (&[u64], &ByteRanges),
    found: &mut FoundJournal,
    progress: &mut ByteProgress,
    events: &mut dyn Listener,
) -> Result<bool, ProbeStop> {
    card.end_at(end);
    let ended = card.read(extents(start, stop, card.block()), IoContent::Buffer, |extent, _, answer| {
        found.searched += u64::from(extent.len);
        match answer {
            ReadAnswer::Differs { bytes, .. } => found.stamped.extend(stamped(extent, bytes, salts, saved)),
            ReadAnswer::Failed(_) => found.unread += u64::from(extent.len),
            ReadAnswer::Same => {}
        }
        progress.add(u64::from(extent.len), events);
        Ok(())
    });
    card.end_at(None);
    match ended {
        Err(ProbeStop::Limit) => Ok(false),
        ended => ended.map(|()| true),
    }
}

/// Sectors with stamps of the run. Those of an address that is saved came here through another address of a fake.
fn stamped<'a>(
    extent: CardExtent,
    bytes: &'a [u8],
    salts: &'a [u64],
    saved: &'a ByteRanges,
) -> impl Iterator<Item = SavedRange> + 'a {
    let sectors = bytes.chunks(SECTOR).zip((extent.offset..).step_by(SECTOR));
    let counts = |sector: &[u8]| {
        let address = read_stamp_header(sector).map(|stamp| stamp.address);
        is_ours(sector, salts)
            && address.is_some_and(|address| !saved.contains(address, address + SECTOR as u64))
    };
    let stamped = sectors.filter(move |(sector, _)| counts(sector));
    stamped.map(|(sector, offset)| SavedRange { offset, len: sector.len() as u64 })
}
