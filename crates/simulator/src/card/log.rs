//! Log with merge at reclaim (model, W-L): random writes go to one log, and reclaiming it costs a merge for each
//! allocation unit that it touches. Random writes therefore get slower with their span, not with their number.
//!
//! The cost is charged as it accrues and paid one merge at a time: the mean is the model's closed form
//! t_b + D·T_m·c/L with D the units in the log, and single writes stall for T_m, as on real cards.

use super::counters::Work;
use super::timing::{Unit, ns, ns_per_byte};
use crate::archetype::{Flash, LogWrite};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes that one entry of the log stands for.
const ENTRY: u64 = 4096;

/// Streams of writes in order that are recognised side by side.
const STREAMS: usize = 16;

/// What a card of this family remembers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(crate) struct State {
    /// Unit of each entry, oldest first, so that units leave the log again.
    entries: VecDeque<u32>,
    /// Entries in the log for each unit.
    in_log: Vec<u32>,
    /// Units with at least one entry.
    distinct: u32,
    /// Cost that has accrued and is not yet paid.
    debt: f64,
    streams: [u64; STREAMS],
    oldest_stream: usize,
    /// Bytes written since a unit was last used up.
    filled: u64,
    /// What was done inside the card so far.
    pub(crate) work: Work,
}

impl State {
    /// Allocation units that the card has.
    pub(super) fn units(&self) -> usize {
        self.in_log.len()
    }
}

/// The state without what follows from the entries.
#[derive(Serialize, Deserialize)]
struct Saved {
    units: usize,
    entries: VecDeque<u32>,
    debt: f64,
    streams: [u64; STREAMS],
    oldest_stream: usize,
    filled: u64,
    work: Work,
}

/// The engine. Costs are nanoseconds, all of them serial.
#[derive(Debug)]
pub(crate) struct Log {
    fixed: f64,
    random: f64,
    per_byte: f64,
    merge: f64,
    /// Entries that the log holds.
    capacity: usize,
    /// What one entry adds to the debt for each unit in the log.
    share: f64,
    au: Unit,
    au_bytes: u64,
    /// True where the last write went in order.
    in_order: bool,
    pub(crate) state: State,
}

impl Log {
    pub(crate) fn new(p: &LogWrite, flash: &Flash, announced: u64, bus_mb_s: f64) -> Self {
        let capacity = (p.log_bytes / ENTRY).max(1) as usize;
        Log {
            fixed: ns(p.fixed_s),
            random: ns(p.random_s),
            per_byte: ns_per_byte(p.mb_s.min(bus_mb_s)),
            merge: ns(p.merge_s),
            capacity,
            share: 1.0 / capacity as f64,
            au: Unit::new(flash.au_bytes),
            au_bytes: flash.au_bytes,
            in_order: false,
            state: State {
                entries: VecDeque::with_capacity(capacity.min(1 << 20) + 1),
                in_log: vec![0; (announced / flash.au_bytes + 2) as usize],
                distinct: 0,
                debt: 0.0,
                streams: [u64::MAX; STREAMS],
                oldest_stream: 0,
                filled: 0,
                work: Work::default(),
            },
        }
    }

    /// Cost of writing `len` bytes at `offset`; `first` where this begins a command.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, first: bool) -> f64 {
        self.use_up(len);
        self.in_order = self.state.continues(offset, len) || !first || len >= self.au_bytes;
        if self.in_order {
            let fixed = if first { self.fixed } else { 0.0 };
            return fixed + len as f64 * self.per_byte;
        }
        self.out_of_order(offset, len)
    }

    /// Nanoseconds that a byte of the last write took, where that went in order.
    #[inline]
    pub(crate) fn in_order(&self) -> Option<f64> {
        self.in_order.then_some(self.per_byte)
    }

    /// Whatever is written, in order or to the log, uses up units that were erased for it.
    #[inline]
    fn use_up(&mut self, len: u64) {
        self.state.filled += len;
        if self.state.filled >= self.au_bytes {
            self.state.work.erased_units += self.au.number(self.state.filled);
            self.state.filled -= self.au.number(self.state.filled) * self.au_bytes;
        }
    }

    #[inline]
    fn out_of_order(&mut self, offset: u64, len: u64) -> f64 {
        let entries = len.div_ceil(ENTRY);
        for i in 0..entries {
            self.state.enter(self.au.number(offset + i * ENTRY) as u32, self.capacity);
        }
        // One write never costs more than merging its own unit outright.
        let share = f64::from(self.state.distinct) * entries as f64 * self.share;
        self.state.debt += self.merge * share.min(1.0);
        let rest = len.saturating_sub(ENTRY);
        let mut cost = self.random + rest as f64 * self.per_byte;
        if self.state.debt >= self.merge && self.merge > 0.0 {
            self.state.debt -= self.merge;
            cost += self.merge;
            self.state.work.merges += 1;
            self.state.work.copied_bytes += self.au_bytes;
            self.state.work.erased_units += 1;
        }
        cost
    }
}

impl State {
    #[inline]
    fn enter(&mut self, unit: u32, capacity: usize) {
        if self.entries.len() == capacity
            && let Some(old) = self.entries.pop_front()
        {
            self.in_log[old as usize] -= 1;
            self.distinct -= u32::from(self.in_log[old as usize] == 0);
        }
        self.distinct += u32::from(self.in_log[unit as usize] == 0);
        self.in_log[unit as usize] += 1;
        self.entries.push_back(unit);
    }

    /// True where the write continues a known stream; else it begins one, in place of the oldest.
    #[inline]
    fn continues(&mut self, offset: u64, len: u64) -> bool {
        if let Some(stream) = self.streams.iter_mut().find(|s| **s == offset) {
            *stream = offset + len;
            return true;
        }
        self.streams[self.oldest_stream] = offset + len;
        self.oldest_stream = (self.oldest_stream + 1) % STREAMS;
        false
    }
}

impl From<Saved> for State {
    fn from(saved: Saved) -> Self {
        let highest = saved.entries.iter().max().map_or(0, |unit| *unit as usize + 1);
        let mut in_log = vec![0u32; saved.units.max(highest)];
        saved.entries.iter().for_each(|unit| in_log[*unit as usize] += 1);
        State {
            distinct: in_log.iter().filter(|n| **n > 0).count() as u32,
            in_log,
            entries: saved.entries,
            debt: saved.debt,
            streams: saved.streams,
            oldest_stream: saved.oldest_stream % STREAMS,
            filled: saved.filled,
            work: saved.work,
        }
    }
}

impl From<State> for Saved {
    fn from(state: State) -> Self {
        Saved {
            units: state.in_log.len(),
            entries: state.entries,
            debt: state.debt,
            streams: state.streams,
            oldest_stream: state.oldest_stream,
            filled: state.filled,
            work: state.work,
        }
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
