//! What a write costs: by the region it goes to, by the cache in front of the flash, by the mapping engine, and by
//! the erasures that it causes.

use super::cache::{Pslc, Taken};
use super::engine::Engine;
use super::mapped::Mapped;
use super::page::Written;
use super::region::Region;
use super::timing::{Cost, Timing};
use super::{Card, Command};
use crate::archetype::EndOfLife;

impl Card {
    #[inline]
    pub(super) fn write_cost_of(&mut self, now: f64, piece: Command, first: bool) -> Cost {
        if let Some(reads) = &mut self.reads {
            reads.forget();
        }
        let new_bytes = self.mapped.as_mut().map_or(0, |mapped| mapped.set(piece.offset, piece.len));
        let missed = self.map_cache.as_mut().is_some_and(|cache| cache.fetch(piece.offset) > 0.0);
        let mut cost = match self.region {
            Some(region) if piece.offset < region.end => self.write_in_region(now, region, piece, first),
            _ => self.write_to_flash(now, piece, first),
        };
        if let Engine::Page(page) = &mut self.engine {
            let mapped = self.mapped.as_ref().map_or(0, Mapped::bytes);
            cost.service += page.store(Written { offset: piece.offset, len: piece.len, new_bytes, mapped });
            cost.access += if missed { page.map_miss() } else { 0.0 };
        }
        if self.wear.is_some() { self.wear_out(piece, cost) } else { cost }
    }

    /// A write that begins in the region at the card's start, and may reach beyond it.
    fn write_in_region(&mut self, now: f64, region: Region, piece: Command, first: bool) -> Cost {
        let inside = Command { len: piece.len.min(region.end - piece.offset), ..piece };
        let cost = region.write(inside.len, first, || self.write_to_flash(now, inside, first));
        if inside.len == piece.len {
            return cost;
        }
        let rest = Command { offset: region.end, len: piece.len - inside.len, ..piece };
        cost.plus(self.write_to_flash(now, rest, false))
    }

    #[inline]
    fn write_to_flash(&mut self, now: f64, piece: Command, first: bool) -> Cost {
        let Some(pslc) = &mut self.pslc else { return self.engine.write(piece.offset, piece.len, first) };
        let mapped = self.mapped.as_ref().map_or(0, Mapped::bytes);
        match &mut self.engine {
            Engine::Page(page) => {
                let taken = pslc.take(now, piece, mapped);
                cached_write(pslc, page.timing(), taken, piece.len)
            }
            engine => {
                let mut cost = engine.write(piece.offset, piece.len, first);
                if let Some(per_byte) = engine.in_order() {
                    let taken = pslc.take(now, piece, mapped);
                    cost.service += taken.bytes as f64 * (taken.per_byte - per_byte);
                }
                cost
            }
        }
    }

    /// Adds what the erasures of a write bring with them.
    fn wear_out(&mut self, piece: Command, mut cost: Cost) -> Cost {
        let Some(wear) = &mut self.wear else { return cost };
        let erased = match &self.engine {
            Engine::Constant(_) => wear.units(self.tally.written_bytes),
            engine => engine.work().erased_units,
        };
        wear.written(piece.offset);
        if erased > self.worn {
            let failed = wear.state.failed;
            cost.service += wear.erased(erased - self.worn);
            self.worn = erased;
            if wear.state.failed > failed && wear.end() == Some(EndOfLife::LosesBlocks) {
                self.lost.push(wear.block(piece.offset));
            }
        }
        cost
    }
}

/// A write in front of which a cache stands: what the cache takes at its speed, the rest at the flash's own.
#[inline]
fn cached_write(pslc: &Pslc, tlc: &Timing, taken: Taken, len: u64) -> Cost {
    let mut cost = if taken.bytes == len { pslc.timing().cost(len) } else { tlc.cost(len) };
    if taken.bytes > 0 {
        cost.service = taken.bytes as f64 * taken.per_byte + tlc.transfer(len - taken.bytes);
    }
    cost
}
