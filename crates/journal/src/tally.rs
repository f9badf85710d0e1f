//! What a journal has committed so far, in two fixed places at its head. They are written in turn and synced together with
//! the commit record, so that a lost end of the file shows: the ranges of a batch are on disk before it is counted, and
//! it is counted before the card is written.
//!
//! Each place fills a page of its own: a write that a power cut tears costs that page, and the other one still counts what
//! the card was overwritten for.

use crate::record::{HEAD, RangeEntry, RecordHead, RecordKind};
use std::ops::Range;

/// Bytes of each place: the largest unit in which disks write.
pub(crate) const PAGE: u64 = 4096;

/// Bytes of the map.
const MAP: usize = PAGE as usize - HEAD;

/// Parts of the card that the map tells from each other.
const PARTS: u64 = 8 * MAP as u64;

/// Smallest part: what is saved by itself.
const SMALLEST: u64 = 4096;

/// What is committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedTally {
    pub(crate) batches: u32,
    /// Ranges of all batches.
    pub(crate) ranges: u32,
    /// Bytes of the card in a part of the map.
    part: u64,
    /// A bit for each part of the card of which anything is saved.
    map: Vec<u8>,
}

impl CommittedTally {
    /// Nothing, on a card of so many bytes.
    pub(crate) fn of_card(bytes: u64) -> Self {
        let part = bytes.div_ceil(PARTS).next_power_of_two().max(SMALLEST);
        CommittedTally { batches: 0, ranges: 0, part, map: vec![0; MAP] }
    }

    /// Counts a batch.
    pub(crate) fn add(&mut self, batch: &[RangeEntry]) {
        self.batches += 1;
        self.ranges += batch.len() as u32;
        for entry in batch {
            let last = (entry.offset + u64::from(entry.len)).saturating_sub(1);
            for part in self.part_of(entry.offset)..=self.part_of(last) {
                self.map[part / 8] |= 1 << (part % 8);
            }
        }
    }

    /// What lies beyond the announced size belongs to the last part.
    fn part_of(&self, offset: u64) -> usize {
        (offset / self.part).min(PARTS - 1) as usize
    }

    /// Parts of the card of which anything is saved: nothing outside of them was overwritten.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Range<u64>> {
        let is_set = |part: &u64| self.map[(part / 8) as usize] & (1 << (part % 8)) != 0;
        (0..PARTS).filter(is_set).map(|part| {
            let end = if part + 1 == PARTS { u64::MAX } else { (part + 1) * self.part };
            part * self.part..end
        })
    }

    /// Bytes from the beginning of the places to where this tally goes.
    pub(crate) fn place(&self) -> u64 {
        u64::from(self.batches % 2) * PAGE
    }

    /// The whole page.
    pub(crate) fn encode(&self, nonce: u64) -> Vec<u8> {
        let head = RecordHead {
            kind: RecordKind::Tally,
            payload: MAP as u32,
            offset: self.part,
            len: self.ranges,
            crc: crc32c::crc32c(&self.map),
            nonce,
            batch: self.batches,
            index: self.batches % 2,
        };
        [head.encode().as_slice(), &self.map].concat()
    }

    /// Reads a page whose head and payload have the right checksums.
    pub(crate) fn decode(head: &RecordHead, map: Vec<u8>) -> Option<CommittedTally> {
        let valid = map.len() == MAP && head.offset >= SMALLEST;
        valid.then_some(CommittedTally { batches: head.batch, ranges: head.len, part: head.offset, map })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, len: u32) -> RangeEntry {
        RangeEntry { offset, len, crc: 0, at: 0, fill: None }
    }

    #[test]
    fn the_map_covers_everything_that_was_saved_on_cards_of_any_size() {
        for bytes in [0, 512, 1 << 20, 64 << 30, 2 << 40] {
            let mut tally = CommittedTally::of_card(bytes);
            let saved = [(0, 512), (bytes / 3, 1 << 20), (bytes.saturating_sub(4096), 4096)];
            saved.iter().for_each(|(offset, len)| tally.add(&[entry(*offset, *len)]));
            for (offset, len) in saved {
                for at in [offset, offset + u64::from(len) - 1] {
                    assert!(tally.parts().any(|part| part.contains(&at)), "{at} of {bytes}");
                }
            }
            assert_eq!((tally.batches, tally.ranges), (3, 3));
        }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let mut tally = CommittedTally::of_card(64 << 30);
        tally.add(&[entry(5 << 30, 4096), entry(6 << 30, 4096)]);
        let page = tally.encode(7);
        let head = RecordHead::decode(&page).unwrap();
        assert_eq!((page.len(), head.nonce, tally.place()), (PAGE as usize, 7, PAGE));
        assert_eq!(CommittedTally::decode(&head, page[HEAD..].to_vec()), Some(tally));
    }
}
