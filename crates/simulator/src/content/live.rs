//! Which blocks of 4 KiB are in use, for cards that have fewer of them than addresses.

use serde::{Deserialize, Serialize};

/// Words that are made at a time: 16 MiB of the card.
const GROUP: u64 = 64;

/// A set of block numbers that knows its size.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LiveBlocks {
    groups: Vec<Option<Box<[u64]>>>,
    count: u64,
}

impl LiveBlocks {
    /// How many there are.
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
        let word = self.word(block);
        if *word & bit == 0 {
            *word |= bit;
            self.count += 1;
        }
    }

    pub(crate) fn remove(&mut self, block: u64) {
        if self.contains(block) {
            *self.word(block) &= !(1 << (block % 64));
            self.count -= 1;
        }
    }

    fn word(&mut self, block: u64) -> &mut u64 {
        let group = (block / 64 / GROUP) as usize;
        if group >= self.groups.len() {
            self.groups.resize_with(group + 1, || None);
        }
        let words = self.groups[group].get_or_insert_with(|| vec![0; GROUP as usize].into_boxed_slice());
        &mut words[(block / 64 % GROUP) as usize]
    }

    /// Whether it can be what this module made.
    pub(crate) fn sound(&self) -> bool {
        let words = || self.groups.iter().flatten();
        words().all(|group| group.len() == GROUP as usize)
            && words().flat_map(|group| group.iter()).map(|w| u64::from(w.count_ones())).sum::<u64>()
                == self.count
    }
}
