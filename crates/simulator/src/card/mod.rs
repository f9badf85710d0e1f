//! Card on a virtual clock: cost of a command by engine, queue and temperature. docs/simulator.md#the-model lists the
//! parts; this module ties them together.

mod cache;
mod command;
mod engine;
mod hybrid;
mod log;
mod mapped;
mod noise;
mod page;
mod ram;
mod read_path;
pub(crate) mod state;
#[cfg(test)]
mod tests;
pub(crate) mod thermal;
mod wear;

use crate::archetype::{Archetype, EndOfLife, QueueCost, WriteTimes};
use cache::{CachedWrite, PslcModel};
pub(crate) use command::{CardCommand, LifetimeCounters};
use command::{CommandCost, CommandTally, RampTiming, bytes_f64, later_of, seconds_to_ns};
use engine::{MappedRegion, MappingEngine};
use mapped::{MapCache, MappedBlocks};
use noise::{NoiseDraw, NoiseSource};
use page::WriteSize;
use ram::RamBuffer;
use read_path::{PlaneState, ReadPath};
use std::ops::Range;
use thermal::{HeatCounters, HeatModel};
use wear::WearTracker;

/// Pieces in which a long command is charged, so that heat and cache follow its course.
const PIECE_BYTES: u64 = 8 << 20;

/// Commands in flight that the table of queue costs distinguishes.
const MAX_DEPTH: usize = 256;

/// Times are nanoseconds since the card was inserted.
#[derive(Debug)]
pub(crate) struct CardModel {
    engine: MappingEngine,
    reads: Option<ReadPath>,
    pslc: Option<PslcModel>,
    heat: Option<HeatModel>,
    ram: Option<RamBuffer>,
    region: Option<MappedRegion>,
    mapped: Option<MappedBlocks>,
    map_cache: Option<MapCache>,
    planes: Option<PlaneState>,
    wear: Option<WearTracker>,
    noise: NoiseSource,
    /// 1 / Q, with Q the depth of the queue.
    queue_share: f64,
    /// Factors by commands in flight: for reads and for writes, each outside the cache and in it.
    queue_cost: [[Box<[f32; MAX_DEPTH]>; 2]; 2],
    flush: f64,
    discard: f64,
    last_end: f64,
    tally: CommandTally,
    /// Erasures of the engine that are counted as wear.
    counted_erasures: u64,
    /// Blocks that failed after the end of life and are not yet reported.
    lost_blocks: Vec<Range<u64>>,
}

impl CardModel {
    pub(crate) fn new(a: &Archetype, seed: u64) -> Self {
        let speeds = [a.rig.bus_mb_s, a.front.interface_mb_s];
        let bus = speeds.into_iter().flatten().fold(f64::INFINITY, f64::min);
        CardModel {
            engine: MappingEngine::new(a, bus),
            reads: a.read.as_ref().map(|r| ReadPath::new(r, a, bus)),
            pslc: a.cache.as_ref().map(|c| PslcModel::new(c, a, bus)),
            heat: a.thermal.as_ref().filter(|_| a.rig.heat).map(|thermal| HeatModel::new(thermal, a)),
            ram: RamBuffer::new(&a.front, bus),
            region: a.fat_region.as_ref().map(|r| MappedRegion::new(r, a, bus)),
            mapped: needs_mapped(a).then(|| MappedBlocks::new(a.announced_bytes)),
            map_cache: a.read.as_ref().and_then(|r| MapCache::new(r, a.announced_bytes)),
            planes: PlaneState::new(&a.flash, a.queue.depth),
            wear: a.wear.as_ref().map(|w| WearTracker::new(w, a)),
            noise: NoiseSource::new(&a.noise, seed),
            queue_share: 1.0 / f64::from(a.queue.depth),
            queue_cost: [&a.queue.read_cost, &a.queue.write_cost].map(|list| {
                let cached = |s: &QueueCost| s.cached.unwrap_or(s.factor);
                [queue_cost_table(list, |s| s.factor), queue_cost_table(list, cached)]
            }),
            flush: seconds_to_ns(a.queue.flush_s),
            discard: seconds_to_ns(a.front.discard_s),
            last_end: 0.0,
            tally: CommandTally::default(),
            counted_erasures: 0,
            lost_blocks: Vec::new(),
        }
    }

    /// Executes a command that arrives at `now`; returns its end. Commands end in the order of their arrival.
    #[inline(always)]
    pub(crate) fn execute_command(&mut self, now: f64, command: CardCommand) -> f64 {
        self.tally.count_command(&command);
        if self.ram.is_some() {
            return self.execute_through_ram(now, command);
        }
        self.execute_on_flash(now, command)
    }

    #[inline(always)]
    fn execute_on_flash(&mut self, now: f64, command: CardCommand) -> f64 {
        if let Some(heat) = &mut self.heat {
            heat.begin_command(now, self.last_end);
        }
        if let Some(pslc) = &mut self.pslc {
            pslc.begin_command(now);
        }
        let end = self.execute_piece(now, CardCommand { len: command.len.min(PIECE_BYTES), ..command }, true);
        if command.len <= PIECE_BYTES { end } else { self.execute_rest(now, command) }
    }

    /// Executes all pieces of a long command but the first.
    #[inline(never)]
    fn execute_rest(&mut self, now: f64, command: CardCommand) -> f64 {
        let (mut done, mut end) = (PIECE_BYTES, self.last_end);
        while done < command.len {
            let len = PIECE_BYTES.min(command.len - done);
            let piece = CardCommand { offset: command.offset + done, len, ..command };
            end = self.execute_piece(now, piece, false);
            done += PIECE_BYTES;
        }
        end
    }

    /// Same as [`CardModel::execute_on_flash`], not inlined: for callers that are rare.
    #[inline(never)]
    fn execute_on_flash_outlined(&mut self, now: f64, command: CardCommand) -> f64 {
        self.execute_on_flash(now, command)
    }

    /// Executes a piece of a command. Always inline, with all that it calls: costs that are returned through memory and
    /// copied at once stall the processor for longer than the computation takes.
    #[inline(always)]
    fn execute_piece(&mut self, now: f64, piece: CardCommand, first: bool) -> f64 {
        let slot = (piece.in_flight as usize).min(MAX_DEPTH - 1);
        // A write decides where its data lies, so the cache is asked after it; a read moves nothing.
        let cost = if piece.write {
            self.write_cost_of(later_of(now, self.last_end), piece, first)
        } else {
            self.read_cost_of(piece)
        };
        let cached = self.is_cached(piece.offset);
        let factor = self.queue_cost[usize::from(piece.write)][usize::from(cached)][slot];
        let (cost, draw) = (cost.scaled(f64::from(factor)), self.noise.draw_noise(piece.write));
        let start = later_of(now, self.last_end);
        let cool = cost.scaled(draw.factor);
        let alone = self.planes.as_mut().is_some_and(|planes| planes.must_wait(piece.offset, piece.write));
        let slowed = self.heat.as_ref().map_or(cool, |heat| heat.throttled_cost(cool, piece.write, first));
        let end = self.end_of(now, slowed, draw, first, alone);
        self.last_end = end;
        if let Some(node) = &mut self.heat {
            node.count_work(end, end - start, later_of(cool.service, cool.serial), piece.write);
        }
        if let Some(pslc) = &mut self.pslc {
            pslc.end_command(end, piece.write);
        }
        end
    }

    #[inline]
    fn is_cached(&self, offset: u64) -> bool {
        self.pslc.as_ref().is_some_and(|pslc| pslc.holds(offset))
    }

    /// End of a command: T(d) = max(T1 / min(d, Q), t_ser), applied to single commands. With one command in flight the
    /// first term rules, with Q and more the second, and in between the closed loop of the first gives d / T1. `alone`
    /// for a command that must wait for the one before it.
    #[inline(always)]
    fn end_of(&self, now: f64, cost: CommandCost, draw: NoiseDraw, first: bool, alone: bool) -> f64 {
        if !first {
            return self.last_end + cost.service;
        }
        let whole = cost.access + cost.service;
        let share = if alone { whole } else { whole * self.queue_share };
        let busy = later_of(later_of(share, cost.service), cost.serial);
        later_of(now + whole, self.last_end + busy) + draw.hiccup_ns
    }

    #[inline(always)]
    fn read_cost_of(&mut self, piece: CardCommand) -> CommandCost {
        let cached = self.is_cached(piece.offset);
        let Some(reads) = &mut self.reads else { return self.engine.read_cost(piece.len) };
        let unmapped = self.mapped.as_ref().is_some_and(|m| !m.is_mapped(piece.offset));
        let mut cost = reads.read_cost(piece.offset, piece.len, cached, unmapped);
        self.tally.unmapped_reads += u64::from(unmapped);
        if let Some(cache) = &mut self.map_cache {
            let miss = cache.fetch_part(piece.offset);
            self.tally.map_misses += u64::from(miss > 0.0);
            cost.access += miss;
        }
        if let Some(wear) = &mut self.wear {
            cost.service += wear.count_read(piece.offset);
        }
        cost
    }

    #[inline(always)]
    fn write_cost_of(&mut self, now: f64, piece: CardCommand, first: bool) -> CommandCost {
        // A write replaces what the controller's read buffer holds.
        if let Some(reads) = &mut self.reads {
            reads.clear_buffer();
        }
        let new_bytes = self.mapped.as_mut().map_or(0, |mapped| mapped.map_range(piece.offset, piece.len));
        let missed = self.map_cache.as_mut().is_some_and(|cache| cache.fetch_part(piece.offset) > 0.0);
        let mut cost = match self.region {
            Some(region) if piece.offset < region.end => self.write_region(now, region, piece, first),
            _ => self.write_to_flash(now, piece, first),
        };
        if let MappingEngine::Page(page) = &mut self.engine {
            let mapped = self.mapped.as_ref().map_or(0, MappedBlocks::bytes);
            cost.service += page.write(WriteSize { offset: piece.offset, len: piece.len, new_bytes, mapped });
            cost.access += if missed { page.map_miss } else { 0.0 };
        }
        if self.wear.is_some() {
            cost.service += self.wear_by_write(piece);
        }
        cost
    }

    /// Cost of a write that begins in the region at the card's start, and may reach beyond it.
    fn write_region(&mut self, now: f64, region: MappedRegion, all: CardCommand, first: bool) -> CommandCost {
        let inside = CardCommand { len: all.len.min(region.end - all.offset), ..all };
        let cost = region.cost(inside.len, first, || self.write_to_flash(now, inside, first));
        if inside.len == all.len {
            return cost;
        }
        let rest = CardCommand { offset: region.end, len: all.len - inside.len, ..all };
        cost.plus(self.write_to_flash(now, rest, false))
    }

    #[inline(always)]
    fn write_to_flash(&mut self, now: f64, piece: CardCommand, first: bool) -> CommandCost {
        let Some(pslc) = &mut self.pslc else {
            return self.engine.write_cost(piece.offset, piece.len, first);
        };
        let mapped = self.mapped.as_ref().map_or(0, MappedBlocks::bytes);
        match &mut self.engine {
            MappingEngine::Page(page) => {
                let taken = pslc.write_cached(now, piece, mapped);
                cached_write(pslc, &page.timing, taken, piece.len)
            }
            engine => {
                let mut cost = engine.write_cost(piece.offset, piece.len, first);
                if let Some(per_byte) = engine.in_order_cost() {
                    let taken = pslc.write_cached(now, piece, mapped);
                    cost.service += taken.bytes as f64 * (taken.per_byte - per_byte);
                }
                cost
            }
        }
    }

    /// Wears the card by a write; returns the time that worn blocks add to it.
    fn wear_by_write(&mut self, piece: CardCommand) -> f64 {
        let Some(wear) = &mut self.wear else { return 0.0 };
        let erased = match &self.engine {
            // A card of constant speed maps nothing: it erases a block for each block of data written.
            MappingEngine::Constant(_) => wear.au.unit_number(self.tally.written_bytes),
            engine => engine.work().erased_units,
        };
        wear.reset_reads(piece.offset);
        if erased <= self.counted_erasures {
            return 0.0;
        }
        let failed = wear.state.failed;
        let slower = wear.count_erasures(erased - self.counted_erasures);
        self.counted_erasures = erased;
        // Only the number of failing blocks is modelled; the block being written takes the loss.
        if wear.state.failed > failed && wear.end_of_life() == Some(EndOfLife::LosesBlocks) {
            self.lost_blocks.push(wear.au.unit_range(piece.offset));
        }
        slower
    }

    /// Executes a command on a controller that joins writes in its memory.
    fn execute_through_ram(&mut self, now: f64, command: CardCommand) -> f64 {
        // An idle controller has written back its memory in the meantime.
        let last_end = self.last_end;
        if let Some(range) = self.ram.as_mut().and_then(|ram| ram.drain_if_rested(now, last_end)) {
            self.write_ram_range(last_end, range, 1);
        }
        let CardCommand { offset, len, in_flight, write } = command;
        let Some(ram) = &mut self.ram else { return self.last_end };
        if !write {
            let (here, first) = (ram.holds(offset, len), ram.drain_overlapping(offset, len));
            if here {
                return self.answer_from_ram(now, len);
            }
            if let Some(range) = first {
                self.write_ram_range(now, range, in_flight);
            }
            return self.execute_on_flash_outlined(now, command);
        }
        let step = ram.add_write(offset, len);
        if let Some(range) = step.flush_first {
            self.write_ram_range(now, range, in_flight);
        }
        if let Some(range) = step.flush_now {
            return self.write_ram_range(now, range, in_flight);
        }
        self.tally.joined_writes += 1;
        self.answer_from_ram(now, len)
    }

    /// Writes a range from the controller's memory to the flash.
    fn write_ram_range(&mut self, now: f64, range: Range<u64>, in_flight: u32) -> f64 {
        let (offset, len) = (range.start, range.end - range.start);
        self.execute_on_flash_outlined(now, CardCommand { write: true, offset, len, in_flight })
    }

    /// Ends a command that the controller's memory answers.
    fn answer_from_ram(&mut self, now: f64, len: u64) -> f64 {
        let cost = self.ram.as_ref().map_or(0.0, |ram| ram.answer_cost(len));
        let draw = self.noise.draw_noise(false);
        self.last_end = now.max(self.last_end) + cost * draw.factor;
        self.last_end
    }

    /// Flushes at `now`; returns when all data is stored.
    pub(crate) fn flush(&mut self, now: f64) -> f64 {
        self.tally.flushes += 1;
        if let Some(range) = self.ram.as_mut().and_then(RamBuffer::drain) {
            self.write_ram_range(now, range, 1);
        }
        self.last_end = now.max(self.last_end) + self.flush;
        self.last_end
    }

    /// Discards a range at `now`; returns when the card has noted it.
    pub(crate) fn discard(&mut self, now: f64, offset: u64, len: u64) -> f64 {
        self.tally.discards += 1;
        self.tally.discarded_bytes += len;
        let unmapped = self.mapped.as_mut().map_or(0, |mapped| mapped.unmap_range(offset, len));
        if let MappingEngine::Page(page) = &mut self.engine {
            page.discard_bytes(unmapped, len);
        }
        if let Some(pslc) = &mut self.pslc {
            pslc.discard(len);
        }
        self.last_end = now.max(self.last_end) + self.discard;
        self.last_end
    }

    pub(crate) fn map_ranges(&mut self, ranges: impl Iterator<Item = Range<u64>>) {
        let Some(mapped) = &mut self.mapped else { return };
        let bytes = ranges.map(|range| mapped.map_range(range.start, range.end - range.start)).sum();
        if let MappingEngine::Page(page) = &mut self.engine {
            page.occupy_bytes(bytes);
        }
    }

    pub(crate) fn reset(&mut self) {
        if let Some(range) = self.ram.as_mut().and_then(RamBuffer::drain) {
            self.write_ram_range(self.last_end, range, 1);
        }
        if let Some(reads) = &mut self.reads {
            reads.clear_buffer();
        }
    }

    /// Temperature at `now` in °C; None without a heat model.
    pub(crate) fn celsius(&mut self, now: f64) -> Option<f64> {
        let last_end = self.last_end.min(now);
        self.heat.as_mut().map(|heat| heat.celsius(now, last_end))
    }

    /// Counters of heat at `now`; zeros without a heat model.
    pub(crate) fn heat_counters(&mut self, now: f64) -> HeatCounters {
        self.celsius(now);
        self.heat.as_ref().map(|heat| heat.state.counters).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn end_of_life(&self) -> Option<EndOfLife> {
        self.wear.as_ref().and_then(WearTracker::end_of_life)
    }

    /// Removes and returns the blocks that failed after the end of life.
    pub(crate) fn take_lost_blocks(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.lost_blocks)
    }

    pub(crate) fn counters(&self) -> LifetimeCounters {
        let (tally, work) = (self.tally, self.engine.work());
        let counters = LifetimeCounters { tally, work, ..LifetimeCounters::default() };
        let Some(wear) = &self.wear else { return counters };
        LifetimeCounters {
            erase_cycles: Some(wear.mean_cycles()),
            percent_used: Some(wear.percent_used()),
            moved_blocks: wear.state.moved,
            disturbed_blocks: wear.state.disturbed,
            failed_blocks: wear.state.failed,
            spare_blocks: Some(wear.spare_left()),
            ..counters
        }
    }
}

/// Cost of a write behind a cache: its part in the cache at that speed, the rest at the speed of the flash.
#[inline(always)]
fn cached_write(pslc: &PslcModel, tlc: &RampTiming, taken: CachedWrite, len: u64) -> CommandCost {
    let mut cost = if taken.bytes == len { pslc.timing.cost(len) } else { tlc.cost(len) };
    if taken.bytes > 0 {
        cost.service = bytes_f64(taken.bytes) * taken.per_byte + tlc.transfer_ns(len - taken.bytes);
    }
    cost
}

/// True if something depends on which blocks hold data; the bit map is not kept for other cards.
fn needs_mapped(a: &Archetype) -> bool {
    let collects = matches!(&a.write, Some(WriteTimes::Page(page)) if page.gc.is_some());
    collects || a.cache.is_some_and(|c| c.bits.is_some()) || a.read.is_some_and(|r| r.unmapped_s.is_some())
}

fn queue_cost_table(list: &[QueueCost], factor: fn(&QueueCost) -> f64) -> Box<[f32; MAX_DEPTH]> {
    let mut sorted = list.to_vec();
    sorted.sort_by_key(|s| s.in_flight);
    let mut table = Box::new([1.0f32; MAX_DEPTH]);
    for step in sorted {
        let from = (step.in_flight as usize).min(MAX_DEPTH);
        table[from..].fill(factor(&step) as f32);
    }
    table
}
