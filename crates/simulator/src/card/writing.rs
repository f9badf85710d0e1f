//! What a write costs: by the region it goes to, by the cache in front of the flash, by the mapping engine, and by
//! the erasures that it causes; and what a controller whose memory joins writes answers by itself, and has the flash do
//! first.

use super::cache::{Pslc, Taken};
use super::engine::{Engine, Region};
use super::mapped::Mapped;
use super::page::Written;
use super::timing::{Cost, Timing};
use super::{Card, Command};
use crate::archetype::EndOfLife;
use std::ops::Range;

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
            cost.access += if missed { page.map_miss } else { 0.0 };
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
                cached_write(pslc, &page.timing, taken, piece.len)
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
    let mut cost = if taken.bytes == len { pslc.timing.cost(len) } else { tlc.cost(len) };
    if taken.bytes > 0 {
        cost.service = taken.bytes as f64 * taken.per_byte + tlc.transfer(len - taken.bytes);
    }
    cost
}

impl Card {
    /// A command to a controller that joins writes in its memory.
    pub(super) fn serve_through_ram(&mut self, now: f64, command: Command) -> f64 {
        self.rest_of_ram(now);
        let Command { offset, len, in_flight, write } = command;
        let Some(ram) = &mut self.ram else { return self.last_end };
        let held = |range: Range<u64>| Command {
            write: true,
            offset: range.start,
            len: range.end - range.start,
            in_flight,
        };
        if !write {
            let (here, first) = (ram.holds(offset, len), ram.in_the_way(offset, len));
            if here {
                return self.answer(now, len);
            }
            if let Some(range) = first {
                self.serve_by_flash(now, held(range));
            }
            return self.serve_by_flash(now, command);
        }
        let step = ram.write(offset, len);
        if let Some(range) = step.before {
            self.serve_by_flash(now, held(range));
        }
        match step.now {
            Some(range) => self.serve_by_flash(now, held(range)),
            None => {
                self.tally.joined_writes += 1;
                self.answer(now, len)
            }
        }
    }

    /// A controller left alone has meanwhile written what it held.
    fn rest_of_ram(&mut self, now: f64) {
        let last_end = self.last_end;
        if let Some(range) = self.ram.as_mut().and_then(|ram| ram.rested(now, last_end)) {
            self.drain(last_end, range);
        }
    }

    pub(super) fn drain(&mut self, now: f64, range: Range<u64>) {
        let (offset, len) = (range.start, range.end - range.start);
        self.serve_by_flash(now, Command { write: true, offset, len, in_flight: 1 });
    }

    /// A command that the controller's memory answers.
    fn answer(&mut self, now: f64, len: u64) -> f64 {
        let cost = self.ram.as_ref().map_or(0.0, |ram| ram.cost(len));
        let draw = self.noise.read();
        self.last_end = now.max(self.last_end) + cost * draw.factor;
        self.last_end
    }
}
