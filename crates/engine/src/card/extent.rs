//! Ranges of a card, cut into the extents that one I/O each covers; which slot carries which of them; and what a read of
//! one gave, held against what was expected.

use crate::content::{ContentMatch, IoContent, compare};
use crate::target::{IoCompletion, TargetError};
use cardscope_model::units::Nanos;
use cardscope_model::verify::IoError;
use std::collections::VecDeque;

/// A range of the card that one I/O covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardExtent {
    /// First byte.
    pub offset: u64,
    /// Bytes, at most the block of the [`Card`](super::Card).
    pub len: u32,
}

impl CardExtent {
    /// First byte after it.
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// Cuts a range into extents of `block` bytes, the last one shorter.
pub fn extents(start: u64, end: u64, block: u32) -> impl Iterator<Item = CardExtent> {
    (start..end)
        .step_by(block.max(1) as usize)
        .map(move |offset| CardExtent { offset, len: u64::from(block).min(end - offset) as u32 })
}

/// A slot that carries nothing. An I/O can only begin in one, so that none begins in a slot that is busy or not planned.
#[derive(Debug)]
pub(super) struct FreeSlot(u32);

/// I/Os under way: which slot carries which extent since when, and what has ended and was not looked at yet.
#[derive(Debug)]
pub(super) struct InFlight {
    flying: Vec<Option<(CardExtent, Nanos)>>,
    free: Vec<FreeSlot>,
    landed: VecDeque<IoCompletion>,
}

/// An I/O that has ended.
#[derive(Debug)]
pub(super) struct EndedIo {
    pub(super) slot: u32,
    pub(super) extent: CardExtent,
    /// When it was handed over, and when it ended.
    pub(super) began: Nanos,
    pub(super) at: Nanos,
    pub(super) result: Result<(), TargetError>,
}

impl InFlight {
    pub(super) fn new(depth: u32) -> Self {
        InFlight {
            flying: vec![None; depth as usize],
            free: (0..depth).rev().map(FreeSlot).collect(),
            landed: VecDeque::new(),
        }
    }

    /// A free slot, until it is given back or an extent takes off in it.
    pub(super) fn take_free(&mut self) -> Option<FreeSlot> {
        self.free.pop()
    }

    pub(super) fn give_back(&mut self, slot: FreeSlot) {
        self.free.push(slot);
    }

    /// The number of the slot that carries an extent from here on.
    pub(super) fn take_off(&mut self, FreeSlot(slot): FreeSlot, extent: CardExtent, began: Nanos) -> u32 {
        self.flying[slot as usize] = Some((extent, began));
        slot
    }

    /// The extent in a slot was not taken after all.
    pub(super) fn stay(&mut self, slot: u32) {
        if self.flying.get_mut(slot as usize).and_then(Option::take).is_some() {
            self.free.push(FreeSlot(slot));
        }
    }

    /// Notes what has ended. An answer to an I/O that is none of these, such as a late one of an earlier plan, is dropped.
    pub(super) fn ended(&mut self, done: impl Iterator<Item = IoCompletion>) {
        let flying = &self.flying;
        let ours = |done: &IoCompletion| matches!(flying.get(done.slot as usize), Some(Some(_)));
        self.landed.extend(done.filter(ours));
    }

    /// The one that has ended longest ago. Its memory is its own until the next extent takes off.
    pub(super) fn land(&mut self) -> Option<EndedIo> {
        let IoCompletion { slot, at, result } = self.landed.pop_front()?;
        let (extent, began) = self.flying.get_mut(slot as usize)?.take()?;
        self.free.push(FreeSlot(slot));
        Some(EndedIo { slot, extent, began, at, result })
    }

    /// True where something has ended that was not looked at.
    pub(super) fn has_landed(&self) -> bool {
        !self.landed.is_empty()
    }

    /// True where no further I/O can begin.
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// How many are under way, or have ended and were not looked at.
    pub(super) fn flying(&self) -> u64 {
        self.flying.iter().flatten().count() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.flying.len()
    }
}

/// What became of one read.
#[derive(Debug)]
pub enum ReadAnswer<'a> {
    /// Everything as expected.
    Same,
    /// Something else; its bytes, and the first wrong one.
    Differs {
        /// What was read.
        bytes: &'a [u8],
        /// Offset within it.
        first: usize,
    },
    /// It failed twice.
    Failed(&'a IoError),
}

pub(super) fn differs(bytes: &[u8], first: u64) -> ReadAnswer<'_> {
    ReadAnswer::Differs { bytes, first: first as usize }
}

pub(super) fn compare_bytes(expected: IoContent, offset: u64, bytes: &[u8]) -> ContentMatch {
    match expected {
        IoContent::Buffer => ContentMatch::DiffersAt(0),
        _ => compare(expected, offset, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: CardExtent = CardExtent { offset: 0, len: 4096 };

    fn answer(slot: u32) -> IoCompletion {
        IoCompletion { slot, at: 1, result: Ok(()) }
    }

    #[test]
    fn an_answer_to_no_io_in_flight_is_dropped() {
        let mut flight = InFlight::new(2);
        let free = flight.take_free().unwrap();
        let slot = flight.take_off(free, FIRST, 0);
        // A slot of an earlier, deeper plan, one that carries nothing, the right one, and that one once more.
        flight.ended([answer(17), answer(1 - slot), answer(slot), answer(slot)].into_iter());
        assert_eq!(flight.land().map(|landed| (landed.slot, landed.extent)), Some((slot, FIRST)));
        assert!(flight.land().is_none() && flight.is_empty());
        assert_eq!(flight.free.len(), 2, "each slot is free once");
    }

    #[test]
    fn no_io_begins_without_a_free_slot() {
        let mut flight = InFlight::new(1);
        let free = flight.take_free().unwrap();
        assert!(flight.is_full() && flight.take_free().is_none());
        let slot = flight.take_off(free, FIRST, 0);
        assert!(flight.take_free().is_none());
        flight.stay(slot);
        flight.stay(slot);
        flight.stay(9);
        assert_eq!(flight.free.len(), 1);
    }
}
