//! Which slot carries which piece while several I/Os are under way.

use crate::piece::Piece;
use cardscope_engine::target::Completion;
use std::collections::VecDeque;

/// I/Os under way: which slot carries which piece, and what has ended and was not looked at yet.
pub(crate) struct Flight {
    flying: Vec<Option<Piece>>,
    pub(crate) free: Vec<u32>,
    pub(crate) landed: VecDeque<Completion>,
}

impl Flight {
    pub(crate) fn new(depth: u32) -> Self {
        Flight {
            flying: vec![None; depth as usize],
            free: (0..depth).rev().collect(),
            landed: VecDeque::new(),
        }
    }

    /// The slot that carries a piece from here on; there must be a free one.
    pub(crate) fn take_off(&mut self, piece: Piece) -> u32 {
        let slot = self.free.pop().unwrap_or_default();
        self.flying[slot as usize] = Some(piece);
        slot
    }

    /// The piece in a slot was not taken after all.
    pub(crate) fn stay(&mut self, slot: u32) {
        self.flying[slot as usize] = None;
        self.free.push(slot);
    }

    /// The one that has ended longest ago. Its memory is its own until the next piece takes off.
    pub(crate) fn land(&mut self) -> Option<(u32, Piece, Completion)> {
        let ended = self.landed.pop_front()?;
        let piece = self.flying[ended.slot as usize].take()?;
        self.free.push(ended.slot);
        Some((ended.slot, piece, ended))
    }

    /// How many are under way, or have ended and were not looked at.
    pub(crate) fn flying(&self) -> u64 {
        (self.flying.len() - self.free.len()) as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.flying.len()
    }
}
