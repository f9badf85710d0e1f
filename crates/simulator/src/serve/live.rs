//! The card with its content on the real clock: each request is put to the model at the moment it comes, and the
//! model's answer is a moment on the same clock.

use crate::card::Command;
use crate::content::{Medium, Piece, What, fill};
use crate::rig::Rig;
use crate::target::medium;
use crate::target_spec::TargetSpec;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A card that somebody is using now.
pub(super) struct Live {
    bytes: u64,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    rig: Rig,
    medium: Medium,
    pieces: Vec<Piece>,
}

/// The card cannot read the block.
pub(super) struct Unreadable;

impl Live {
    pub(super) fn new(spec: &TargetSpec) -> Self {
        let a = &spec.archetype;
        let state = State { rig: Rig::new(a, spec.seed), medium: medium(spec), pieces: Vec::new() };
        Live { bytes: a.announced_bytes, start: Instant::now(), state: Mutex::new(state) }
    }

    /// Bytes that the card announces.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads; the range lies within the card.
    pub(super) fn read(
        &self,
        offset: u64,
        len: u64,
        in_flight: u32,
    ) -> (Instant, Result<Vec<u8>, Unreadable>) {
        let mut state = self.state();
        let end = state.rig.command(self.now(), Command { write: false, offset, len, in_flight });
        let data = state.fetch(offset, len);
        (self.at(end), data)
    }

    /// Writes; the range lies within the card.
    pub(super) fn write(&self, offset: u64, data: &[u8], in_flight: u32) -> Instant {
        let mut state = self.state();
        let len = data.len() as u64;
        let end = state.rig.command(self.now(), Command { write: true, offset, len, in_flight });
        state.medium.write_bytes(offset, data);
        self.at(end)
    }

    /// Has the card store everything.
    pub(super) fn flush(&self) -> Instant {
        let end = self.state().rig.card.flush(self.now());
        self.at(end)
    }

    /// Tells the card that a range holds nothing of value.
    pub(super) fn discard(&self, offset: u64, len: u64) {
        let mut state = self.state();
        state.medium.discard(offset, len);
        state.rig.card.discard(self.now(), offset, len);
    }

    /// Nanoseconds on the card's clock.
    fn now(&self) -> f64 {
        self.start.elapsed().as_nanos() as f64
    }

    fn at(&self, nanos: f64) -> Instant {
        self.start + Duration::from_nanos(nanos as u64)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn fetch(&mut self, offset: u64, len: u64) -> Result<Vec<u8>, Unreadable> {
        self.pieces.clear();
        self.medium.read(offset, len, &mut self.pieces).map_err(|_| Unreadable)?;
        let mut data = vec![0; len as usize];
        let mut at = 0;
        for piece in &self.pieces {
            let end = at + piece.len as usize;
            if piece.what == What::Bytes {
                self.medium.fetch(piece, &mut data[at..end]);
            }
            at = end;
        }
        fill(&self.pieces, &mut data);
        Ok(data)
    }
}
