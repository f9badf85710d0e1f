//! Extents, the ranges of single I/Os; the I/Os in flight by slot; and the result of a read compared with what was
//! expected.

use crate::content::{ContentMatch, IoContent, compare_content};
use crate::target::{IoCompletion, IoDirection, IoRequest, TargetResult};
use cardscope_model::units::Nanos;
use cardscope_model::verify::IoError;
use std::collections::VecDeque;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CardExtent {
    pub offset: u64,
    /// At most the block size of the [`IoDriver`](super::IoDriver).
    pub len: u32,
}

impl CardExtent {
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }

    pub(crate) fn request(self, slot: u32, direction: IoDirection, content: IoContent) -> IoRequest {
        IoRequest { slot, direction, offset: self.offset, len: self.len, content }
    }
}

impl IoRequest {
    pub(super) fn extent(&self) -> CardExtent {
        CardExtent { offset: self.offset, len: self.len }
    }
}

/// Splits a range into extents of `block` bytes; the last may be shorter.
pub fn split_extents(start: u64, end: u64, block: u32) -> impl Iterator<Item = CardExtent> {
    (start..end)
        .step_by(block.max(1) as usize)
        .map(move |offset| CardExtent { offset, len: u64::from(block).min(end - offset) as u32 })
}

/// Slot that is planned and not in use. Starting an I/O consumes one, so none can start in a busy slot.
#[derive(Debug)]
pub(super) struct FreeSlot(u32);

/// I/Os in flight by slot, and completions that were not handled yet.
#[derive(Debug)]
pub(super) struct InFlight {
    in_flight: Vec<Option<(CardExtent, Nanos)>>,
    free: Vec<FreeSlot>,
    completed: VecDeque<IoCompletion>,
}

#[derive(Debug)]
pub(super) struct EndedIo {
    pub(super) slot: u32,
    pub(super) extent: CardExtent,
    /// Time of submission. `at` is the time of completion.
    pub(super) began: Nanos,
    pub(super) at: Nanos,
    pub(super) result: TargetResult,
}

impl InFlight {
    pub(super) fn new(depth: u32) -> Self {
        InFlight {
            in_flight: vec![None; depth as usize],
            free: (0..depth).rev().map(FreeSlot).collect(),
            completed: VecDeque::new(),
        }
    }

    pub(super) fn take_free_slot(&mut self) -> Option<FreeSlot> {
        self.free.pop()
    }

    pub(super) fn return_slot(&mut self, slot: FreeSlot) {
        self.free.push(slot);
    }

    /// Marks a slot as carrying an extent, and returns its number.
    pub(super) fn start_io(&mut self, FreeSlot(slot): FreeSlot, extent: CardExtent, began: Nanos) -> u32 {
        self.in_flight[slot as usize] = Some((extent, began));
        slot
    }

    /// Frees the slot of an extent whose submission failed.
    pub(super) fn cancel_io(&mut self, slot: u32) {
        if self.in_flight.get_mut(slot as usize).and_then(Option::take).is_some() {
            self.free.push(FreeSlot(slot));
        }
    }

    /// Queues completions. Those of unknown I/Os, such as late ones of an earlier plan, are dropped.
    pub(super) fn queue_completions(&mut self, done: impl Iterator<Item = IoCompletion>) {
        let flying = &self.in_flight;
        let ours = |done: &IoCompletion| matches!(flying.get(done.slot as usize), Some(Some(_)));
        self.completed.extend(done.filter(ours));
    }

    /// Oldest completion that was not handled yet. The memory of its slot stays untouched until the next I/O starts
    /// there.
    pub(super) fn next_completion(&mut self) -> Option<EndedIo> {
        let IoCompletion { slot, at, result } = self.completed.pop_front()?;
        let (extent, began) = self.in_flight.get_mut(slot as usize)?.take()?;
        self.free.push(FreeSlot(slot));
        Some(EndedIo { slot, extent, began, at, result })
    }

    pub(super) fn has_completions(&self) -> bool {
        !self.completed.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }

    /// Number of I/Os in flight or completed and not handled yet.
    pub(super) fn count_unhandled(&self) -> u64 {
        self.in_flight.iter().flatten().count() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.in_flight.len()
    }
}

/// Result of one read, compared with the expected content.
#[derive(Debug)]
pub enum ReadAnswer<'a> {
    Same,
    /// Not as expected.
    Differs {
        bytes: &'a [u8],
        /// Offset of the first wrong byte within the read.
        first: usize,
    },
    Failed(&'a IoError),
}

pub(super) fn compare_bytes(expected: IoContent, offset: u64, bytes: &[u8]) -> ContentMatch {
    match expected {
        IoContent::Buffer => ContentMatch::DiffersAt(0),
        _ => compare_content(expected, offset, bytes),
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
    fn completion_of_unknown_io_is_dropped() {
        let mut flight = InFlight::new(2);
        let free = flight.take_free_slot().unwrap();
        let slot = flight.start_io(free, FIRST, 0);
        // A slot of an earlier, deeper plan, one that carries nothing, the right one, and that one once more.
        flight.queue_completions([answer(17), answer(1 - slot), answer(slot), answer(slot)].into_iter());
        assert_eq!(flight.next_completion().map(|landed| (landed.slot, landed.extent)), Some((slot, FIRST)));
        assert!(flight.next_completion().is_none() && flight.is_empty());
        assert_eq!(flight.free.len(), 2, "each slot is free once");
    }

    #[test]
    fn io_needs_free_slot() {
        let mut flight = InFlight::new(1);
        let free = flight.take_free_slot().unwrap();
        assert!(flight.is_full() && flight.take_free_slot().is_none());
        let slot = flight.start_io(free, FIRST, 0);
        assert!(flight.take_free_slot().is_none());
        flight.cancel_io(slot);
        flight.cancel_io(slot);
        flight.cancel_io(9);
        assert_eq!(flight.free.len(), 1);
    }
}
