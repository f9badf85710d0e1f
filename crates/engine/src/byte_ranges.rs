//! Sets of byte ranges.

use std::collections::BTreeMap;

/// Set of bytes, stored as disjoint ranges from start to end.
#[derive(Debug, Clone, Default)]
pub struct ByteRanges(BTreeMap<u64, u64>);

impl ByteRanges {
    /// Adds the bytes in `start..end` and returns the parts that are new.
    pub fn add(&mut self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let fresh = self.missing(start, end);
        let (mut from, mut to) = (start, end);
        for (s, e) in self.overlapping(start, end) {
            self.0.remove(&s);
            (from, to) = (from.min(s), to.max(e));
        }
        if from < to {
            self.0.insert(from, to);
        }
        fresh
    }

    /// Parts of a range that are not in the set.
    pub fn missing(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let mut at = start;
        let mut gaps = Vec::new();
        for (s, e) in self.overlapping(start, end) {
            if s > at {
                gaps.push((at, s));
            }
            at = at.max(e);
        }
        if at < end {
            gaps.push((at, end));
        }
        gaps
    }

    pub fn contains(&self, start: u64, end: u64) -> bool {
        self.0.range(..=start).next_back().is_some_and(|(_, last)| *last >= end)
    }

    /// True if the set contains any byte of the range.
    pub fn intersects(&self, start: u64, end: u64) -> bool {
        self.0.range(..end).next_back().is_some_and(|(_, last)| *last > start)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(start, end)| (*start, *end))
    }

    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Ranges of the set that overlap or adjoin `start..end`, in order.
    fn overlapping(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let reaching = self.0.range(..=end).rev().take_while(|(_, e)| **e >= start);
        let mut found: Vec<(u64, u64)> = reaching.map(|(s, e)| (*s, *e)).collect();
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn set_contains_exactly_added_bytes(added in prop::collection::vec((0u64..200, 1u64..40), 0..30), ask in (0u64..240, 1u64..40)) {
            let mut bytes = [false; 300];
            let mut set = ByteRanges::default();
            for (start, len) in added {
                let fresh = set.add(start, start + len);
                for at in start..start + len {
                    prop_assert_eq!(fresh.iter().any(|(s, e)| (*s..*e).contains(&at)), !bytes[at as usize]);
                }
                bytes[start as usize..(start + len) as usize].fill(true);
            }
            let (start, end) = (ask.0, ask.0 + ask.1);
            let there = &bytes[start as usize..end as usize];
            prop_assert_eq!(set.contains(start, end), there.iter().all(|b| *b));
            prop_assert_eq!(set.intersects(start, end), there.iter().any(|b| *b));
            prop_assert_eq!(set.bytes(), bytes.iter().filter(|b| **b).count() as u64);
        }
    }
}
