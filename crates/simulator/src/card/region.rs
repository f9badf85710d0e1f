//! The region at the start of a card where the file allocation table lies: guarded, so that writes there are slow,
//! or mapped by page, so that small ones anywhere in it are fast (model 1.2).

use super::timing::{Cost, ns, ns_per_byte};
use crate::archetype::{Archetype, FatRegion, Write};

/// The region, in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    /// Byte behind its last.
    pub(super) end: u64,
    slower: f64,
    page_write: Option<f64>,
    per_byte: f64,
}

impl Region {
    pub(super) fn new(p: &FatRegion, card: &Archetype, bus_mb_s: f64) -> Self {
        let mb_s = match card.write {
            Some(Write::Hybrid(h)) => h.mb_s,
            Some(Write::Log(l)) => l.mb_s,
            Some(Write::Page(p)) => p.mb_s,
            None => card.constant.map_or(f64::INFINITY, |c| c.mb_s),
        };
        Region {
            end: p.bytes,
            slower: 1.0 / p.speed,
            page_write: p.page_write_s.map(ns),
            per_byte: ns_per_byte(mb_s.min(bus_mb_s)),
        }
    }

    /// Cost of writing `len` bytes inside it; `engine` says what the same would cost elsewhere, and is not asked
    /// where the region is mapped by page, so that no block is opened.
    pub(super) fn write(&self, len: u64, first: bool, engine: impl FnOnce() -> Cost) -> Cost {
        let cost = match self.page_write {
            Some(base) => Cost::serial(if first { base } else { 0.0 } + len as f64 * self.per_byte),
            None => engine(),
        };
        cost.scaled(self.slower)
    }
}
