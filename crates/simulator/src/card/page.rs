//! Page mapping with garbage collection (model, W-P), as a fluid: how many bytes are erased, how many are stale, and
//! what share of a block that is collected is still valid. One step a write, whatever the size of the card.
//!
//! Stale bytes are of two kinds: whole blocks of them, left behind where data was overwritten in order, cost an
//! erasure only; among scattered ones a victim keeps the share p = exp(-(1 - p)/u) of a card written evenly at
//! random (FIFO collection; the model's own closed form).

use super::counters::MappingWork;
use super::timing::{RampParameters, RampTiming, ns, ns_per_byte};
use crate::archetype::{Archetype, GarbageCollection, PageWrite};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PageState {
    free: f64,
    /// Stale bytes in blocks that hold nothing else.
    stale_whole: f64,
    /// Stale bytes among valid ones.
    stale_scattered: f64,
    next: u64,
    /// Bytes written that no erasure was counted for yet, on a card whose collection is not modelled.
    unerased: u64,
    pub(crate) work: MappingWork,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WriteSize {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    /// Bytes of it where nothing was before.
    pub(crate) new_bytes: u64,
    /// Bytes of the whole card that hold something, this write included.
    pub(crate) mapped: u64,
}

#[derive(Debug)]
pub(crate) struct PageEngine {
    /// Cost lines of writes and, where the card says nothing of reads, of those.
    pub(super) timing: RampTiming,
    /// Added to a write whose part of the mapping table is not in the controller's memory, in ns.
    pub(super) map_miss: f64,
    unit: u64,
    gc: Option<GarbageCollection>,
    pub(super) state: PageState,
}

impl PageEngine {
    pub(crate) fn new(p: &PageWrite, card: &Archetype, bus_mb_s: f64) -> Self {
        let spare = p.gc.map_or(0.0, |gc| gc.spare_share);
        PageEngine {
            timing: RampTiming::new(RampParameters {
                base_s: p.base_s,
                large_s: p.large_s.unwrap_or(p.base_s),
                ramp_bytes: p.ramp_bytes,
                serial_s: p.serial_s,
                mb_s: p.mb_s.min(bus_mb_s),
            }),
            map_miss: ns(p.map_miss_s),
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

    /// Takes note of a write. Returns the ns for which it stalls on the collection that it causes.
    #[inline]
    pub(crate) fn store(&mut self, w: WriteSize) -> f64 {
        let Some(gc) = self.gc else {
            self.count_erased(w.len);
            return 0.0;
        };
        let in_order = w.offset == self.state.next || w.len >= self.unit;
        self.state.next = w.offset + w.len;
        let stale = w.len.saturating_sub(w.new_bytes) as f64;
        if in_order {
            self.state.stale_whole += stale;
        } else {
            self.state.stale_scattered += stale;
        }
        self.state.free -= w.len as f64;
        let mut stall = 0.0;
        // One unit is always kept erased, to copy into.
        let unit = gc.unit_bytes as f64;
        while self.state.free < unit && self.state.stale_whole + self.state.stale_scattered >= 1.0 {
            stall += self.collect(&gc, w.mapped as f64);
        }
        stall
    }

    /// Without a model of the collection each unit written is one erased.
    #[inline]
    fn count_erased(&mut self, len: u64) {
        self.state.unerased += len;
        if self.state.unerased >= self.unit {
            self.state.work.erased_units += self.state.unerased / self.unit;
            self.state.unerased %= self.unit;
        }
    }

    fn collect(&mut self, gc: &GarbageCollection, mapped: f64) -> f64 {
        let unit = gc.unit_bytes as f64;
        let s = &mut self.state;
        s.work.merges += 1;
        s.work.erased_units += 1;
        if s.stale_whole >= unit {
            s.stale_whole -= unit;
            s.free += unit;
            return ns(gc.erase_s);
        }
        // Whole blocks that are not quite one unit are found among the scattered ones.
        s.stale_scattered += std::mem::take(&mut s.stale_whole);
        let share = valid_share(mapped / (mapped + s.stale_scattered));
        let gained = ((1.0 - share) * unit).min(s.stale_scattered);
        let copied = unit - gained;
        s.stale_scattered -= gained;
        s.free += gained;
        s.work.copied_bytes += copied as u64;
        copied * ns_per_byte(gc.copy_mb_s) + ns(gc.erase_s)
    }

    /// Bytes that were discarded as a range of `len`.
    pub(crate) fn discard(&mut self, unmapped: u64, len: u64) {
        if len >= self.unit {
            self.state.stale_whole += unmapped as f64;
        } else {
            self.state.stale_scattered += unmapped as f64;
        }
    }

    pub(crate) fn hold(&mut self, bytes: u64) {
        self.state.free -= bytes as f64;
    }
}

/// The share p of a victim that is still valid at utilisation `u`: the root of p = exp(-(1 - p)/u) below 1.
fn valid_share(u: f64) -> f64 {
    if u <= 0.0 {
        return 0.0;
    }
    // Iterated from below it rises to the lower root; near u = 1 slowly, but p is then close to 1 anyway.
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
