//! Which blocks of 4 KiB the card keeps anything for: what was never written, or was discarded, is read faster on
//! some cards, needs no copying on others, and leaves a dynamic cache more room. One bit a block.

use serde::{Deserialize, Serialize};
use std::ops::Range;

const SHIFT: u32 = 12;

/// The bits, and how many are set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mapped {
    words: Vec<u64>,
    blocks: u64,
}

impl Mapped {
    /// Nothing is mapped on a card of `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Mapped { words: vec![0; (bytes.div_ceil(1 << SHIFT)).div_ceil(64) as usize], blocks: 0 }
    }

    /// Length of the table, which two states of one card agree in.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Bytes mapped.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks << SHIFT
    }

    /// True where the block at `offset` is mapped.
    #[inline]
    pub(crate) fn has(&self, offset: u64) -> bool {
        let block = offset >> SHIFT;
        self.words[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    /// The range was written; a block that is touched at all is mapped. Returns the bytes that are mapped anew.
    #[inline]
    pub(crate) fn set(&mut self, offset: u64, len: u64) -> u64 {
        let before = self.blocks;
        self.change(offset >> SHIFT..(offset + len).div_ceil(1 << SHIFT), true);
        (self.blocks - before) << SHIFT
    }

    /// The range was discarded; a block that is only touched stays mapped. Returns the bytes that were mapped.
    pub(crate) fn clear(&mut self, offset: u64, len: u64) -> u64 {
        let before = self.blocks;
        let blocks = offset.div_ceil(1 << SHIFT)..(offset + len) >> SHIFT;
        if blocks.start < blocks.end {
            self.change(blocks, false);
        }
        (before - self.blocks) << SHIFT
    }

    #[inline]
    fn change(&mut self, blocks: Range<u64>, mapped: bool) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    proptest::proptest! {
        #[test]
        fn the_bits_agree_with_a_set_of_blocks(
            steps in proptest::collection::vec((proptest::bool::ANY, 0u64..4000, 1u64..2000), 1..40)
        ) {
            let (mut mapped, mut set) = (Mapped::new(6000 * 512), BTreeSet::new());
            for (write, sector, sectors) in steps {
                let (offset, len) = (sector * 512, sectors * 512);
                let (before, change);
                if write {
                    before = set.len();
                    set.extend(offset / 4096..(offset + len).div_ceil(4096));
                    change = set.len() - before;
                    proptest::prop_assert_eq!(mapped.set(offset, len), change as u64 * 4096);
                } else {
                    before = set.len();
                    set.retain(|b| *b < offset.div_ceil(4096) || *b >= (offset + len) / 4096);
                    change = before - set.len();
                    proptest::prop_assert_eq!(mapped.clear(offset, len), change as u64 * 4096);
                }
                proptest::prop_assert_eq!(mapped.bytes(), set.len() as u64 * 4096);
                proptest::prop_assert_eq!(mapped.has(offset), set.contains(&(offset / 4096)));
            }
        }
    }
}
