//! Log engine (docs/reference/flash.md#span-of-random-writes): random writes go to one log, and reclaiming it costs a
//! merge for each allocation unit in it. Random writes therefore get slower with their span, not with their number.
//!
//! The cost accrues with each write and is paid one merge at a time: the mean is the closed form t_b + D·T_m·c/L with D
//! the units in the log and c the bytes of an entry, and single writes stall for T_m, as on real cards.

use super::command::{FlashUnit, MappingWork, ns_per_byte, seconds_to_ns};
use crate::archetype::{Archetype, LogWrite};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bytes of an entry of the log.
const ENTRY_BYTES: u64 = 4096;

/// Streams of writes in order that are recognised at the same time.
const MAX_STREAMS: usize = 16;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LogState {
    pub(super) units: usize,
    /// Unit of each entry, oldest first, so that a unit leaves the log with its last entry.
    entries: VecDeque<u32>,
    /// Merge time in ns that has accrued and is not yet paid.
    debt: f64,
    streams: [u64; MAX_STREAMS],
    oldest_stream: usize,
    /// Bytes written since the last erasure was counted.
    filled: u64,
    pub(crate) work: MappingWork,
}

/// Costs are nanoseconds, all of them serial.
#[derive(Debug)]
pub(crate) struct LogEngine {
    parameters: LogWrite,
    per_byte: f64,
    capacity: usize,
    /// Share of a merge that one entry adds for each unit in the log.
    entry_share: f64,
    au: FlashUnit,
    in_order: bool,
    /// Entries by unit.
    in_log: Vec<u32>,
    /// Units with at least one entry.
    distinct: u32,
    pub(crate) state: LogState,
}

impl LogEngine {
    pub(crate) fn new(p: &LogWrite, card: &Archetype, bus_mb_s: f64) -> Self {
        let capacity = (p.log_bytes / ENTRY_BYTES).max(1) as usize;
        let units = (card.announced_bytes / card.flash.au_bytes + 2) as usize;
        LogEngine {
            parameters: *p,
            per_byte: ns_per_byte(p.mb_s.min(bus_mb_s)),
            capacity,
            entry_share: 1.0 / capacity as f64,
            au: FlashUnit::new(card.flash.au_bytes),
            in_order: false,
            in_log: vec![0; units],
            distinct: 0,
            state: LogState {
                units,
                entries: VecDeque::with_capacity(capacity.min(1 << 20) + 1),
                debt: 0.0,
                streams: [u64::MAX; MAX_STREAMS],
                oldest_stream: 0,
                filled: 0,
                work: MappingWork::default(),
            },
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, first: bool) -> f64 {
        self.count_erasures(len);
        // Later pieces of a command, and writes of a whole unit, need no log.
        self.in_order = self.state.continues_stream(offset, len) || !first || len >= self.au.bytes;
        if self.in_order {
            let fixed = if first { seconds_to_ns(self.parameters.fixed_s) } else { 0.0 };
            return fixed + len as f64 * self.per_byte;
        }
        self.write_out_of_order(offset, len)
    }

    #[inline]
    pub(crate) fn in_order_cost(&self) -> Option<f64> {
        self.in_order.then_some(self.per_byte)
    }

    /// Counts erasures: every write, in order or to the log, uses up erased units.
    #[inline]
    fn count_erasures(&mut self, len: u64) {
        self.state.filled += len;
        let units = self.au.unit_number(self.state.filled);
        self.state.work.erased_units += units;
        self.state.filled -= units * self.au.bytes;
    }

    #[inline]
    fn write_out_of_order(&mut self, offset: u64, len: u64) -> f64 {
        let entries = len.div_ceil(ENTRY_BYTES);
        for i in 0..entries {
            self.add_entry(self.au.unit_number(offset + i * ENTRY_BYTES) as u32);
        }
        // A write never costs more than an immediate merge of its unit.
        let share = f64::from(self.distinct) * entries as f64 * self.entry_share;
        let merge = seconds_to_ns(self.parameters.merge_s);
        self.state.debt += merge * share.min(1.0);
        let rest = len.saturating_sub(ENTRY_BYTES);
        let mut cost = seconds_to_ns(self.parameters.random_s) + rest as f64 * self.per_byte;
        if self.state.debt >= merge && merge > 0.0 {
            self.state.debt -= merge;
            cost += merge;
            self.state.work.merges += 1;
            self.state.work.copied_bytes += self.au.bytes;
            self.state.work.erased_units += 1;
        }
        cost
    }

    #[inline]
    fn add_entry(&mut self, unit: u32) {
        if self.state.entries.len() == self.capacity
            && let Some(old) = self.state.entries.pop_front()
        {
            self.in_log[old as usize] -= 1;
            self.distinct -= u32::from(self.in_log[old as usize] == 0);
        }
        self.distinct += u32::from(self.in_log[unit as usize] == 0);
        self.in_log[unit as usize] += 1;
        self.state.entries.push_back(unit);
    }

    /// Continues from a saved state that fits this card.
    pub(super) fn restore_state(&mut self, state: LogState) {
        self.in_log = vec![0; state.units];
        state.entries.iter().for_each(|unit| self.in_log[*unit as usize] += 1);
        self.distinct = self.in_log.iter().filter(|n| **n > 0).count() as u32;
        self.state = LogState { oldest_stream: state.oldest_stream % MAX_STREAMS, ..state };
    }
}

impl LogState {
    /// True if the state is one of a card with `units` units; a file may hold anything.
    pub(super) fn is_valid(&self, units: usize) -> bool {
        self.units == units && self.entries.iter().all(|unit| (*unit as usize) < units)
    }

    /// True if the write continues a stream; if not, it begins one in place of the oldest.
    #[inline]
    fn continues_stream(&mut self, offset: u64, len: u64) -> bool {
        if let Some(stream) = self.streams.iter_mut().find(|s| **s == offset) {
            *stream = offset + len;
            return true;
        }
        self.streams[self.oldest_stream] = offset + len;
        self.oldest_stream = (self.oldest_stream + 1) % MAX_STREAMS;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(merge_s: f64) -> LogEngine {
        let p = LogWrite { fixed_s: 0.0005, random_s: 0.001, mb_s: 10.0, log_bytes: 1 << 20, merge_s };
        let card = Archetype { announced_bytes: 1 << 30, ..Archetype::default() };
        LogEngine::new(&p, &card, f64::INFINITY)
    }

    #[test]
    fn mean_cost_matches_closed_form() {
        // 256 entries of 4 KiB, 16 units of 4 MiB: 1 ms + 16 × 40 ms / 256.
        let mut log = engine(0.04);
        let mut cost = 0.0;
        for i in 0..20_256u64 {
            let unit = i * 7 % 16;
            let time = log.write(unit * (4 << 20) + (i * 37 % 1024) * 4096, 4096, true);
            cost += if i >= 256 { time } else { 0.0 };
        }
        let mean = cost / 20_000.0 / 1e6;
        assert!((mean - 3.5).abs() < 0.01, "{mean} ms");
    }
}
