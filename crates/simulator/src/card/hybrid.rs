//! Hybrid mapping (model, W-H): blocks mapped whole, K of them open. What is written in order goes straight
//! through; closing a block that is not whole copies, and with K + 1 blocks in turn every write closes one.

use super::timing::{Unit, ns, ns_per_byte};
use crate::archetype::{Close, Flash, HybridWrite};

/// One open block.
#[derive(Debug, Clone, Copy)]
struct Open {
    au: u64,
    /// Written out of order since it was opened.
    random: bool,
    /// Bytes written in order from the block's start; 0 once that order is broken.
    written: u64,
    /// Bytes that its log holds out of order, in whole pages.
    log_bytes: u64,
}

/// The stream that the last write belonged to.
#[derive(Debug, Clone, Copy)]
struct Stream {
    start: u64,
    next: u64,
    /// True once it has left the block that it began in.
    established: bool,
}

/// The engine. Costs are nanoseconds, all of them serial: such cards have no queue.
#[derive(Debug)]
pub(crate) struct Hybrid {
    p: HybridWrite,
    au: Unit,
    au_bytes: u64,
    page_bytes: u64,
    per_byte: f64,
    copy_per_byte: f64,
    /// Least recently used first.
    open: Vec<Open>,
    stream: Stream,
}

impl Hybrid {
    pub(crate) fn new(p: &HybridWrite, flash: &Flash, bus_mb_s: f64) -> Self {
        Hybrid {
            p: *p,
            au: Unit::new(flash.au_bytes),
            au_bytes: flash.au_bytes,
            page_bytes: flash.page_bytes,
            per_byte: ns_per_byte(p.mb_s.min(bus_mb_s)),
            copy_per_byte: ns_per_byte(p.copy_mb_s),
            open: Vec::with_capacity(p.open_linear.max(p.open_random) as usize + 1),
            stream: Stream { start: 0, next: u64::MAX, established: false },
        }
    }

    /// Cost of writing `len` bytes at `offset`; `first` where this begins a command.
    pub(crate) fn write(&mut self, offset: u64, len: u64, first: bool) -> f64 {
        let mut cost = self.follow(offset, first);
        let (mut at, end) = (offset, offset + len);
        while at < end {
            let au = self.au.number(at);
            let piece = end.min((au + 1) * self.au_bytes) - at;
            cost += self.write_in(au, at - au * self.au_bytes, piece);
            at += piece;
        }
        self.stream.next = end;
        self.stream.established |= self.au.number(self.stream.start) != self.au.number(end - 1);
        cost
    }

    /// Keeps track of the stream and prices the command's begin by it.
    fn follow(&mut self, offset: u64, first: bool) -> f64 {
        let mut cost = if first { ns(self.p.fixed_s) } else { 0.0 };
        if offset != self.stream.next {
            cost += if self.stream.established { ns(self.p.stream_end_s) } else { 0.0 };
            self.stream = Stream { start: offset, next: offset, established: false };
        }
        if first && !self.stream.established {
            cost += ns(self.p.new_stream_s);
        }
        cost
    }

    fn write_in(&mut self, au: u64, offset: u64, len: u64) -> f64 {
        let mut cost = 0.0;
        let mut block = match self.open.iter().position(|o| o.au == au) {
            Some(place) => self.open.remove(place),
            None => {
                cost += self.make_room();
                Open { au, random: false, written: 0, log_bytes: 0 }
            }
        };
        cost += if !block.random && offset == block.written {
            block.written += len;
            self.in_order(len)
        } else {
            self.out_of_order(&mut block, offset, len)
        };
        // A block written whole only needs its predecessor erased: it is closed at no cost (switch merge).
        if block.written < self.au_bytes {
            self.open.push(block);
        }
        cost
    }

    fn in_order(&self, len: u64) -> f64 {
        let ragged = !len.is_multiple_of(self.page_bytes);
        len as f64 * self.per_byte + if ragged { ns(self.p.sub_page_s) } else { 0.0 }
    }

    fn out_of_order(&mut self, block: &mut Open, offset: u64, len: u64) -> f64 {
        block.random = true;
        // A random block that is then overwritten in order from its start gets whole again.
        block.written = match offset {
            0 => len,
            o if o == block.written => block.written + len,
            _ => 0,
        };
        let pages = len.div_ceil(self.page_bytes) * self.page_bytes;
        let mut cost = pages as f64 * self.per_byte;
        if len < self.page_bytes {
            cost += ns(self.p.sub_page_random_s);
        }
        block.log_bytes += pages;
        if block.log_bytes >= self.p.random_log_bytes {
            block.log_bytes = 0;
            cost += self.copy(self.au_bytes);
        }
        cost
    }

    /// Closes the block used longest ago where as many are open as may be.
    fn make_room(&mut self) -> f64 {
        let limit = if self.open.iter().any(|o| o.random) { self.p.open_random } else { self.p.open_linear };
        let mut cost = 0.0;
        while self.open.len() >= limit as usize {
            let oldest = self.open.remove(0);
            cost += self.close(&oldest);
        }
        cost
    }

    fn close(&self, block: &Open) -> f64 {
        let partial = !block.random && self.p.close == Close::Partial;
        self.copy(if partial { self.au_bytes - block.written } else { self.au_bytes })
    }

    fn copy(&self, bytes: u64) -> f64 {
        bytes as f64 * self.copy_per_byte + ns(self.p.close_s)
    }
}
