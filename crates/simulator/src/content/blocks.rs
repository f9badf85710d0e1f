//! Sets of 4 KiB blocks: those in use, on cards with fewer blocks than addresses, and those in the write cache of a
//! fake. Their content is in a separate layer, by address (f3's emulator has one place for each remainder of the block
//! number; public reports name caches of 0 to 256 MB).

use super::store::NumberMap;
use crate::archetype::CacheKind;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct WriteCache {
    slots: u64,
    table: BlockTable,
}

#[derive(Debug)]
enum BlockTable {
    /// Block number + 1 for each slot; 0 for an empty slot.
    Direct(Vec<u64>),
    Ordered {
        renew_on_use: bool,
        order: EvictionOrder,
    },
}

/// Blocks in order of eviction. A block that moves back leaves its old entry in the queue; `newest` tells which entry
/// is valid.
#[derive(Debug, Default)]
struct EvictionOrder {
    queue: VecDeque<(u64, u64)>,
    newest: NumberMap<u64>,
    next: u64,
}

impl WriteCache {
    pub(crate) fn new(kind: CacheKind, slots: u64) -> Self {
        let table = match kind {
            CacheKind::Direct => BlockTable::Direct(vec![0; slots as usize]),
            CacheKind::Lru => BlockTable::Ordered { renew_on_use: true, order: EvictionOrder::default() },
            CacheKind::Fifo => BlockTable::Ordered { renew_on_use: false, order: EvictionOrder::default() },
        };
        WriteCache { slots, table }
    }

    pub(crate) fn contains(&self, block: u64) -> bool {
        match &self.table {
            BlockTable::Direct(slots) => slots[(block % self.slots) as usize] == block + 1,
            BlockTable::Ordered { order, .. } => order.newest.contains_key(&block),
        }
    }

    /// Block in the slot of this one, if the cache is direct-mapped.
    pub(crate) fn block_in_same_slot(&self, block: u64) -> Option<u64> {
        match &self.table {
            BlockTable::Direct(slots) => slots[(block % self.slots) as usize].checked_sub(1),
            BlockTable::Ordered { .. } => None,
        }
    }

    /// Adds a block that is written; returns the block that is evicted.
    pub(crate) fn insert_written(&mut self, block: u64) -> Option<u64> {
        match &mut self.table {
            BlockTable::Direct(slots) => {
                let slot = &mut slots[(block % self.slots) as usize];
                std::mem::replace(slot, block + 1).checked_sub(1).filter(|old| *old != block)
            }
            BlockTable::Ordered { renew_on_use: renew, order } => {
                if !order.newest.contains_key(&block) || *renew {
                    order.push_back(block);
                }
                if order.newest.len() as u64 > self.slots { order.pop_front() } else { None }
            }
        }
    }

    pub(crate) fn touch_block(&mut self, block: u64) {
        if let BlockTable::Ordered { renew_on_use: true, order } = &mut self.table
            && order.newest.contains_key(&block)
        {
            order.push_back(block);
        }
    }

    pub(crate) fn clear(&mut self) {
        match &mut self.table {
            BlockTable::Direct(slots) => slots.fill(0),
            BlockTable::Ordered { order, .. } => *order = EvictionOrder::default(),
        }
    }

    /// Cached blocks, in order of eviction if there is one.
    pub(crate) fn cached_blocks(&self) -> Vec<u64> {
        match &self.table {
            BlockTable::Direct(slots) => slots.iter().filter_map(|slot| slot.checked_sub(1)).collect(),
            BlockTable::Ordered { order, .. } => order.live_entries().map(|(block, _)| block).collect(),
        }
    }
}

impl EvictionOrder {
    fn push_back(&mut self, block: u64) {
        self.next += 1;
        self.newest.insert(block, self.next);
        self.queue.push_back((block, self.next));
        // Rebuilding at twice the size keeps pushes cheap on average.
        if self.queue.len() > 2 * self.newest.len() + 64 {
            self.queue = self.live_entries().collect();
        }
    }

    fn pop_front(&mut self) -> Option<u64> {
        while let Some((block, number)) = self.queue.pop_front() {
            if self.newest.get(&block) == Some(&number) {
                self.newest.remove(&block);
                return Some(block);
            }
        }
        None
    }

    fn live_entries(&self) -> impl Iterator<Item = (u64, u64)> {
        self.queue.iter().copied().filter(|(block, number)| self.newest.get(block) == Some(number))
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
