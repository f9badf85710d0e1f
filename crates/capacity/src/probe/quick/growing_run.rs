//! Run that grows from the end of the card downwards. The real capacity ends below it on any fake, so only writes
//! there surely evict lost blocks from a cache.
//!
//! After each growth some of the first written blocks are read, each only once: a cache that keeps data that is
//! read would hold a repeatedly read block forever.

use super::stamper::{CheckedClaims, StampClaim, Stamper, UNIT, align_down, block_at};
use crate::probe::Result;
use cardscope_engine::io_driver::{CardExtent, split_extents};
use std::collections::BTreeSet;

/// Lengths at which the run is checked: small steps, doubled up to 64 MiB, then a quarter more each time, so that a
/// cache overflows with at most a quarter more than it holds.
pub(super) fn run_lengths(most: u64) -> Vec<u64> {
    let mut sizes = vec![UNIT, 64 << 10, 1 << 20];
    while let Some(last) = sizes.last().copied().filter(|last| *last < most) {
        let next = if last < 64 << 20 { last * 2 } else { (last + last / 4) >> 20 << 20 };
        sizes.push(next);
    }
    sizes.retain(|size| *size < most);
    sizes.push(most);
    sizes
}

/// Range written at once.
#[derive(Debug, Clone, Copy)]
struct TailPart {
    start: u64,
    end: u64,
    generation: u32,
}

#[derive(Debug)]
pub(super) struct GrowingRun {
    /// End of the card, or of the part under test.
    end: u64,
    parts: Vec<TailPart>,
    /// Unread blocks of the oldest parts, the next one last.
    unread: Vec<StampClaim>,
}

/// Oldest blocks that are read per step.
pub(super) const BLOCKS_PER_CHECK: usize = 8;

impl GrowingRun {
    pub(super) fn ending_at(end: u64) -> Self {
        GrowingRun { end, parts: Vec::new(), unread: Vec::new() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|p| p.end - p.start).sum()
    }

    pub(super) fn start(&self) -> u64 {
        self.parts.last().map_or(self.end, |p| p.start)
    }

    pub(super) fn extents_to_grow(&self, io: &Stamper, bytes: u64) -> Vec<CardExtent> {
        let (start, end) = self.missing_range(bytes);
        split_extents(start.min(end), end, io.context.block()).collect()
    }

    fn missing_range(&self, bytes: u64) -> (u64, u64) {
        (aligned_start(self.end - bytes.min(self.end), bytes), self.start())
    }

    pub(super) fn grow_to(&mut self, io: &mut Stamper, bytes: u64) -> Result<()> {
        let (start, end) = self.missing_range(bytes);
        if start >= end {
            return Ok(());
        }
        let claims = write_run(io, start, end)?;
        let Some(first) = claims.first() else { return Ok(()) };
        self.parts.push(TailPart { start, end, generation: first.generation });
        if end - start <= 1 << 20 {
            let mut blocks: Vec<StampClaim> = claims.iter().flat_map(|c| c.blocks()).collect();
            io.context.random.shuffle(&mut blocks);
            self.unread.splice(0..0, blocks);
        }
        Ok(())
    }

    /// Same ranges in the same order, which evict everything else from a cache when written again.
    pub(super) fn flood(&self) -> CacheFlood {
        CacheFlood { parts: self.parts.iter().map(|p| (p.start, p.end)).collect() }
    }

    /// Reads some of the oldest unread blocks, and some of the newest.
    pub(super) fn read_blocks(&mut self, io: &mut Stamper) -> Result<TailReading> {
        let from = self.unread.len().saturating_sub(BLOCKS_PER_CHECK);
        let old = io.check_claims(&self.unread.split_off(from))?;
        let random = |part: &TailPart| random_blocks(io, *part, BLOCKS_PER_CHECK as u64 / 2);
        let newest = self.parts.last().map(random).unwrap_or_default();
        Ok(TailReading { old, new: io.check_claims(&newest)? })
    }

    /// Claims of the whole run, in extents of `block` bytes.
    pub(super) fn claims(&self, block: u32) -> Vec<StampClaim> {
        let claims = |&TailPart { start, end, generation }: &TailPart| {
            let extents = split_extents(start, end, block);
            extents.map(move |extent| StampClaim { extent, generation, written: true })
        };
        self.parts.iter().rev().flat_map(claims).collect()
    }
}

/// Ranges to write at the end of the card to evict everything else from a cache; empty if no cache was detected.
///
/// They are in the order of the first writes: a first-in, first-out cache then holds none of a range when its turn
/// comes, and takes all of it.
#[derive(Debug, Clone, Default)]
pub(super) struct CacheFlood {
    parts: Vec<(u64, u64)>,
}

impl CacheFlood {
    pub(super) fn over_extents(extents: &[CardExtent]) -> CacheFlood {
        CacheFlood { parts: extents.iter().map(|p| (p.offset, p.end())).collect() }
    }

    pub(super) fn append(mut self, other: &CacheFlood) -> CacheFlood {
        self.parts.extend_from_slice(&other.parts);
        self
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|(start, end)| end - start).sum()
    }

    /// Lowest address, or `end` if it is empty.
    pub(super) fn start(&self, end: u64) -> u64 {
        self.parts.last().map_or(end, |(start, _)| *start)
    }

    pub(super) fn write_all(&self, io: &mut Stamper) -> Result<()> {
        self.parts.iter().try_for_each(|(start, end)| write_run(io, *start, *end).map(drop))
    }
}

/// Oldest and newest blocks of a check.
#[derive(Debug)]
pub(super) struct TailReading {
    pub(super) old: CheckedClaims,
    pub(super) new: CheckedClaims,
}

/// Start of a run of `bytes` at about `address`: aligned to the allocation unit of most cards, so that no unit is
/// written in two parts and merged in between.
fn aligned_start(address: u64, bytes: u64) -> u64 {
    if bytes < ALLOCATION_UNIT { align_down(address) } else { address / ALLOCATION_UNIT * ALLOCATION_UNIT }
}

/// Most common allocation unit, and a divisor of larger ones (docs/reference/flash.md#erase-blocks).
const ALLOCATION_UNIT: u64 = 4 << 20;

pub(super) fn write_run(io: &mut Stamper, start: u64, end: u64) -> Result<Vec<StampClaim>> {
    let block = io.context.block();
    let run: Vec<CardExtent> = split_extents(start, end, block).collect();
    io.write_stamps(&run)
}

fn random_blocks(io: &mut Stamper, part: TailPart, count: u64) -> Vec<StampClaim> {
    let blocks = (part.end - part.start).div_ceil(UNIT);
    let picks: BTreeSet<u64> = (0..count).map(|_| io.context.random.below(blocks)).collect();
    let TailPart { start, end, generation } = part;
    let extents = picks.into_iter().map(|block| block_at(start + block * UNIT, end));
    extents.map(|extent| StampClaim { extent, generation, written: true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_lengths_grow_by_at_most_a_quarter() {
        let steps = run_lengths(514 << 20);
        assert_eq!((steps[0], *steps.last().unwrap()), (4096, 514 << 20));
        for pair in steps.windows(2).filter(|p| p[0] >= 64 << 20) {
            assert!(pair[1] <= pair[0] * 5 / 4, "{pair:?}");
        }
        assert!(steps.is_sorted_by(|a, b| a < b));
    }
}
