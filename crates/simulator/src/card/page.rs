//! Page mapping with garbage collection, as a fluid: bytes that are erased, bytes that are stale, and the valid share
//! of a block that is collected. One step for each write, whatever the size of the card.
//!
//! There are two kinds of stale bytes. Whole blocks of them, from data overwritten in order, cost only an erasure. Of
//! scattered ones a victim keeps the share p = exp(-(1 - p)/u) of a card written evenly at random (FIFO collection; u
//! is the share of the flash that holds valid data; docs/simulator.md#design-choices).

use super::command::{MappingWork, RampParameters, RampTiming, ns_per_byte, seconds_to_ns};
use crate::archetype::{Archetype, GarbageCollection, PageWrite};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageState {
    free: f64,
    /// Stale bytes in blocks without valid data.
    stale_whole: f64,
    /// Stale bytes in blocks with valid data.
    stale_scattered: f64,
    next: u64,
    /// Bytes written since the last erasure was counted, on a card whose collection is not modelled.
    unerased: u64,
    pub(crate) work: MappingWork,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteSize {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// Bytes where nothing was stored before.
    pub(crate) new_bytes: u64,
    /// Bytes of the whole card that hold data, this write included.
    pub(crate) mapped: u64,
}

#[derive(Debug)]
pub(crate) struct PageEngine {
    /// Cost of writes, and of reads if the card has no times for them.
    pub(super) timing: RampTiming,
    /// Added in ns if the controller's memory lacks that part of the mapping table.
    pub(super) map_miss: f64,
    unit: u64,
    gc: Option<GarbageCollection>,
    pub(super) state: PageState,
}

impl PageState {
    #[inline]
    fn stale_bytes(&mut self, whole_blocks: bool) -> &mut f64 {
        if whole_blocks { &mut self.stale_whole } else { &mut self.stale_scattered }
    }
}

impl PageEngine {
    pub(crate) fn new(p: &PageWrite, card: &Archetype, bus_mb_s: f64) -> Self {
        let spare = p.gc.map_or(0.0, |gc| gc.spare_share);
        let PageWrite { base_s, large_s, ramp_bytes, serial_s, .. } = *p;
        let mb_s = p.mb_s.min(bus_mb_s);
        PageEngine {
            timing: RampTiming::new(RampParameters { base_s, large_s, ramp_bytes, serial_s, mb_s }),
            map_miss: seconds_to_ns(p.map_miss_s),
            unit: p.gc.map_or(card.flash.au_bytes, |gc| gc.unit_bytes),
            gc: p.gc,
            state: PageState {
                free: card.announced_bytes as f64 * (1.0 + spare),
                stale_whole: 0.0,
                stale_scattered: 0.0,
                next: u64::MAX,
                unerased: 0,
                work: MappingWork::default(),
            },
        }
    }

    /// Counts a write; returns the ns for which it waits for garbage collection.
    #[inline]
    pub(crate) fn write(&mut self, w: WriteSize) -> f64 {
        let Some(gc) = self.gc else {
            self.count_erased(w.len);
            return 0.0;
        };
        let in_order = w.offset == self.state.next || w.len >= self.unit;
        self.state.next = w.offset + w.len;
        let stale = w.len.saturating_sub(w.new_bytes) as f64;
        *self.state.stale_bytes(in_order) += stale;
        self.state.free -= w.len as f64;
        let mut stall = 0.0;
        // One unit always stays erased: collection copies into it.
        let unit = gc.unit_bytes as f64;
        while self.state.free < unit && self.state.stale_whole + self.state.stale_scattered >= 1.0 {
            stall += self.collect_unit(&gc, w.mapped as f64);
        }
        stall
    }

    /// Counts an erasure for each unit written, since collection is not modelled.
    #[inline]
    fn count_erased(&mut self, len: u64) {
        self.state.unerased += len;
        if self.state.unerased >= self.unit {
            self.state.work.erased_units += self.state.unerased / self.unit;
            self.state.unerased %= self.unit;
        }
    }

    fn collect_unit(&mut self, gc: &GarbageCollection, mapped: f64) -> f64 {
        let unit = gc.unit_bytes as f64;
        let s = &mut self.state;
        s.work.merges += 1;
        s.work.erased_units += 1;
        if s.stale_whole >= unit {
            s.stale_whole -= unit;
            s.free += unit;
            return seconds_to_ns(gc.erase_s);
        }
        // Less than a unit of whole stale blocks counts as scattered.
        s.stale_scattered += std::mem::take(&mut s.stale_whole);
        let share = valid_share(mapped / (mapped + s.stale_scattered));
        let gained = ((1.0 - share) * unit).min(s.stale_scattered);
        let copied = unit - gained;
        s.stale_scattered -= gained;
        s.free += gained;
        s.work.copied_bytes += copied as u64;
        copied * ns_per_byte(gc.copy_mb_s) + seconds_to_ns(gc.erase_s)
    }

    /// Counts `unmapped` bytes of a discard of `len` as stale.
    pub(crate) fn discard_bytes(&mut self, unmapped: u64, len: u64) {
        *self.state.stale_bytes(len >= self.unit) += unmapped as f64;
    }

    pub(crate) fn occupy_bytes(&mut self, bytes: u64) {
        self.state.free -= bytes as f64;
    }
}

/// Valid share p of a victim at utilisation `u`: the root of p = exp(-(1 - p)/u) below 1.
fn valid_share(u: f64) -> f64 {
    if u <= 0.0 {
        return 0.0;
    }
    // From 0 the iteration rises to the lower root. Near u = 1 it is slow, but p is then close to 1 anyway.
    let mut p = 0.0;
    for _ in 0..200 {
        let next = libm::exp(-(1.0 - p) / u);
        if next - p < 1e-9 {
            break;
        }
        p = next;
    }
    p
}

#[cfg(test)]
mod tests;
