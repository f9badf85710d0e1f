//! Ranges of a card, cut into the extents that one I/O each covers; which slot carries which of them; and what a read of
//! one gave, held against what was expected.

use super::stop::IoError;
use crate::content::{Content, Match, compare};
use crate::target::Completion;
use std::collections::VecDeque;

/// A range of the card that one I/O covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Bytes, at most the block of the [`Card`](super::Card).
    pub len: u32,
}

impl Extent {
    /// First byte after it.
    pub fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// Cuts a range into extents of `block` bytes, the last one shorter.
pub fn extents(start: u64, end: u64, block: u32) -> impl Iterator<Item = Extent> {
    (start..end)
        .step_by(block.max(1) as usize)
        .map(move |offset| Extent { offset, len: u64::from(block).min(end - offset) as u32 })
}

/// I/Os under way: which slot carries which extent, and what has ended and was not looked at yet.
pub(super) struct Flight {
    flying: Vec<Option<Extent>>,
    pub(super) free: Vec<u32>,
    pub(super) landed: VecDeque<Completion>,
}

impl Flight {
    pub(super) fn new(depth: u32) -> Self {
        Flight {
            flying: vec![None; depth as usize],
            free: (0..depth).rev().collect(),
            landed: VecDeque::new(),
        }
    }

    /// The slot that carries an extent from here on; there must be a free one.
    pub(super) fn take_off(&mut self, extent: Extent) -> u32 {
        let slot = self.free.pop().unwrap_or_default();
        self.flying[slot as usize] = Some(extent);
        slot
    }

    /// The extent in a slot was not taken after all.
    pub(super) fn stay(&mut self, slot: u32) {
        self.flying[slot as usize] = None;
        self.free.push(slot);
    }

    /// The one that has ended longest ago. Its memory is its own until the next extent takes off.
    pub(super) fn land(&mut self) -> Option<(u32, Extent, Completion)> {
        let ended = self.landed.pop_front()?;
        let extent = self.flying[ended.slot as usize].take()?;
        self.free.push(ended.slot);
        Some((ended.slot, extent, ended))
    }

    /// How many are under way, or have ended and were not looked at.
    pub(super) fn flying(&self) -> u64 {
        (self.flying.len() - self.free.len()) as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.flying.len()
    }
}

/// What became of one read.
#[derive(Debug)]
pub enum Answer<'a> {
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

pub(super) fn differs(bytes: &[u8], first: u64) -> Answer<'_> {
    Answer::Differs { bytes, first: first as usize }
}

pub(super) fn compare_bytes(expected: Content, offset: u64, bytes: &[u8]) -> Match {
    match expected {
        Content::Buffer => Match::DiffersAt(0),
        _ => compare(expected, offset, bytes),
    }
}
