//! What a write costs: by the region it goes to, by the cache in front of the flash, by the mapping engine, and by
//! the erasures that it causes.

use super::cache::Pslc;
use super::engine::Engine;
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
        if let Some(mapped) = &mut self.mapped {
            mapped.set(piece.offset, piece.len);
        }
        if let Some(cache) = &mut self.map_cache {
            cache.fetch(piece.offset);
        }
        let cost = match self.region {
            Some(region) if piece.offset < region.end => self.write_in_region(now, region, piece, first),
            _ => self.write_to_flash(now, piece, first),
        };
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
        match (&mut self.engine, &mut self.pslc) {
            (Engine::Constant(timing) | Engine::Page(timing), Some(pslc)) => {
                cached_write(pslc, timing, now, piece)
            }
            (engine, _) => engine.write(piece.offset, piece.len, first),
        }
    }

    /// Adds what the erasures of a write bring with them.
    fn wear_out(&mut self, piece: Command, mut cost: Cost) -> Cost {
        let erased = self.engine.work().erased_units;
        let Some(wear) = &mut self.wear else { return cost };
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
fn cached_write(pslc: &mut Pslc, tlc: &Timing, now: f64, piece: Command) -> Cost {
    let taken = pslc.take(now, piece.len);
    pslc.place(piece.offset, piece.len, taken == piece.len);
    if taken == piece.len {
        return pslc.timing().cost(piece.len);
    }
    let mut cost = tlc.cost(piece.len);
    if taken > 0 {
        cost.service = pslc.timing().transfer(taken) + tlc.transfer(piece.len - taken);
    }
    cost
}
