//! Saves what a probe is about to overwrite: what is saved already is not saved again, and a block that cannot be
//! read, so that it cannot be saved, must not be overwritten.
//!
//! Nothing is saved through a reader that gives different data for one place: reads are compared before the first write
//! (`reader_check`), and every block is read twice, in different requests, before it counts as saved (`double_reading`).

pub use crate::double_reading::UNIT;
use crate::double_reading::{self, FirstReading, ReadingMatch};
use crate::reader_check::{self, WINDOW, compare_reads, places_with_data, read_end};
use cardscope_engine::card::{CardExtent, IoCosts, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::content::IoContent;
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::ranges::ByteRanges;
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::random::SeededRandom;
use cardscope_model::units::{Nanos, seconds};

/// Originals are put back in I/Os of this size: the longest record of a journal.
const PUT_BACK: u64 = 1 << 20;

/// They are compared in others, unlike those that saved them.
const READ_BACK: u64 = 508 << 10;

/// What is put back is written and read so often at most: a card that does not keep it is asked once more, both ways, and
/// compared twice each time.
const WRITES: u64 = 2;
const READS: u64 = 4;

/// So many I/Os of together so many bytes, and so many small ones apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IoAmount {
    ios: u64,
    bytes: u64,
    small: u64,
}

impl IoAmount {
    /// One more original.
    fn add(&mut self, start: u64, end: u64) {
        if end - start <= u64::from(UNIT) {
            self.small += 1;
        } else {
            self.ios += (end - start).div_ceil(PUT_BACK);
            self.bytes += end - start;
        }
    }

    /// Seconds that putting so much back takes, whatever the card does with it.
    fn put_back_seconds(self, costs: &IoCosts) -> f64 {
        let IoAmount { ios, bytes, small } = self;
        if ios + small == 0 {
            return 0.0;
        }
        costs.of(IoDirection::Write, WRITES * ios, WRITES * bytes)
            + costs.of(IoDirection::Write, WRITES * small, 0)
            + costs.of(IoDirection::Read, READS * small, 0)
            // One read tells whether it is still the same card.
            + costs.of(IoDirection::Read, READS * (ios + bytes / READ_BACK) + 1, READS * bytes)
            + WRITES as f64 * costs.flush()
    }
}

/// Stamps that may be written where a card holds no data on which reads could be compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StampPlace {
    /// As the journal has noted it.
    pub(crate) salt: u64,
    /// Part of the target that may be overwritten.
    pub(crate) region: TargetRegion,
    /// Bytes that may be written at most.
    pub(crate) max_bytes: u64,
}

impl StampPlace {
    /// Where the stamps go; `None` where there is no room for them.
    fn extent(&self, card: &IoDriver<'_>) -> Option<CardExtent> {
        let (region, window) = (self.region, u64::from(WINDOW));
        let end = region.end().min(card.bytes());
        [region.start.max(STAMPS_AT), region.start.next_multiple_of(window)]
            .into_iter()
            .find(|start| start + window <= end && window <= self.max_bytes)
            .map(|offset| CardExtent { offset, len: WINDOW })
    }
}

/// Seconds that reading ahead may take.
const AHEAD_S: f64 = 0.5;

/// Nothing is read ahead on an unknown card where less than this is left.
const SHORT_S: f64 = 10.0;

/// First readings that are held at most.
const AHEAD: usize = 4;

/// The first stamps lie here, where a card has so much: behind what file systems put first, and where also most fakes
/// store what is written.
const STAMPS_AT: u64 = 20 << 20;

/// What is saved of a card. Without a journal its content may go, and nothing is saved.
pub struct WriteScope<'k> {
    journal: Option<&'k mut dyn JournalWriter>,
    saved: ByteRanges,
    unsavable: ByteRanges,
    end: Option<Nanos>,
    /// What is to be put back.
    originals: IoAmount,
    /// First readings of what is going to be saved soon.
    ahead: Vec<FirstReading>,
    /// True once reads of the card were compared.
    is_reader_checked: bool,
    /// When the test ends, restoring included; `None` without a limit.
    check_end: Option<Nanos>,
    stamps: Option<StampPlace>,
    random: SeededRandom,
}

impl<'k> WriteScope<'k> {
    /// Nothing is saved yet. `None` says that the card's content may go.
    pub fn new(journal: Option<&'k mut dyn JournalWriter>) -> Self {
        WriteScope {
            journal,
            saved: ByteRanges::default(),
            unsavable: ByteRanges::default(),
            end: None,
            originals: IoAmount::default(),
            ahead: Vec::new(),
            is_reader_checked: false,
            check_end: None,
            stamps: None,
            random: SeededRandom::new(0),
        }
    }

    /// Lets an empty card be stamped in one place, which is saved first, so that reads of it can be compared.
    /// The check of the reader takes a part of the time until `end`.
    pub(crate) fn allow_stamps(&mut self, stamps: StampPlace, end: Option<Nanos>) {
        self.random = SeededRandom::new(stamps.salt);
        (self.stamps, self.check_end) = (Some(stamps), end);
    }

    /// Saves nothing more after this moment of the card's clock: a card that begins to stall must not be waited for
    /// until the whole of a batch is saved.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = Some(end);
    }

    /// Seconds that saving and writing these extents takes, and putting back all that is saved by then.
    pub(crate) fn seconds(&self, card: &IoDriver<'_>, extents: &[CardExtent]) -> f64 {
        let costs = card.costs();
        let (ios, bytes) = (extents.len() as u64, extents.iter().map(|p| u64::from(p.len)).sum());
        let write = match ios {
            0 => 0.0,
            _ => costs.of(IoDirection::Write, ios, bytes) + costs.flush(),
        };
        if !self.saves_first() {
            return write;
        }
        let (mut save, mut back) = (IoAmount::default(), self.originals);
        let missing = extents.iter().flat_map(|extent| self.saved.missing(extent.offset, extent.end()));
        for (start, end) in missing {
            save.ios += 1;
            save.bytes += end - start;
            back.add(start, end);
        }
        let first = double_reading::seconds(costs, card.block().max(WINDOW), save.ios, save.bytes);
        let check =
            if save.ios > 0 && !self.is_reader_checked { reader_check::least_seconds(card) } else { 0.0 };
        check
            + first
            + costs.of(IoDirection::Read, save.ios, save.bytes)
            + write
            + back.put_back_seconds(costs)
    }

    /// True where the content is saved first.
    pub fn saves_first(&self) -> bool {
        self.journal.is_some()
    }

    /// Whether an extent may be overwritten now: all of it is saved, or may go.
    pub fn covers(&self, extent: CardExtent) -> bool {
        self.journal.is_none() || self.saved.contains(extent.offset, extent.end())
    }

    /// Whether a part of an extent could not be saved.
    pub(crate) fn failed_on(&self, extent: CardExtent) -> bool {
        self.unsavable.touches(extent.offset, extent.end())
    }

    /// Saves what stands in extents that are about to be overwritten. On disk when it returns.
    ///
    /// # Errors
    /// If the card is gone, the user stopped it, or the journal cannot take it; then nothing may be written.
    /// [`Stop::Limit`] where the time was over before all of it was saved, [`Stop::SuspectReader`] where two reads of a
    /// place differ.
    pub fn save(&mut self, card: &mut IoDriver<'_>, wanted: &[CardExtent]) -> Result<(), ProbeStop> {
        if self.journal.is_none() || wanted.iter().all(|p| self.saved.contains(p.offset, p.end())) {
            return Ok(());
        }
        let (block, depth) = (card.block(), card.depth());
        if block < WINDOW {
            card.shape(WINDOW, depth.min(2))?;
        }
        let saved = self.save_checked(card, wanted, block);
        if block < WINDOW && !matches!(saved, Err(ProbeStop::Target(_))) {
            card.shape(block, depth)?;
        }
        saved
    }

    /// Saves extents; before anything is overwritten reads are compared, once. Where the card holds no data, they are
    /// compared over stamps in a place that is saved with the rest.
    fn save_checked(
        &mut self,
        card: &mut IoDriver<'_>,
        wanted: &[CardExtent],
        block: u32,
    ) -> Result<(), ProbeStop> {
        if self.is_reader_checked {
            return self.save_twice_read(card, wanted, block);
        }
        let end = reader_check::must_end(card, self.check_end);
        read_end(card)?;
        let mut places = places_with_data(card, &mut self.random, end)?;
        if !places.is_empty() {
            compare_reads(card, &places, &mut self.random, end)?;
            self.is_reader_checked = true;
            self.afford(card, wanted)?;
            return self.save_twice_read(card, wanted, block);
        }
        let stamps = self.stamps.and_then(|stamps| stamps.extent(card));
        let all: Vec<CardExtent> = wanted.iter().chain(&stamps).copied().collect();
        if self.check_end.is_some() {
            // Small reads say nothing of what a byte costs.
            let last = card.bytes().saturating_sub(u64::from(WINDOW));
            let offset = stamps.or_else(|| wanted.first().copied()).map_or(0, |place| place.offset.min(last));
            card.time(IoDirection::Read, IoContent::Buffer, CardExtent { offset, len: WINDOW })?;
        }
        self.afford(card, stamps.as_ref().map_or(wanted, std::slice::from_ref))?;
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

    /// Whether there is time for saving and writing these extents, and for restoring them.
    ///
    /// # Errors
    /// [`Stop::Limit`] where there is not.
    fn afford(&self, card: &mut IoDriver<'_>, wanted: &[CardExtent]) -> Result<(), ProbeStop> {
        match self.check_end {
            Some(end) if card.seconds() + self.seconds(card, wanted) > seconds(end) => Err(ProbeStop::Limit),
            _ => Ok(()),
        }
    }

    /// Reads extents for the first time, before they are saved one small group after the other: as many as take less than
    /// [`AHEAD_S`]. Nothing where the first of them were read already, or nothing is saved.
    pub(crate) fn read_ahead(
        &mut self,
        card: &mut IoDriver<'_>,
        wanted: &[CardExtent],
    ) -> Result<(), ProbeStop> {
        let Some(first) = wanted.first() else { return Ok(()) };
        if !self.saves_first()
            || self.saved.contains(first.offset, first.end())
            || self.ahead_of(&[*first]).is_some()
        {
            return Ok(());
        }
        // What a byte costs is not known yet, and a slow card takes seconds for what is read beside.
        let is_short = self.check_end.is_some_and(|end| card.seconds() + SHORT_S > seconds(end));
        if is_short && !self.is_reader_checked {
            return Ok(());
        }
        let mut bytes = 0;
        let is_quick = |(index, extent): &(usize, &CardExtent)| {
            bytes += u64::from(extent.len);
            *index == 0 || card.costs().of(IoDirection::Read, 1 + *index as u64, bytes) < AHEAD_S
        };
        let mut some: Vec<CardExtent> =
            wanted.iter().enumerate().take_while(is_quick).map(|(_, extent)| *extent).collect();
        // Where the card turns out to be empty, the place of the stamps is saved first. In a limited time it may be too long.
        if !self.is_reader_checked && self.check_end.is_none() {
            some.extend(self.stamps.and_then(|stamps| stamps.extent(card)));
        }
        let first = FirstReading::of(card, &some, &mut self.random)?;
        self.ahead.truncate(AHEAD - 1);
        self.ahead.insert(0, first);
        Ok(())
    }

    /// Which of the first readings has all of these extents.
    fn ahead_of(&self, extents: &[CardExtent]) -> Option<usize> {
        self.ahead.iter().position(|first| extents.iter().all(|extent| first.covers(*extent)))
    }

    fn save_twice_read(
        &mut self,
        card: &mut IoDriver<'_>,
        wanted: &[CardExtent],
        block: u32,
    ) -> Result<(), ProbeStop> {
        // Each byte once: two copies of a place would have to be put back in the order in which they were saved.
        let mut wanted_now = ByteRanges::default();
        let new: Vec<CardExtent> = wanted
            .iter()
            .flat_map(|p| wanted_now.add(p.offset, p.end()))
            .flat_map(|(start, end)| self.saved.missing(start, end))
            .flat_map(|(start, end)| extents(start, end, block))
            .filter(|p| !self.unsavable.contains(p.offset, p.end()))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let ahead = self.ahead_of(&new).map(|index| self.ahead.swap_remove(index));
        let was_ahead = ahead.is_some();
        let first = match ahead {
            Some(first) => first,
            None => FirstReading::of(card, &new, &mut self.random)?,
        };
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
                    // What was written since may stand there, on a card whose addresses repeat.
                    ReadingMatch::Differ(_) if was_ahead => changed.push(extent),
                    ReadingMatch::Differ(suspect) => return Err(ProbeStop::SuspectReader(suspect)),
                },
                ReadAnswer::Same | ReadAnswer::Failed(_) => unreadable.push(extent),
            }
            if self.end.is_some_and(|end| at > end) { Err(ProbeStop::Limit) } else { Ok(()) }
        });
        if ended.as_ref().is_err_and(|stop| *stop != ProbeStop::Limit) {
            return ended;
        }
        journal.commit()?;
        saved.iter().for_each(|p| {
            self.originals.add(p.offset, p.end());
            self.saved.add(p.offset, p.end());
        });
        ended?;
        match (was_ahead, changed.is_empty()) {
            (true, true) => self.ahead.insert(0, first),
            (_, true) => {}
            (_, false) => self.save_twice_read(card, &changed, block)?,
        }
        // A large extent may be unreadable in one place only: what can be saved of it is.
        let mut parts = Vec::new();
        for extent in unreadable {
            if extent.len <= UNIT {
                self.unsavable.add(extent.offset, extent.end());
            } else {
                parts.extend(extents(extent.offset, extent.end(), UNIT));
            }
        }
        if parts.is_empty() { Ok(()) } else { self.save_twice_read(card, &parts, UNIT) }
    }
}
