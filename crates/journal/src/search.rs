//! Searches a card for stamps of a run in places that its journal does not have, whose originals are lost. This finds a
//! missing end of a journal that the file itself does not show.

use crate::journal::Journal;
use crate::restoring::{byte_ranges, merged_ranges};
use crate::scan::JournalCompleteness;
use crate::survey::has_run_stamp;
use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::{IoContent, read_stamp_header};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::{JournalWriter as _, SavedRange};
use cardscope_model::units::{MIB, Nanos, seconds_to_nanos};

pub const SEARCHING: &str = "searching the card for further test data";

/// Bytes before and after saved ranges that are searched first: a run that grows writes its next batch there.
const NEIGHBOURHOOD: u64 = 16 * MIB;

/// Seconds of the card's clock for places without any sign of test data.
const SPARE_SECONDS: f64 = 60.0;

/// Seconds of the card's clock for places without any sign of test data, if the journal may be incomplete.
const DOUBT_SECONDS: f64 = 600.0;

const SECTOR: usize = 512;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundJournal {
    /// Places with stamps whose originals are not in the journal.
    pub stamped: Vec<SavedRange>,
    pub searched: u64,
    /// Bytes of the card that are not in the journal.
    pub searchable: u64,
    pub unread: u64,
}

impl FoundJournal {
    /// True if the card was read from end to end.
    pub fn is_whole(&self) -> bool {
        self.searched == self.searchable && self.unread == 0
    }
}

/// Searches the card outside of the saved ranges: completely if it is small, otherwise where the run wrote and as far
/// as time allows. Searches nothing unless `is_telling`, which is false if the card had such stamps before the run.
pub fn search_test_data(
    card: &mut IoDriver<'_>,
    journal: &Journal,
    is_telling: bool,
    events: &mut dyn Listener,
) -> Result<FoundJournal, ProbeStop> {
    let mut covered = byte_ranges(&journal.saved_ranges());
    let whole: u64 = covered.missing(0, card.bytes()).iter().map(|(start, end)| end - start).sum();
    let found = FoundJournal { searchable: whole, ..FoundJournal::default() };
    let progress = ByteProgress::default();
    if !is_telling {
        return Ok(found);
    }
    events.begin_stage(SEARCHING, Some(whole), None);
    let saved = covered.clone();
    let mut search = TestDataSearch { card, salts: journal.salts(), saved: &saved, found, events, progress };
    let completeness = journal.completeness();
    let unknown = completeness == JournalCompleteness::Unknown;
    let spare = seconds_to_nanos(if unknown { DOUBT_SECONDS } else { SPARE_SECONDS });
    // If ranges are known to be missing, they lie in the parts that the tally counted, so these have no time limit.
    let lacks = completeness == JournalCompleteness::Incomplete;
    let mut end = (!lacks).then(|| search.card.now().saturating_add(spare));
    let bytes = search.card.bytes();
    'regions: for regions in [written_ranges(journal), neighbourhoods(&saved), vec![(0, bytes)]] {
        for (from, to) in regions {
            for (start, stop) in covered.missing(from, to.min(bytes)) {
                if !search.search_range(start, stop, end)? {
                    break 'regions;
                }
                covered.add(start, stop);
            }
        }
        end = end.or_else(|| Some(search.card.now().saturating_add(spare)));
    }
    let stamped = merged_ranges(search.found.stamped);
    Ok(FoundJournal { stamped, ..search.found })
}

fn written_ranges(journal: &Journal) -> Vec<(u64, u64)> {
    journal.written_parts().into_iter().map(|part| (part.start, part.end)).collect()
}

fn neighbourhoods(saved: &ByteRanges) -> Vec<(u64, u64)> {
    let widened =
        |(start, end): (u64, u64)| (start.saturating_sub(NEIGHBOURHOOD), end.saturating_add(NEIGHBOURHOOD));
    saved.iter().map(widened).collect()
}

struct TestDataSearch<'a, 't> {
    card: &'a mut IoDriver<'t>,
    salts: &'a [u64],
    saved: &'a ByteRanges,
    found: FoundJournal,
    events: &'a mut dyn Listener,
    progress: ByteProgress,
}

impl TestDataSearch<'_, '_> {
    /// Searches one range; returns false if the time ran out.
    fn search_range(&mut self, start: u64, stop: u64, end: Option<Nanos>) -> Result<bool, ProbeStop> {
        let TestDataSearch { card, salts, saved, found, events, progress } = self;
        card.set_deadline(end);
        let extents = split_extents(start, stop, card.block());
        let ended = card.read(extents, IoContent::Buffer, |extent, _, answer| {
            let len = u64::from(extent.len);
            found.searched += len;
            match answer {
                ReadAnswer::Differs { bytes, .. } => {
                    found.stamped.extend(stamped_sectors(extent, bytes, salts, saved));
                }
                ReadAnswer::Failed(_) => found.unread += len,
                ReadAnswer::Same => {}
            }
            progress.add(len, *events);
            Ok(())
        });
        card.set_deadline(None);
        match ended {
            Err(ProbeStop::Limit) => Ok(false),
            ended => ended.map(|()| true),
        }
    }
}

/// Sectors with stamps of the run. Stamps of saved addresses are skipped: a fake returned them through another address.
fn stamped_sectors<'a>(
    extent: CardExtent,
    bytes: &'a [u8],
    salts: &'a [u64],
    saved: &'a ByteRanges,
) -> impl Iterator<Item = SavedRange> + 'a {
    let sectors = bytes.chunks(SECTOR).zip((extent.offset..).step_by(SECTOR));
    let counts = |sector: &[u8]| {
        let address = read_stamp_header(sector).map(|stamp| stamp.address);
        has_run_stamp(sector, salts)
            && address.is_some_and(|address| !saved.contains(address, address + SECTOR as u64))
    };
    let stamped = sectors.filter(move |(sector, _)| counts(sector));
    stamped.map(|(sector, offset)| SavedRange { offset, len: sector.len() as u64 })
}
