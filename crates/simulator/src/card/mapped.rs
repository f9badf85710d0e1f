//! Blocks of 4 KiB that hold data, one bit each: a block that was never written, or was discarded, is read faster on
//! some cards, needs no copying on others, and leaves a dynamic cache more room
//! (docs/reference/flash.md#unmapped-areas).

use super::command::seconds_to_ns;
use crate::archetype::ReadTimes;
use serde::{Deserialize, Serialize};
use std::ops::Range;

const SHIFT: u32 = 12;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MappedBlocks {
    pub(super) words: Vec<u64>,
    blocks: u64,
}

impl MappedBlocks {
    pub(crate) fn new(bytes: u64) -> Self {
        MappedBlocks { words: vec![0; (bytes.div_ceil(1 << SHIFT)).div_ceil(64) as usize], blocks: 0 }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks << SHIFT
    }

    #[inline]
    pub(crate) fn is_mapped(&self, offset: u64) -> bool {
        let block = offset >> SHIFT;
        self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// Marks a written range; a block that is only touched is mapped as well. Returns the bytes that are newly mapped.
    #[inline]
    pub(crate) fn map_range(&mut self, offset: u64, len: u64) -> u64 {
        let before = self.blocks;
        self.set_bits(offset >> SHIFT..(offset + len).div_ceil(1 << SHIFT), true);
        (self.blocks - before) << SHIFT
    }

    /// Clears a discarded range; a block that is only touched stays mapped. Returns the bytes that were mapped.
    pub(crate) fn unmap_range(&mut self, offset: u64, len: u64) -> u64 {
        let before = self.blocks;
        let blocks = offset.div_ceil(1 << SHIFT)..(offset + len) >> SHIFT;
        if blocks.start < blocks.end {
            self.set_bits(blocks, false);
        }
        (before - self.blocks) << SHIFT
    }

    #[inline]
    fn set_bits(&mut self, blocks: Range<u64>, mapped: bool) {
        let mut at = blocks.start;
        while at < blocks.end {
            let within = at % 64;
            let count = (64 - within).min(blocks.end - at);
            let mask = (u64::MAX >> (64 - count)) << within;
            let word = &mut self.words[(at / 64) as usize];
            let had = u64::from((*word & mask).count_ones());
            if mapped {
                *word |= mask;
                self.blocks += count - had;
            } else {
                *word &= !mask;
                self.blocks -= had;
            }
            at += count;
        }
    }
}

/// Part of the mapping table: a page of 4 KiB with 4 bytes for each 4 KiB, which covers 4 MiB. The host memory buffers
/// that Express cards ask for have this size for their capacity.
const PART_SHIFT: u32 = 22;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MapState {
    /// A bit for each part of the table.
    pub(super) resident: Vec<u64>,
    /// Parts in memory, as a ring.
    pub(super) ring: Vec<u32>,
    next: usize,
}

/// Parts of the mapping table in the controller's memory (C_map). A read of any other part waits for a second read of
/// the flash (t_map). The part that was fetched first is replaced first, so for places drawn evenly over a span the
/// share of misses is the closed form 1 - C_map/span.
#[derive(Debug)]
pub(crate) struct MapCache {
    pub(super) state: MapState,
    miss: f64,
}

impl MapCache {
    /// None if the whole table fits into memory.
    pub(crate) fn new(read: &ReadTimes, announced_bytes: u64) -> Option<Self> {
        let held = read.map_cache_bytes.filter(|c| *c < announced_bytes && read.map_miss_s > 0.0)?;
        let parts = (announced_bytes >> PART_SHIFT) as usize + 1;
        let state = MapState {
            resident: vec![0; parts.div_ceil(64)],
            ring: vec![NONE; (held >> PART_SHIFT).max(1) as usize],
            next: 0,
        };
        Some(MapCache { state, miss: seconds_to_ns(read.map_miss_s) })
    }

    /// Fetches the part for `offset`; returns the cost, 0 if it is in memory.
    #[inline]
    pub(crate) fn fetch_part(&mut self, offset: u64) -> f64 {
        let part = (offset >> PART_SHIFT) as u32;
        let MapState { resident, ring, next } = &mut self.state;
        if resident[part as usize / 64] >> (part % 64) & 1 == 1 {
            return 0.0;
        }
        let old = std::mem::replace(&mut ring[*next], part);
        if old != NONE {
            resident[old as usize / 64] &= !(1 << (old % 64));
        }
        resident[part as usize / 64] |= 1 << (part % 64);
        *next = (*next + 1) % ring.len();
        self.miss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_spec;
    use cardscope_model::random::SeededRandom;
    use std::collections::BTreeSet;

    proptest::proptest! {
        #[test]
        fn bits_agree_with_a_set_of_blocks(
            steps in proptest::collection::vec((proptest::bool::ANY, 0u64..4000, 1u64..2000), 1..40)
        ) {
            let (mut mapped, mut set) = (MappedBlocks::new(6000 * 512), BTreeSet::new());
            for (write, sector, sectors) in steps {
                let (offset, len) = (sector * 512, sectors * 512);
                let (before, change);
                if write {
                    before = set.len();
                    set.extend(offset / 4096..(offset + len).div_ceil(4096));
                    change = set.len() - before;
                    proptest::prop_assert_eq!(mapped.map_range(offset, len), change as u64 * 4096);
                } else {
                    before = set.len();
                    set.retain(|b| *b < offset.div_ceil(4096) || *b >= (offset + len) / 4096);
                    change = before - set.len();
                    proptest::prop_assert_eq!(mapped.unmap_range(offset, len), change as u64 * 4096);
                }
                proptest::prop_assert_eq!(mapped.bytes(), set.len() as u64 * 4096);
                proptest::prop_assert_eq!(mapped.is_mapped(offset), set.contains(&(offset / 4096)));
            }
        }
    }

    #[test]
    fn miss_share_matches_closed_form() {
        let spec =
            target_spec::parse("sim:lexar-1tb-express?map_cache_bytes=1GiB&read.map_miss_s=0.0001").unwrap();
        let read = spec.archetype.read.unwrap();
        for (span_gib, share) in [(1, 0.0), (2, 0.5), (4, 0.75), (64, 1.0 - 1.0 / 64.0)] {
            let mut cache = MapCache::new(&read, spec.archetype.announced_bytes).unwrap();
            let mut random = SeededRandom::from_state(5);
            let mut misses = |n: u32| {
                let blocks = span_gib * 262_144;
                (0..n).filter(|_| cache.fetch_part(random.next_u64() % blocks * 4096) > 0.0).count() as f64
                    / f64::from(n)
            };
            misses(100_000);
            let found = misses(100_000);
            assert!((found - share).abs() < 0.01, "{span_gib} GiB: {found} and not {share}");
        }
    }

    #[test]
    fn no_map_cache_if_whole_table_fits() {
        let spec =
            target_spec::parse("sim:lexar-1tb-express?map_cache_bytes=2TB&read.map_miss_s=0.0001").unwrap();
        assert!(MapCache::new(&spec.archetype.read.unwrap(), spec.archetype.announced_bytes).is_none());
    }
}
