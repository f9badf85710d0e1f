//! Sets of byte ranges: what is saved already, what could not be read.

use crate::card::Piece;
use std::collections::BTreeMap;

/// A set of bytes as disjoint ranges, start to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range.
    pub(crate) fn add(&mut self, piece: Piece) {
        let (mut start, mut end) = (piece.offset, piece.end());
        let touching: Vec<u64> =
            self.0.range(..=end).rev().take_while(|(_, e)| **e >= start).map(|(s, _)| *s).collect();
        for from in touching {
            if let Some(to) = self.0.remove(&from) {
                (start, end) = (start.min(from), end.max(to));
            }
        }
        self.0.insert(start, end);
    }

    /// Whether a range is in it whole.
    pub(crate) fn contains(&self, piece: Piece) -> bool {
        self.0.range(..=piece.offset).next_back().is_some_and(|(_, end)| *end >= piece.end())
    }

    /// Whether a range has a byte in it.
    pub(crate) fn touches(&self, piece: Piece) -> bool {
        self.0.range(..piece.end()).next_back().is_some_and(|(_, end)| *end > piece.offset)
    }

    /// Bytes in it.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_holds_exactly_the_bytes_that_were_added(added in prop::collection::vec((0u64..200, 1u32..40), 0..30), ask in (0u64..240, 1u32..40)) {
            let mut bytes = [false; 300];
            let mut set = Ranges::default();
            for (offset, len) in added {
                set.add(Piece { offset, len });
                bytes[offset as usize..offset as usize + len as usize].fill(true);
            }
            let asked = Piece { offset: ask.0, len: ask.1 };
            let there = &bytes[ask.0 as usize..asked.end() as usize];
            prop_assert_eq!(set.contains(asked), there.iter().all(|b| *b));
            prop_assert_eq!(set.touches(asked), there.iter().any(|b| *b));
            prop_assert_eq!(set.bytes(), bytes.iter().filter(|b| **b).count() as u64);
        }
    }
}
