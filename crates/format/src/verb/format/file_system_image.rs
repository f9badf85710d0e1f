//! Content of a card after a format, and the ranges that must be written for it.
//!
//! The ranges include more than the tool's output: structures that it expects to be zero (FATs, root directory),
//! and places where signatures of an earlier partition table or file system would stay recognizable.

use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_sd::layout::{CardLayout, PartitionScheme, SECTOR, partition_table};
use cardscope_session::error::{Failure, Result};
use cardscope_session::file_system_tool::{ByteRange, data_ranges};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes cleared at the start of the card, at the start of the partition and at the end of the card: superblocks of
/// btrfs, RAID, ZFS and the backup GPT lie there.
const CLEARED_BYTES: u64 = 1 << 20;

pub(super) struct FileSystemImage {
    layout: CardLayout,
    partition: File,
    /// Boot record, followed by the primary GPT if there is one.
    head: Vec<u8>,
    /// Backup GPT and its offset in bytes.
    tail: Option<(u64, Vec<u8>)>,
    /// Name and version of the mkfs tool.
    pub(super) tool: String,
}

impl FileSystemImage {
    pub(super) fn new(layout: &CardLayout, partition: File, tool: String, seed: u64) -> Result<Self> {
        let mut head = partition_table::build_mbr(layout, (seed >> 16) as u32).to_vec();
        let mut tail = None;
        if layout.scheme == PartitionScheme::Gpt {
            let (disk, partition) = (random_guid(seed, 1), random_guid(seed, 2));
            let tables = partition_table::build_gpt(layout, layout.total_sectors, disk, partition);
            head.extend(tables.primary);
            tail = Some((tables.second_start * SECTOR, tables.second));
        }
        Ok(FileSystemImage { layout: *layout, partition, head, tail, tool })
    }

    pub(super) fn bytes(&self) -> u64 {
        self.layout.total_sectors * SECTOR
    }

    /// Fills `bytes` with the planned content of the card from `offset`.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.fill(0);
        let start = self.layout.partition_start * SECTOR;
        let within = ByteRange { start, end: start + self.layout.partition_sectors * SECTOR };
        if let Some((into, from)) = buffer_overlap(offset, bytes.len(), within) {
            self.partition.read_exact_at(&mut bytes[into.clone()], from).map_err(Failure::io)?;
        }
        copy_overlap(bytes, offset, 0, &self.head);
        if let Some((at, table)) = &self.tail {
            copy_overlap(bytes, offset, *at, table);
        }
        Ok(())
    }

    /// Ranges to write, sorted and disjoint.
    pub(super) fn ranges_to_write(&self) -> Result<Vec<ByteRange>> {
        let l = &self.layout;
        let start = l.partition_start * SECTOR;
        let fat = start + l.reserved_sectors * SECTOR;
        let data = l.data_start * SECTOR;
        let cluster = l.cluster_sectors * SECTOR;
        let mut ranges = vec![
            ByteRange { start: 0, end: start.min(CLEARED_BYTES).max(self.head.len() as u64) },
            ByteRange { start, end: start + CLEARED_BYTES },
            ByteRange { start: fat, end: fat + l.fats * l.fat_sectors * SECTOR },
            ByteRange { start: data - l.root_sectors * SECTOR, end: data },
            ByteRange { start: self.bytes().saturating_sub(CLEARED_BYTES), end: self.bytes() },
        ];
        let mut used = data + cluster;
        for extent in data_ranges(&self.partition, l.partition_sectors * SECTOR).map_err(Failure::io)? {
            let (from, to) = (start + extent.start, start + extent.end);
            // The rest of a partly written cluster must be zero, for example that of the root directory.
            used = used.max(data + to.saturating_sub(data).next_multiple_of(cluster));
            ranges.push(ByteRange { start: from, end: to });
        }
        ranges.push(ByteRange { start: data, end: used });
        let mut all = ByteRanges::default();
        let ranges = ranges.into_iter().map(|range| (range.start, range.end.min(self.bytes())));
        for (start, end) in ranges.filter(|(start, end)| start < end) {
            all.add(start, end);
        }
        Ok(all.iter().map(|(start, end)| ByteRange { start, end }).collect())
    }
}

/// Part of a buffer at `offset` that a range of the card covers, and the offset within that range.
fn buffer_overlap(offset: u64, len: usize, range: ByteRange) -> Option<(std::ops::Range<usize>, u64)> {
    let (start, end) = (offset.max(range.start), (offset + len as u64).min(range.end));
    (start < end).then(|| ((start - offset) as usize..(end - offset) as usize, start - range.start))
}

fn copy_overlap(bytes: &mut [u8], offset: u64, at: u64, table: &[u8]) {
    let range = ByteRange { start: at, end: at + table.len() as u64 };
    if let Some((into, from)) = buffer_overlap(offset, bytes.len(), range) {
        let from = from as usize;
        let len = into.len();
        bytes[into].copy_from_slice(&table[from..from + len]);
    }
}

/// Version 4 GUID, derived from the seed.
fn random_guid(seed: u64, which: u64) -> [u8; 16] {
    let mut bytes = [0u8; 16];
    let stream = cardscope_engine::content::IoContent::Stream { seed };
    cardscope_engine::content::fill_content(stream, which * SECTOR, &mut bytes);
    bytes[7] = bytes[7] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    bytes
}
