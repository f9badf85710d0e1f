//! Saves what a probe is about to overwrite: what is saved already is not saved again, and a block that cannot be
//! read, so that it cannot be saved, must not be overwritten.

use cardscope_engine::card::{Answer, Card, Costs, Extent, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::journal::Journal;
use cardscope_engine::ranges::Ranges;
use cardscope_engine::target::Direction;
use cardscope_model::units::Nanos;

/// Smallest range that is saved or given up by itself: the page of every cache of a fake that is known, and a
/// multiple of every sector.
pub(crate) const UNIT: u32 = 4096;

/// Originals are put back and compared in I/Os of this size: the longest record of a journal.
const PUT_BACK: u64 = 1 << 20;

/// What is put back is written and read so often at most: a card that does not keep it is asked once more, both ways, and
/// compared twice each time.
const WRITES: u64 = 2;
const READS: u64 = 4;

/// So many I/Os of together so many bytes, and so many small ones apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    ios: u64,
    bytes: u64,
    small: u64,
}

impl Amount {
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
    fn put_back_seconds(self, costs: &Costs) -> f64 {
        let Amount { ios, bytes, small } = self;
        if ios + small == 0 {
            return 0.0;
        }
        costs.of(Direction::Write, WRITES * ios, WRITES * bytes)
            + costs.of(Direction::Write, WRITES * small, 0)
            + costs.of(Direction::Read, READS * small, 0)
            // One read tells whether it is still the same card.
            + costs.of(Direction::Read, READS * ios + 1, READS * bytes)
            + WRITES as f64 * costs.flush()
    }
}

/// What is saved of a card. Without a journal its content may go, and nothing is saved.
pub struct WriteScope<'k> {
    journal: Option<&'k mut dyn Journal>,
    saved: Ranges,
    unsavable: Ranges,
    end: Option<Nanos>,
    /// What is to be put back.
    originals: Amount,
}

impl<'k> WriteScope<'k> {
    /// Nothing is saved yet. `None` says that the card's content may go.
    pub fn new(journal: Option<&'k mut dyn Journal>) -> Self {
        WriteScope {
            journal,
            saved: Ranges::default(),
            unsavable: Ranges::default(),
            end: None,
            originals: Amount::default(),
        }
    }

    /// Saves nothing more after this moment of the card's clock: a card that begins to stall must not be waited for
    /// until the whole of a batch is saved.
    pub(crate) fn end_at(&mut self, end: Nanos) {
        self.end = Some(end);
    }

    /// Seconds that saving and writing these extents takes, and putting back all that is saved by then.
    pub(crate) fn seconds(&self, costs: &Costs, extents: &[Extent]) -> f64 {
        let (ios, bytes) = (extents.len() as u64, extents.iter().map(|p| u64::from(p.len)).sum());
        let write = match ios {
            0 => 0.0,
            _ => costs.of(Direction::Write, ios, bytes) + costs.flush(),
        };
        if !self.saves_first() {
            return write;
        }
        let (mut save, mut back) = (Amount::default(), self.originals);
        let missing = extents.iter().flat_map(|extent| self.saved.missing(extent.offset, extent.end()));
        for (start, end) in missing {
            save.ios += 1;
            save.bytes += end - start;
            back.add(start, end);
        }
        costs.of(Direction::Read, save.ios, save.bytes) + write + back.put_back_seconds(costs)
    }

    /// True where the content is saved first.
    pub fn saves_first(&self) -> bool {
        self.journal.is_some()
    }

    /// Whether an extent may be overwritten now: all of it is saved, or may go.
    pub fn covers(&self, extent: Extent) -> bool {
        self.journal.is_none() || self.saved.contains(extent.offset, extent.end())
    }

    /// Whether a part of an extent could not be saved.
    pub(crate) fn failed_on(&self, extent: Extent) -> bool {
        self.unsavable.touches(extent.offset, extent.end())
    }

    /// Saves what stands in extents that are about to be overwritten. On disk when it returns.
    ///
    /// # Errors
    /// If the card is gone, the user stopped it, or the journal cannot take it; then nothing may be written.
    /// [`Stop::Limit`] where the time was over before all of it was saved.
    pub fn save(&mut self, card: &mut Card<'_>, wanted: &[Extent]) -> Result<(), Stop> {
        let Some(journal) = self.journal.as_deref_mut() else { return Ok(()) };
        let block = card.block();
        // Each byte once: two copies of a place would have to be put back in the order in which they were saved.
        let mut wanted_now = Ranges::default();
        let new: Vec<Extent> = wanted
            .iter()
            .flat_map(|p| wanted_now.add(p.offset, p.end()))
            .flat_map(|(start, end)| self.saved.missing(start, end))
            .flat_map(|(start, end)| extents(start, end, block))
            .filter(|p| !self.unsavable.contains(p.offset, p.end()))
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let (mut saved, mut unreadable) = (Vec::new(), Vec::new());
        let ended = card.read(new, Content::Buffer, |extent, at, answer| {
            match answer {
                Answer::Differs { bytes, .. } => {
                    journal.save(extent.offset, bytes)?;
                    saved.push(extent);
                }
                Answer::Same | Answer::Failed(_) => unreadable.push(extent),
            }
            if self.end.is_some_and(|end| at > end) { Err(Stop::Limit) } else { Ok(()) }
        });
        if ended.as_ref().is_err_and(|stop| *stop != Stop::Limit) {
            return ended;
        }
        journal.commit()?;
        saved.iter().for_each(|p| {
            self.originals.add(p.offset, p.end());
            self.saved.add(p.offset, p.end());
        });
        ended?;
        // A large extent may be unreadable in one place only: what can be saved of it is.
        for extent in unreadable {
            if extent.len <= UNIT {
                self.unsavable.add(extent.offset, extent.end());
            } else {
                let parts: Vec<Extent> = extents(extent.offset, extent.end(), UNIT).collect();
                self.save(card, &parts)?;
            }
        }
        Ok(())
    }
}
