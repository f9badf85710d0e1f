//! Hybrid mapping (docs/reference/flash.md#open-blocks): blocks mapped whole, K of them open. Writes in order go
//! straight through; closing a block that is not whole copies data, and with K + 1 blocks in turn every write closes
//! one. Small writes may go to a separate log.

use super::command::{FlashUnit, MappingWork, ns_per_byte, seconds_to_ns};
use crate::archetype::{CloseCopy, FlashUnits, HybridWrite};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct OpenBlock {
    au: u64,
    /// True after a write out of order.
    random: bool,
    /// Last run of writes in order: first byte within the block, and byte behind its last.
    from: u64,
    to: u64,
    /// Bytes written since the block was opened; those out of order count in whole pages.
    log_bytes: u64,
}

impl OpenBlock {
    fn new(au: u64, offset: u64) -> Self {
        OpenBlock { au, random: false, from: offset, to: offset, log_bytes: 0 }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WriteStream {
    start: u64,
    next: u64,
    /// True after the stream left the block that it began in.
    established: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HybridState {
    /// Least recently used first.
    open: Vec<OpenBlock>,
    stream: WriteStream,
    small_bytes: u64,
    pub(crate) work: MappingWork,
}

/// Costs are nanoseconds, all of them serial, since such cards have no queue.
#[derive(Debug)]
pub(crate) struct HybridEngine {
    parameters: HybridWrite,
    per_byte: f64,
    copy_per_byte: f64,
    /// Nanoseconds for each byte that goes to the log of small writes.
    small_per_byte: f64,
    au: FlashUnit,
    page: FlashUnit,
    /// Smallest unit that a write out of order occupies.
    plane: FlashUnit,
    in_order: bool,
    pub(crate) state: HybridState,
}

impl HybridEngine {
    pub(crate) fn new(p: &HybridWrite, flash: &FlashUnits, bus_mb_s: f64) -> Self {
        HybridEngine {
            parameters: *p,
            per_byte: ns_per_byte(p.mb_s.min(bus_mb_s)),
            copy_per_byte: ns_per_byte(p.copy_mb_s),
            small_per_byte: p.small_log.map_or(0.0, |log| ns_per_byte(log.mb_s.min(bus_mb_s))),
            au: FlashUnit::new(flash.au_bytes),
            page: FlashUnit::new(flash.page_bytes),
            plane: FlashUnit::new(flash.plane_bytes()),
            in_order: false,
            state: HybridState {
                open: Vec::with_capacity(p.open_linear.max(p.open_random) as usize + 1),
                stream: WriteStream { start: 0, next: u64::MAX, established: false },
                small_bytes: 0,
                work: MappingWork::default(),
            },
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, offset: u64, len: u64, first: bool) -> f64 {
        let jumps = offset != self.state.stream.next;
        if let Some(cost) = (jumps && first).then(|| self.write_small(offset, len)).flatten() {
            return cost;
        }
        let mut cost = self.follow_stream(offset, jumps, first);
        let (mut at, end) = (offset, offset + len);
        while at < end {
            let au = self.au.unit_number(at);
            let piece = end.min((au + 1) * self.au.bytes) - at;
            cost += self.write_in_block(au, at - au * self.au.bytes, piece, jumps && at == offset);
            at += piece;
        }
        let stream = &mut self.state.stream;
        stream.next = end;
        stream.established |= self.au.unit_number(stream.start) != self.au.unit_number(end - 1);
        cost
    }

    #[inline]
    pub(crate) fn in_order_cost(&self) -> Option<f64> {
        self.in_order.then_some(self.per_byte)
    }

    /// Follows the stream of writes; returns the cost of beginning this one.
    #[inline]
    fn follow_stream(&mut self, offset: u64, jumps: bool, first: bool) -> f64 {
        let stream = &mut self.state.stream;
        let HybridWrite { fixed_s, jump_s, stream_end_s, new_stream_s, .. } = self.parameters;
        let mut cost = if first { seconds_to_ns(fixed_s) } else { 0.0 };
        if jumps {
            cost +=
                seconds_to_ns(jump_s) + if stream.established { seconds_to_ns(stream_end_s) } else { 0.0 };
            *stream = WriteStream { start: offset, next: offset, established: false };
        }
        if first && !stream.established {
            cost += seconds_to_ns(new_stream_s);
        }
        cost
    }

    /// Cost of a write that goes to the log of small writes; None if it does not.
    #[inline]
    fn write_small(&mut self, offset: u64, len: u64) -> Option<f64> {
        let small = self.parameters.small_log?;
        if len > small.max_write_bytes || (!small.takes_turns && self.continues_a_block(offset)) {
            return None;
        }
        self.in_order = false;
        self.state.stream = WriteStream { start: offset, next: offset + len, established: false };
        self.state.small_bytes += len;
        let mut cost = seconds_to_ns(small.write_s) + len as f64 * self.small_per_byte;
        if self.state.small_bytes >= small.bytes {
            self.state.work.merges += 1;
            self.state.work.copied_bytes += self.state.small_bytes;
            self.state.small_bytes = 0;
            cost += seconds_to_ns(small.merge_s);
        }
        Some(cost)
    }

    /// True if a write at `offset` continues an open block, or begins a block at its start.
    fn continues_a_block(&self, offset: u64) -> bool {
        let au = self.au.unit_number(offset);
        let inside = offset - au * self.au.bytes;
        let open = self.state.open.iter().rev().find(|o| o.au == au);
        open.map_or(inside == 0, |o| !o.random && o.to == inside)
    }

    #[inline]
    fn write_in_block(&mut self, au: u64, offset: u64, len: u64, jumps: bool) -> f64 {
        let mut cost = self.open_as_latest(au, offset);
        cost += self.merge_full_log(offset, len);
        let Some(block) = self.state.open.last_mut() else { return cost };
        self.in_order = !block.random && offset == block.to;
        if offset != block.to {
            block.from = offset;
        }
        block.to = offset + len;
        block.log_bytes += len;
        if self.in_order {
            cost += self.in_order_write_cost(offset, len, jumps);
        } else {
            block.random = true;
            cost += self.random_write_cost(len);
        }
        self.drop_complete_block();
        cost
    }

    /// Merges the last block if its log has no room for a write out of order, and begins a new log.
    #[inline]
    fn merge_full_log(&mut self, offset: u64, len: u64) -> f64 {
        let Some(block) = self.state.open.last_mut() else { return 0.0 };
        let in_order = !block.random && offset == block.to;
        let HybridWrite { open_random, random_log_bytes, .. } = self.parameters;
        if in_order || (open_random > 0 && block.log_bytes + len <= random_log_bytes) {
            return 0.0;
        }
        *block = OpenBlock::new(block.au, offset);
        self.copy_bytes(self.au.bytes)
    }

    #[inline]
    fn open_as_latest(&mut self, au: u64, offset: u64) -> f64 {
        let open = &mut self.state.open;
        if open.last().is_some_and(|o| o.au == au) {
            return 0.0;
        }
        if let Some(place) = open.iter().rposition(|o| o.au == au) {
            open[place..].rotate_left(1);
            return 0.0;
        }
        let cost = self.make_room();
        self.state.open.push(OpenBlock::new(au, offset));
        cost
    }

    /// Drops a block that was written whole in order: only its predecessor is erased (switch merge).
    #[inline]
    fn drop_complete_block(&mut self) {
        if self.state.open.last().is_some_and(|o| o.to - o.from == self.au.bytes) {
            self.state.open.pop();
            self.state.work.erased_units += 1;
        }
    }

    #[inline]
    fn in_order_write_cost(&self, offset: u64, len: u64, jumps: bool) -> f64 {
        let p = &self.parameters;
        let mut cost = len as f64 * self.per_byte;
        if len < self.page.bytes {
            let jump = if jumps { seconds_to_ns(p.sub_page_jump_s) } else { 0.0 };
            return cost + (seconds_to_ns(p.sub_page_s) + jump);
        }
        let ragged = seconds_to_ns(p.ragged_s.unwrap_or(p.sub_page_s));
        if ragged > 0.0 {
            cost += ragged * (self.cuts_a_page(offset) + self.cuts_a_page(offset + len));
        }
        cost
    }

    fn cuts_a_page(&self, at: u64) -> f64 {
        if self.page.unit_number(at) * self.page.bytes == at { 0.0 } else { 1.0 }
    }

    #[inline]
    fn random_write_cost(&mut self, len: u64) -> f64 {
        let pages = (self.plane.unit_number(len - 1) + 1) * self.plane.bytes;
        let mut cost = seconds_to_ns(self.parameters.random_s) + pages as f64 * self.per_byte;
        if len < self.page.bytes {
            cost += seconds_to_ns(self.parameters.sub_page_random_s);
        }
        if let Some(block) = self.state.open.last_mut() {
            block.log_bytes += pages - len;
        }
        cost
    }

    /// Closes the least recently used blocks until one more may be opened.
    #[inline]
    fn make_room(&mut self) -> f64 {
        // The blocks are searched only if the limits differ.
        let HybridWrite { open_linear, open_random, .. } = self.parameters;
        let random = open_random != open_linear && self.state.open.iter().any(|o| o.random);
        let limit = if random { open_random.max(1) } else { open_linear } as usize;
        let mut cost = 0.0;
        while self.state.open.len() >= limit {
            let oldest = self.state.open.remove(0);
            cost += self.close_block(&oldest);
        }
        cost
    }

    fn close_block(&mut self, block: &OpenBlock) -> f64 {
        self.copy_bytes(match self.parameters.close {
            CloseCopy::Partial if !block.random => self.au.bytes - (block.to - block.from),
            CloseCopy::Written => block.log_bytes.min(self.au.bytes),
            CloseCopy::Partial | CloseCopy::Full => self.au.bytes,
        })
    }

    fn copy_bytes(&mut self, bytes: u64) -> f64 {
        let work = &mut self.state.work;
        work.merges += 1;
        work.copied_bytes += bytes;
        work.erased_units += 1;
        bytes as f64 * self.copy_per_byte + seconds_to_ns(self.parameters.close_s)
    }
}

#[cfg(test)]
mod tests;
