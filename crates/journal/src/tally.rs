//! Tally of the committed batches, in two fixed pages near the start of the journal. The pages are written in turn and
//! synced with the commit record, so that a lost end of the file is noticed: a batch is counted after its ranges are on
//! disk and before the card is written.
//!
//! Each tally fills a page. A power cut can tear only the page being written, and the other one still counts everything
//! that was overwritten.

use crate::record::{HEAD_BYTES, RangeEntry, RecordHead, RecordKind};
use std::ops::Range;

/// Bytes of a tally: the largest unit in which disks write.
pub(crate) const PAGE_BYTES: u64 = 4096;

const MAP_BYTES: usize = PAGE_BYTES as usize - HEAD_BYTES;

/// Parts into which the map divides the card.
const MAP_PARTS: u64 = 8 * MAP_BYTES as u64;

/// Smallest part in bytes: the smallest range that is saved alone.
const MIN_PART_BYTES: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedTally {
    pub(crate) batches: u32,
    pub(crate) ranges: u32,
    /// Bytes of the card in one part.
    part_bytes: u64,
    /// Bitmap of the parts with saved data.
    map: Vec<u8>,
}

impl CommittedTally {
    pub(crate) fn for_card(bytes: u64) -> Self {
        let part = bytes.div_ceil(MAP_PARTS).next_power_of_two().max(MIN_PART_BYTES);
        CommittedTally { batches: 0, ranges: 0, part_bytes: part, map: vec![0; MAP_BYTES] }
    }

    pub(crate) fn add_batch(&mut self, batch: &[RangeEntry]) {
        self.batches += 1;
        self.ranges += batch.len() as u32;
        for entry in batch {
            let last = (entry.offset + u64::from(entry.len)).saturating_sub(1);
            for part in self.part_index(entry.offset)..=self.part_index(last) {
                self.map[part / 8] |= 1 << (part % 8);
            }
        }
    }

    /// Addresses beyond the announced size belong to the last part.
    fn part_index(&self, offset: u64) -> usize {
        (offset / self.part_bytes).min(MAP_PARTS - 1) as usize
    }

    /// Parts of the card with saved data. Nothing outside of them was overwritten.
    pub(crate) fn written_parts(&self) -> impl Iterator<Item = Range<u64>> {
        let is_set = |part: &u64| self.map[(part / 8) as usize] & (1 << (part % 8)) != 0;
        (0..MAP_PARTS).filter(is_set).map(|part| {
            let end = if part + 1 == MAP_PARTS { u64::MAX } else { (part + 1) * self.part_bytes };
            part * self.part_bytes..end
        })
    }

    /// Offset of this tally from the first of the two pages.
    pub(crate) fn page_offset(&self) -> u64 {
        u64::from(self.batches % 2) * PAGE_BYTES
    }

    pub(crate) fn encode(&self, nonce: u64) -> Vec<u8> {
        let head = RecordHead {
            kind: RecordKind::Tally,
            payload: MAP_BYTES as u32,
            offset: self.part_bytes,
            len: self.ranges,
            crc: crc32c::crc32c(&self.map),
            nonce,
            batch: self.batches,
            index: self.batches % 2,
        };
        [head.encode().as_slice(), &self.map].concat()
    }

    /// Decodes a page whose header and payload have valid checksums.
    pub(crate) fn decode(head: &RecordHead, map: Vec<u8>) -> Option<CommittedTally> {
        let valid = map.len() == MAP_BYTES && head.offset >= MIN_PART_BYTES;
        let (batches, ranges, part_bytes) = (head.batch, head.len, head.offset);
        valid.then_some(CommittedTally { batches, ranges, part_bytes, map })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(offset: u64, len: u32) -> RangeEntry {
        RangeEntry { offset, len, crc: 0, at: 0, fill: None }
    }

    #[test]
    fn tally_map_covers_all_saved_ranges_on_any_card_size() {
        for bytes in [0, 512, 1 << 20, 64 << 30, 2 << 40] {
            let mut tally = CommittedTally::for_card(bytes);
            let saved = [(0, 512), (bytes / 3, 1 << 20), (bytes.saturating_sub(4096), 4096)];
            saved.iter().for_each(|(offset, len)| tally.add_batch(&[entry(*offset, *len)]));
            for (offset, len) in saved {
                for at in [offset, offset + u64::from(len) - 1] {
                    assert!(tally.written_parts().any(|part| part.contains(&at)), "{at} of {bytes}");
                }
            }
            assert_eq!((tally.batches, tally.ranges), (3, 3));
        }
    }

    #[test]
    fn tally_page_round_trips() {
        let mut tally = CommittedTally::for_card(64 << 30);
        tally.add_batch(&[entry(5 << 30, 4096), entry(6 << 30, 4096)]);
        let page = tally.encode(7);
        let head = RecordHead::decode(&page).unwrap();
        assert_eq!((page.len(), head.nonce, tally.page_offset()), (PAGE_BYTES as usize, 7, PAGE_BYTES));
        assert_eq!(CommittedTally::decode(&head, page[HEAD_BYTES..].to_vec()), Some(tally));
    }
}
