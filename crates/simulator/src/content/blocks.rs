//! Sets of 4 KiB blocks: those in use, on cards with fewer blocks than addresses, and those in the write cache of a
//! fake. Their content is in a separate layer, by address (f3's emulator has one place for each remainder of the block
//! number; public reports name caches of 0 to 256 MB).

use super::store::NumberMap;
use crate::archetype::CacheKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) struct WriteCache {
    kind: CacheKind,
    slots: u64,
    /// Cached blocks by slot if the cache is direct-mapped, else in order of eviction.
    blocks: BTreeMap<u64, u64>,
    /// Key of each cached block in `blocks`.
    keys: NumberMap<u64>,
    last_key: u64,
}

impl WriteCache {
    pub(crate) fn new(kind: CacheKind, slots: u64) -> Self {
        WriteCache { kind, slots, blocks: BTreeMap::new(), keys: NumberMap::default(), last_key: 0 }
    }

    pub(crate) fn contains(&self, block: u64) -> bool {
        self.keys.contains_key(&block)
    }

    /// Block in the slot of this one, if the cache is direct-mapped.
    pub(crate) fn block_in_same_slot(&self, block: u64) -> Option<u64> {
        let direct = self.kind == CacheKind::Direct;
        self.blocks.get(&(block % self.slots)).filter(|_| direct).copied()
    }

    /// Adds a block that is written; returns the block that is evicted.
    pub(crate) fn insert_written(&mut self, block: u64) -> Option<u64> {
        if self.contains(block) {
            self.touch_block(block);
            return None;
        }
        let evicted = match self.kind {
            CacheKind::Direct => self.blocks.remove(&(block % self.slots)),
            _ if self.keys.len() as u64 == self.slots => self.blocks.pop_first().map(|(_, oldest)| oldest),
            _ => None,
        };
        evicted.map(|old| self.keys.remove(&old));
        self.last_key = if self.kind == CacheKind::Direct { block % self.slots } else { self.last_key + 1 };
        self.blocks.insert(self.last_key, block);
        self.keys.insert(block, self.last_key);
        evicted
    }

    /// Makes a block that is used the last to be evicted, if use counts.
    pub(crate) fn touch_block(&mut self, block: u64) {
        if self.kind == CacheKind::Lru
            && let Some(key) = self.keys.get_mut(&block)
        {
            self.blocks.remove(key);
            self.last_key += 1;
            *key = self.last_key;
            self.blocks.insert(*key, block);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.keys.clear();
    }

    /// Cached blocks, in order of eviction if there is one.
    pub(crate) fn cached_blocks(&self) -> Vec<u64> {
        self.blocks.values().copied().collect()
    }
}

/// Words that are allocated at a time: 16 MiB of the card.
const GROUP: u64 = 64;

/// Set of block numbers that knows its size.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LiveBlocks {
    groups: Vec<Option<Box<[u64]>>>,
    count: u64,
}

impl LiveBlocks {
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn contains(&self, block: u64) -> bool {
        let group = self.groups.get((block / 64 / GROUP) as usize).and_then(Option::as_ref);
        let word = group.and_then(|words| words.get((block / 64 % GROUP) as usize));
        word.is_some_and(|bits| bits >> (block % 64) & 1 == 1)
    }

    pub(crate) fn insert(&mut self, block: u64) {
        let bit = 1 << (block % 64);
        let word = self.word_of(block);
        if *word & bit == 0 {
            *word |= bit;
            self.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, block: u64) {
        if self.contains(block) {
            *self.word_of(block) &= !(1 << (block % 64));
            self.count -= 1;
        }
    }

    fn word_of(&mut self, block: u64) -> &mut u64 {
        let group = (block / 64 / GROUP) as usize;
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, || None);
        }
        let words = self.groups[group].get_or_insert_with(|| vec![0; GROUP as usize].into_boxed_slice());
        &mut words[(block / 64 % GROUP) as usize]
    }

    /// True if this module can have made the set; a file may hold anything.
    pub(crate) fn is_valid(&self) -> bool {
        let words = || self.groups.iter().flatten();
        words().all(|group| group.len() == GROUP as usize)
            && words().flat_map(|group| group.iter()).map(|w| u64::from(w.count_ones())).sum::<u64>()
                == self.count
    }
}
