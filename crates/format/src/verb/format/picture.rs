//! What a card is to hold after a format, and which ranges of it must be written for that.
//!
//! Beside what the tool made: everything it relies on to be zero (FATs, root directory), and the places where the
//! marks of an earlier table or file system would go on shining through.

use cardscope_engine::ranges::ByteRanges;
use cardscope_sd::layout::{CardLayout, PartitionScheme, SECTOR, gpt, mbr};
use cardscope_session::error::{Failure, Result};
use cardscope_session::file_system_tool::{ByteRange, data_ranges};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Cleared at the card's start, at the partition's start and at the end: superblocks of btrfs, RAID, ZFS and the second
/// GPT lie within.
const CLEARED: u64 = 1 << 20;

/// A finished file system that no card has yet.
pub(super) struct FileSystemImage {
    layout: CardLayout,
    partition: File,
    /// Boot record, and the GPT where there is one.
    head: Vec<u8>,
    /// The second GPT, and where it begins.
    tail: Option<(u64, Vec<u8>)>,
    /// Who made the file system.
    pub(super) tool: String,
}

impl FileSystemImage {
    pub(super) fn new(layout: &CardLayout, partition: File, tool: String, seed: u64) -> Result<Self> {
        let mut head = mbr::record(layout, (seed >> 16) as u32).to_vec();
        let mut tail = None;
        if layout.scheme == PartitionScheme::Gpt {
            let tables = gpt::tables(layout, layout.total_sectors, guid(seed, 1), guid(seed, 2));
            head.extend(tables.first);
            tail = Some((tables.second_start * SECTOR, tables.second));
        }
        Ok(FileSystemImage { layout: *layout, partition, head, tail, tool })
    }

    /// Bytes of the card that are laid out.
    pub(super) fn bytes(&self) -> u64 {
        self.layout.total_sectors * SECTOR
    }

    /// What the card is to hold from byte `offset` on.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.fill(0);
        let start = self.layout.partition_start * SECTOR;
        let within = ByteRange { start, end: start + self.layout.partition_sectors * SECTOR };
        if let Some((into, from)) = overlap(offset, bytes.len(), within) {
            self.partition.read_exact_at(&mut bytes[into.clone()], from).map_err(Failure::io)?;
        }
        lay_over(bytes, offset, 0, &self.head);
        if let Some((at, table)) = &self.tail {
            lay_over(bytes, offset, *at, table);
        }
        Ok(())
    }

    /// The ranges to be written, in order and apart from each other.
    pub(super) fn ranges(&self) -> Result<Vec<ByteRange>> {
        let l = &self.layout;
        let start = l.partition_start * SECTOR;
        let fat = start + l.reserved_sectors * SECTOR;
        let data = l.data_start * SECTOR;
        let cluster = l.cluster_sectors * SECTOR;
        let mut ranges = vec![
            ByteRange { start: 0, end: start.min(CLEARED).max(self.head.len() as u64) },
            ByteRange { start, end: start + CLEARED },
            ByteRange { start: fat, end: fat + l.fats * l.fat_sectors * SECTOR },
            ByteRange { start: data - l.root_sectors * SECTOR, end: data },
            ByteRange { start: self.bytes().saturating_sub(CLEARED), end: self.bytes() },
        ];
        let mut used = data + cluster;
        for extent in data_ranges(&self.partition, l.partition_sectors * SECTOR).map_err(Failure::io)? {
            let (from, to) = (start + extent.start, start + extent.end);
            // A cluster of which a part was written, the root directory say, must be zero in its rest.
            used = used.max(data + to.saturating_sub(data).next_multiple_of(cluster));
            ranges.push(ByteRange { start: from, end: to });
        }
        ranges.push(ByteRange { start: data, end: used });
        let mut all = ByteRanges::default();
        for ByteRange { start, end } in
            ranges.into_iter().filter(|range| range.start < range.end.min(self.bytes()))
        {
            all.add(start, end.min(self.bytes()));
        }
        Ok(all.iter().map(|(start, end)| ByteRange { start, end }).collect())
    }
}

/// Where a range of the card falls into `len` bytes from `offset` on: the part of them, and the place in the range.
fn overlap(offset: u64, len: usize, range: ByteRange) -> Option<(std::ops::Range<usize>, u64)> {
    let (start, end) = (offset.max(range.start), (offset + len as u64).min(range.end));
    (start < end).then(|| ((start - offset) as usize..(end - offset) as usize, start - range.start))
}

fn lay_over(bytes: &mut [u8], offset: u64, at: u64, table: &[u8]) {
    let range = ByteRange { start: at, end: at + table.len() as u64 };
    if let Some((into, from)) = overlap(offset, bytes.len(), range) {
        let from = from as usize;
        let len = into.len();
        bytes[into].copy_from_slice(&table[from..from + len]);
    }
}

/// A random GUID of version 4 from the seed.
fn guid(seed: u64, which: u64) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    let stream = cardscope_engine::content::IoContent::Stream { seed };
    cardscope_engine::content::fill(stream, which * SECTOR, &mut bytes);
    bytes[7] = bytes[7] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
