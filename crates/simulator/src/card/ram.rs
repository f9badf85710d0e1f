//! Memory of the controller that joins writes which continue each other: they end at once. The flash is written when
//! the memory is full, when another command needs it, on a flush, or after a rest.

use super::command::{ns_per_byte, seconds_to_ns};
use crate::archetype::CommandPath;
use std::ops::Range;

/// Idle time in ns after which the controller writes back its memory (assumed).
const REST_NS: f64 = 10e6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RamStep {
    /// Data that goes to the flash first, since the write does not continue it.
    pub(crate) flush_first: Option<Range<u64>>,
    /// Data that goes to the flash with this write; None if the memory took all of it.
    pub(crate) flush_now: Option<Range<u64>>,
}

#[derive(Debug)]
pub(crate) struct RamBuffer {
    /// Range not yet on the flash; empty if start and end are equal.
    pub(super) held: Range<u64>,
    bytes: u64,
    path: f64,
    per_byte: f64,
}

impl RamBuffer {
    /// None for a card that joins no writes.
    pub(crate) fn new(front: &CommandPath, bus_mb_s: f64) -> Option<Self> {
        (front.ram_bytes > 0).then(|| RamBuffer {
            held: 0..0,
            bytes: front.ram_bytes,
            path: seconds_to_ns(front.path_s),
            per_byte: if bus_mb_s.is_finite() { ns_per_byte(bus_mb_s) } else { 0.0 },
        })
    }

    #[inline]
    pub(crate) fn answer_cost(&self, len: u64) -> f64 {
        self.path + len as f64 * self.per_byte
    }

    pub(crate) fn add_write(&mut self, offset: u64, len: u64) -> RamStep {
        let continues = !self.held.is_empty() && offset == self.held.end;
        let before = if continues { None } else { self.drain() };
        let whole = if continues { self.held.start..offset + len } else { offset..offset + len };
        let full = whole.end - whole.start >= self.bytes;
        self.held = if full { 0..0 } else { whole.clone() };
        RamStep { flush_first: before, flush_now: full.then_some(whole) }
    }

    /// True if a read can be answered from memory.
    #[inline]
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        self.held.start <= offset && offset + len <= self.held.end
    }

    /// Removes and returns the data that must be on the flash before this range can be read.
    pub(crate) fn drain_overlapping(&mut self, offset: u64, len: u64) -> Option<Range<u64>> {
        if self.held.start < offset + len && offset < self.held.end { self.drain() } else { None }
    }

    /// Removes and returns the data that the controller has written back between `last_end` and `now`.
    #[inline]
    pub(crate) fn drain_if_rested(&mut self, now: f64, last_end: f64) -> Option<Range<u64>> {
        if now - last_end > REST_NS { self.drain() } else { None }
    }

    pub(crate) fn drain(&mut self) -> Option<Range<u64>> {
        let held = std::mem::take(&mut self.held);
        (!held.is_empty()).then_some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ram() -> RamBuffer {
        RamBuffer::new(&CommandPath { path_s: 0.0001, ram_bytes: 16384, ..CommandPath::default() }, 100.0)
            .unwrap()
    }

    #[test]
    fn consecutive_writes_are_joined() {
        let mut ram = ram();
        for i in 0..3 {
            assert_eq!(ram.add_write(i * 4096, 4096), RamStep { flush_first: None, flush_now: None });
        }
        assert!(ram.holds(4096, 8192) && !ram.holds(8192, 8192));
        assert_eq!(ram.add_write(12288, 4096), RamStep { flush_first: None, flush_now: Some(0..16384) });
        assert_eq!(ram.drain(), None);
    }

    #[test]
    fn other_write_overlapping_read_and_rest_drain() {
        let mut ram = ram();
        ram.add_write(0, 4096);
        assert_eq!(ram.add_write(1 << 20, 4096), RamStep { flush_first: Some(0..4096), flush_now: None });
        assert_eq!(ram.drain_overlapping(0, 4096), None);
        assert_eq!(ram.drain_overlapping((1 << 20) - 512, 1024), Some(1 << 20..(1 << 20) + 4096));
        ram.add_write(8192, 4096);
        assert_eq!(ram.drain_if_rested(1e6, 0.0), None, "a millisecond is no rest");
        assert_eq!(ram.drain_if_rested(1e9, 0.0), Some(8192..12288));
    }

    #[test]
    fn large_write_bypasses_ram() {
        assert_eq!(ram().add_write(0, 65536), RamStep { flush_first: None, flush_now: Some(0..65536) });
    }
}
