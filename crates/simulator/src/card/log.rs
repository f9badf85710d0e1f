//! Log with merge at reclaim (model, W-L): random writes go to one log, and reclaiming it costs a merge for each
//! allocation unit that it touches. Random writes therefore get slower with their span, not with their number.
//!
//! The cost is charged as it accrues and paid one merge at a time: the mean is the model's closed form
//! t_b + D·T_m·c/L with D the units in the log, and single writes stall for T_m, as on real cards.

use super::timing::{Unit, ns, ns_per_byte};
use crate::archetype::{Flash, LogWrite};
use std::collections::VecDeque;

/// Bytes that one entry of the log stands for.
const ENTRY: u64 = 4096;

/// Streams of writes in order that are recognised side by side.
const STREAMS: usize = 16;

/// The engine. Costs are nanoseconds, all of them serial.
#[derive(Debug)]
pub(crate) struct Log {
    fixed: f64,
    random: f64,
    per_byte: f64,
    merge: f64,
    /// Entries that the log holds.
    capacity: usize,
    au: Unit,
    au_bytes: u64,
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
            au: Unit::new(flash.au_bytes),
            au_bytes: flash.au_bytes,
            entries: VecDeque::with_capacity(capacity.min(1 << 20) + 1),
            in_log: vec![0; (announced / flash.au_bytes + 2) as usize],
            distinct: 0,
            debt: 0.0,
            streams: [u64::MAX; STREAMS],
            oldest_stream: 0,
        }
    }

    /// Cost of writing `len` bytes at `offset`; `first` where this begins a command.
    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, first: bool) -> f64 {
        let continues = self.continues(offset, len);
        if continues || !first || len >= self.au_bytes {
            let fixed = if first { self.fixed } else { 0.0 };
            return fixed + len as f64 * self.per_byte;
        }
        self.out_of_order(offset, len)
    }

    #[inline]
    fn out_of_order(&mut self, offset: u64, len: u64) -> f64 {
        let entries = len.div_ceil(ENTRY);
        for i in 0..entries {
            self.enter(self.au.number(offset + i * ENTRY) as u32);
        }
        // One write never costs more than merging its own unit outright.
        let share = f64::from(self.distinct) * entries as f64 / self.capacity as f64;
        self.debt += self.merge * share.min(1.0);
        let rest = len.saturating_sub(ENTRY);
        let mut cost = self.random + rest as f64 * self.per_byte;
        if self.debt >= self.merge && self.merge > 0.0 {
            self.debt -= self.merge;
            cost += self.merge;
        }
        cost
    }

    #[inline]
    fn enter(&mut self, unit: u32) {
        if self.entries.len() == self.capacity
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
