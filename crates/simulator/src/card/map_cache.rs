//! The part of the mapping table that fits into the controller's memory (model, R: t_map, C_map). A read whose part
//! is not there waits for a second read of the flash. Parts are replaced in the order in which they came: for
//! places drawn evenly over a span the share of misses is then the closed form 1 - C_map/span.

use super::timing::ns;
use crate::archetype::Read;
use serde::{Deserialize, Serialize};

/// A page of 4 KiB of the table, with 4 bytes for each 4 KiB, covers 4 MiB: the host memory buffers that Express
/// cards ask for are that large for what they map.
const PART_SHIFT: u32 = 22;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    /// A bit for each part of the table.
    resident: Vec<u64>,
    /// Parts in the memory, in a ring.
    ring: Vec<u32>,
    next: usize,
}

impl State {
    /// Parts that the table has, and that fit into the memory: what two states of one card agree in.
    pub(super) fn parts(&self) -> usize {
        self.resident.len() + self.ring.len()
    }
}

/// The memory.
#[derive(Debug)]
pub(crate) struct MapCache {
    pub(super) state: State,
    miss: f64,
}

impl MapCache {
    /// Absent where the whole table fits.
    pub(crate) fn new(read: &Read, announced_bytes: u64) -> Option<Self> {
        let held = read.map_cache_bytes.filter(|c| *c < announced_bytes && read.map_miss_s > 0.0)?;
        let parts = (announced_bytes >> PART_SHIFT) as usize + 1;
        let state = State {
            resident: vec![0; parts.div_ceil(64)],
            ring: vec![NONE; (held >> PART_SHIFT).max(1) as usize],
            next: 0,
        };
        Some(MapCache { state, miss: ns(read.map_miss_s) })
    }

    /// What it costs to have the part for `offset`: 0 where it is there, else it is fetched.
    #[inline]
    pub(crate) fn fetch(&mut self, offset: u64) -> f64 {
        let part = (offset >> PART_SHIFT) as u32;
        let State { resident, ring, next } = &mut self.state;
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
    use cardscope_model::random::Random;

    #[test]
    fn random_reads_over_a_span_miss_as_often_as_the_closed_form_says() {
        let spec =
            target_spec::parse("sim:lexar-1tb-express?map_cache_bytes=1GiB&read.map_miss_s=0.0001").unwrap();
        let read = spec.archetype.read.unwrap();
        for (span_gib, share) in [(1, 0.0), (2, 0.5), (4, 0.75), (64, 1.0 - 1.0 / 64.0)] {
            let mut cache = MapCache::new(&read, spec.archetype.announced_bytes).unwrap();
            let mut random = Random::from_state(5);
            let mut misses = |n: u32| {
                let blocks = span_gib * 262_144;
                (0..n).filter(|_| cache.fetch(random.next_u64() % blocks * 4096) > 0.0).count() as f64
                    / f64::from(n)
            };
            misses(100_000);
            let found = misses(100_000);
            assert!((found - share).abs() < 0.01, "{span_gib} GiB: {found} and not {share}");
        }
    }

    #[test]
    fn a_card_whose_table_fits_has_no_such_memory() {
        let spec =
            target_spec::parse("sim:lexar-1tb-express?map_cache_bytes=2TB&read.map_miss_s=0.0001").unwrap();
        assert!(MapCache::new(&spec.archetype.read.unwrap(), spec.archetype.announced_bytes).is_none());
    }
}
