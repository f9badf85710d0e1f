//! Saving of data that a probe is about to overwrite, each block once. Unreadable blocks cannot be saved, so they are
//! not overwritten.
//!
//! The reader is checked before the first write (`reader_check`), and every block is read twice, in different requests,
//! before it counts as saved (`double_reading`).

pub use crate::double_reading::SAVE_UNIT;
use crate::double_reading::{self, FirstReading, ReadingMatch};
use crate::reader_check::{self, PLACE_BYTES, compare_reads, places_with_data, read_end};
use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{
    CardExtent, IoCosts, IoDriver, ProbeResult, ProbeStop, ReadAnswer, split_extents,
};
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::random::SeededRandom;
use cardscope_model::units::{Nanos, nanos_to_seconds, seconds_to_nanos};

/// Bytes of an I/O that restores, the longest record of a journal.
const RESTORE_IO_BYTES: u64 = 1 << 20;

/// Bytes of an I/O that verifies restored data, unlike the requests that saved it.
const VERIFY_IO_BYTES: u64 = 508 << 10;

/// Most writes and reads of restored data: a card that loses it gets a second write, and each write is read twice.
const MAX_RESTORE_WRITES: u64 = 2;
const MAX_RESTORE_READS: u64 = 4;

/// Number of I/Os and their bytes; `small` ones are counted apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IoAmount {
    ios: u64,
    bytes: u64,
    small: u64,
}

impl IoAmount {
    fn add_original(&mut self, start: u64, end: u64) {
        if end - start <= u64::from(SAVE_UNIT) {
            self.small += 1;
        } else {
            self.ios += (end - start).div_ceil(RESTORE_IO_BYTES);
            self.bytes += end - start;
        }
    }

    /// Estimated seconds to restore this amount, retries included.
    fn restore_seconds(self, costs: &IoCosts) -> f64 {
        let IoAmount { ios, bytes, small } = self;
        if ios + small == 0 {
            return 0.0;
        }
        costs.estimate(IoDirection::Write, MAX_RESTORE_WRITES * ios, MAX_RESTORE_WRITES * bytes)
            + costs.estimate(IoDirection::Write, MAX_RESTORE_WRITES * small, 0)
            + costs.estimate(IoDirection::Read, MAX_RESTORE_READS * small, 0)
            // One more read verifies that the card is still the same.
            + costs.estimate(IoDirection::Read, MAX_RESTORE_READS * (ios + bytes / VERIFY_IO_BYTES) + 1, MAX_RESTORE_READS * bytes)
            + MAX_RESTORE_WRITES as f64 * costs.flush_seconds()
    }
}

/// Place for stamps on a card without data on which reads could be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StampPlace {
    pub(crate) salt: u64,
    pub(crate) region: TargetRegion,
    pub(crate) max_bytes: u64,
}

impl StampPlace {
    /// Returns the place of the stamps, or `None` if they do not fit.
    fn stamp_extent(&self, card: &IoDriver<'_>) -> Option<CardExtent> {
        let (region, window) = (self.region, u64::from(PLACE_BYTES));
        let end = region.end().min(card.bytes());
        [region.start.max(STAMP_OFFSET), region.start.next_multiple_of(window)]
            .into_iter()
            .find(|start| start + window <= end && window <= self.max_bytes)
            .map(|offset| CardExtent { offset, len: PLACE_BYTES })
    }
}

const READ_AHEAD_S: f64 = 0.5;

/// With less time than this nothing is read ahead on a card of unknown speed.
const READ_AHEAD_MIN_LEFT_S: f64 = 10.0;

const MAX_FIRST_READINGS: usize = 4;

/// Behind the tables of file systems, and where most fakes still store data.
const STAMP_OFFSET: u64 = 20 << 20;

/// Saved data of a card. Without a journal all data may be lost, and nothing is saved.
pub struct WriteScope<'k> {
    journal: Option<&'k mut dyn JournalWriter>,
    saved: ByteRanges,
    unsavable: ByteRanges,
    save_deadline: Option<Nanos>,
    originals: IoAmount,
    first_readings: Vec<FirstReading>,
    is_reader_checked: bool,
    /// End of the test, restoring included; `None` without a limit.
    test_end: Option<Nanos>,
    stamps: Option<StampPlace>,
    random: SeededRandom,
}

impl<'k> WriteScope<'k> {
    /// Starts with nothing saved. Without a journal the card's data may be lost.
    pub fn new(journal: Option<&'k mut dyn JournalWriter>) -> Self {
        WriteScope {
            journal,
            saved: ByteRanges::default(),
            unsavable: ByteRanges::default(),
            save_deadline: None,
            originals: IoAmount::default(),
            first_readings: Vec::new(),
            is_reader_checked: false,
            test_end: None,
            stamps: None,
            random: SeededRandom::new(0),
        }
    }

    /// Allows stamps in one place of an empty card, saved first, on which reads can be compared. The check of the
    /// reader takes a share of the time until `end`.
    pub(crate) fn allow_stamps(&mut self, stamps: StampPlace, end: Option<Nanos>) {
        self.random = SeededRandom::new(stamps.salt);
        (self.stamps, self.test_end) = (Some(stamps), end);
    }

    /// Ends saving at this time of the card's clock: a stalling card could otherwise use up the time of the restore
    /// within one batch.
    pub(crate) fn set_deadline(&mut self, end: Nanos) {
        self.save_deadline = Some(end);
    }

    /// Estimated seconds to save and write these extents, and to restore everything saved by then.
    pub(crate) fn estimated_seconds(&self, card: &IoDriver<'_>, extents: &[CardExtent]) -> f64 {
        let costs = card.costs();
        let (ios, bytes) = (extents.len() as u64, extents.iter().map(|p| u64::from(p.len)).sum());
        let flush = if ios > 0 { costs.flush_seconds() } else { 0.0 };
        let write = costs.estimate(IoDirection::Write, ios, bytes) + flush;
        if !self.saves_first() {
            return write;
        }
        let (mut save, mut back) = (IoAmount::default(), self.originals);
        let missing = extents.iter().flat_map(|extent| self.saved.missing(extent.offset, extent.end()));
        for (start, end) in missing {
            save.ios += 1;
            save.bytes += end - start;
            back.add_original(start, end);
        }
        let block = card.block().max(PLACE_BYTES);
        let first = double_reading::estimated_seconds(costs, block, save.ios, save.bytes);
        let second = costs.estimate(IoDirection::Read, save.ios, save.bytes);
        let checks = save.ios > 0 && !self.is_reader_checked;
        let check = if checks { reader_check::min_check_seconds(card) } else { 0.0 };
        check + first + second + write + back.restore_seconds(costs)
    }

    pub fn saves_first(&self) -> bool {
        self.journal.is_some()
    }

    /// True if an extent may be overwritten: it is saved, or no data is preserved.
    pub fn covers(&self, extent: CardExtent) -> bool {
        self.journal.is_none() || self.saved.contains(extent.offset, extent.end())
    }

    pub(crate) fn is_unsavable(&self, extent: CardExtent) -> bool {
        self.unsavable.intersects(extent.offset, extent.end())
    }

    /// Saves extents that are about to be overwritten, and syncs the journal. Returns [`ProbeStop::Limit`] if time ended
    /// before all was saved, [`ProbeStop::SuspectReader`] if two reads of a place differ; after other errors nothing may be
    /// written.
    pub fn save(&mut self, card: &mut IoDriver<'_>, wanted: &[CardExtent]) -> ProbeResult {
        if self.journal.is_none() || wanted.iter().all(|p| self.saved.contains(p.offset, p.end())) {
            return Ok(());
        }
        let (block, depth) = (card.block(), card.depth());
        // The check of the reader needs larger requests than the probe may have planned.
        if block < PLACE_BYTES {
            card.set_queue(PLACE_BYTES, depth.min(2))?;
        }
        let saved = self.save_checked(card, wanted, block);
        if block < PLACE_BYTES && !matches!(saved, Err(ProbeStop::Target(_))) {
            card.set_queue(block, depth)?;
        }
        saved
    }

    /// Saves extents after a check of the reader, once. On a card without data, reads of stamps are compared, in a
    /// place that is saved with the rest.
    fn save_checked(&mut self, card: &mut IoDriver<'_>, wanted: &[CardExtent], block: u32) -> ProbeResult {
        if self.is_reader_checked {
            return self.save_twice_read(card, wanted, block);
        }
        let end = reader_check::check_deadline(card, self.test_end);
        read_end(card)?;
        let mut places = places_with_data(card, &mut self.random, end)?;
        if !places.is_empty() {
            compare_reads(card, &places, &mut self.random, end)?;
            self.is_reader_checked = true;
            self.check_time(card, wanted)?;
            return self.save_twice_read(card, wanted, block);
        }
        let stamps = self.stamps.and_then(|stamps| stamps.stamp_extent(card));
        let all: Vec<CardExtent> = wanted.iter().chain(&stamps).copied().collect();
        if self.test_end.is_some() {
            // Small reads do not reveal the cost per byte.
            let last = card.bytes().saturating_sub(u64::from(PLACE_BYTES));
            let offset = stamps.or_else(|| wanted.first().copied()).map_or(0, |place| place.offset.min(last));
            card.time_io(IoDirection::Read, IoContent::Buffer, CardExtent { offset, len: PLACE_BYTES })?;
        }
        self.check_time(card, stamps.as_ref().map_or(wanted, std::slice::from_ref))?;
        self.save_twice_read(card, &all, block)?;
        if let (Some(extent), Some(StampPlace { salt, .. })) = (stamps, self.stamps)
            && self.covers(extent)
        {
            card.write([extent], IoContent::Stamp { salt, generation: 0 }, |_, _, _| {})?;
            card.flush()?;
            places.push(extent.offset);
        }
        compare_reads(card, &places, &mut self.random, end)?;
        self.is_reader_checked = true;
        Ok(())
    }

    /// Returns [`ProbeStop::Limit`] if time does not suffice to save, write and restore these extents.
    fn check_time(&self, card: &mut IoDriver<'_>, wanted: &[CardExtent]) -> ProbeResult {
        let Some(end) = self.test_end else { return Ok(()) };
        let ends = card.seconds() + self.estimated_seconds(card, wanted);
        if ends > nanos_to_seconds(end) { Err(ProbeStop::Limit) } else { Ok(()) }
    }

    /// Reads extents for the first time before they are saved in small groups, as many as take less than [`READ_AHEAD_S`].
    /// Does nothing if the first is saved or read already.
    pub(crate) fn read_ahead(&mut self, card: &mut IoDriver<'_>, wanted: &[CardExtent]) -> ProbeResult {
        let Some(first) = wanted.first() else { return Ok(()) };
        let is_done =
            self.saved.contains(first.offset, first.end()) || self.first_reading_of(&[*first]).is_some();
        // The cost per byte is unknown yet, and a slow card takes seconds for the reads of other places.
        let least_end = seconds_to_nanos(card.seconds() + READ_AHEAD_MIN_LEFT_S);
        let is_short = !self.is_reader_checked && self.test_end.is_some_and(|end| least_end > end);
        if !self.saves_first() || is_done || is_short {
            return Ok(());
        }
        let mut bytes = 0;
        let is_quick = |(index, extent): &(usize, &CardExtent)| {
            bytes += u64::from(extent.len);
            *index == 0 || card.costs().estimate(IoDirection::Read, 1 + *index as u64, bytes) < READ_AHEAD_S
        };
        let mut some: Vec<CardExtent> =
            wanted.iter().enumerate().take_while(is_quick).map(|(_, extent)| *extent).collect();
        // On an empty card the place of the stamps is saved first; with a time limit that could take too long.
        if !self.is_reader_checked && self.test_end.is_none() {
            some.extend(self.stamps.and_then(|stamps| stamps.stamp_extent(card)));
        }
        let first = FirstReading::read_first(card, &some, &mut self.random)?;
        self.first_readings.truncate(MAX_FIRST_READINGS - 1);
        self.first_readings.insert(0, first);
        Ok(())
    }

    fn first_reading_of(&self, extents: &[CardExtent]) -> Option<usize> {
        self.first_readings.iter().position(|first| extents.iter().all(|extent| first.covers(*extent)))
    }

    fn save_twice_read(&mut self, card: &mut IoDriver<'_>, wanted: &[CardExtent], block: u32) -> ProbeResult {
        // Each byte once: two copies of a place would have to be restored in the order in which they were saved.
        let mut wanted_now = ByteRanges::default();
        let new: Vec<CardExtent> = wanted
            .iter()
            .flat_map(|p| wanted_now.add(p.offset, p.end()))
            .flat_map(|(start, end)| self.saved.missing(start, end))
            .flat_map(|(start, end)| split_extents(start, end, block))
            .filter(|p| !self.unsavable.contains(p.offset, p.end()))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let ahead = self.first_reading_of(&new).map(|index| self.first_readings.swap_remove(index));
        let was_ahead = ahead.is_some();
        let read_now = || FirstReading::read_first(card, &new, &mut self.random);
        let first = ahead.map_or_else(read_now, Ok)?;
        let Some(journal) = self.journal.as_deref_mut() else { return Ok(()) };
        let (mut saved, mut unreadable, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        let ended = card.read(new, IoContent::Buffer, |extent, at, answer| {
            match answer {
                ReadAnswer::Differs { bytes, .. } => match first.compare(extent, bytes) {
                    ReadingMatch::Equal => {
                        journal.save(extent.offset, bytes)?;
                        saved.push(extent);
                    }
                    ReadingMatch::Missing => unreadable.push(extent),
                    // On a card whose addresses repeat, writes made since the first reading may show here.
                    ReadingMatch::Differ(_) if was_ahead => changed.push(extent),
                    ReadingMatch::Differ(suspect) => return Err(ProbeStop::SuspectReader(suspect)),
                },
                ReadAnswer::Same | ReadAnswer::Failed(_) => unreadable.push(extent),
            }
            if self.save_deadline.is_some_and(|end| at > end) { Err(ProbeStop::Limit) } else { Ok(()) }
        });
        if ended.as_ref().is_err_and(|stop| *stop != ProbeStop::Limit) {
            return ended;
        }
        journal.commit()?;
        saved.iter().for_each(|p| {
            self.originals.add_original(p.offset, p.end());
            self.saved.add(p.offset, p.end());
        });
        ended?;
        match (was_ahead, changed.is_empty()) {
            (true, true) => self.first_readings.insert(0, first),
            (_, true) => {}
            (_, false) => self.save_twice_read(card, &changed, block)?,
        }
        // A large extent may be unreadable in one place only, so its parts are tried one by one.
        let mut parts = Vec::new();
        for extent in unreadable {
            if extent.len <= SAVE_UNIT {
                self.unsavable.add(extent.offset, extent.end());
            } else {
                parts.extend(split_extents(extent.offset, extent.end(), SAVE_UNIT));
            }
        }
        if parts.is_empty() { Ok(()) } else { self.save_twice_read(card, &parts, SAVE_UNIT) }
    }
}
