//! exFAT layout: half a boundary unit before the FAT, half for the FAT, then the clusters.

use super::table::{FatPlacement, LayoutFrame, aligned_start};
use super::types::{CardLayout, FileSystem};

/// Sectors before the partition at least: 1 MiB, room for a partition table.
const MIN_START: u64 = 2048;

pub(super) fn plan_exfat(frame: &LayoutFrame) -> CardLayout {
    let LayoutFrame { boundary, end, row, .. } = *frame;
    // The clusters of the whole card are an upper bound, since the start of the data is not determined yet.
    let needed = ((end / row.cluster + 2) * 4).div_ceil(512);
    let half = boundary / 2;
    // mkfs.exfat aligns to powers of two only. With another boundary (12 or 24 MiB) or one too small for the FAT, the
    // start of the partition is chosen so that the clusters begin on the boundary, as with FAT16.
    let plain = boundary.is_power_of_two() && needed <= half;
    let align = if plain { half } else { needed.next_power_of_two() };
    let start = if plain { boundary } else { aligned_start(boundary, 2 * align, MIN_START) };
    let clusters = (end - start - 2 * align) / row.cluster;
    let placement = FatPlacement { start, reserved: align, fats: 1, fat: align, root: 0, clusters };
    frame.layout(FileSystem::Exfat, 0x07, row.cluster, placement)
}

/// Sectors of the boot region: boot sector, extensions, parameters, checksums.
pub const BOOT_SECTORS: usize = 12;
const SECTOR_BYTES: usize = 512;

/// Rewrites the fields of a boot region that mkfs.exfat sets unlike the SD Association's formatter: the partition
/// offset and the FAT length. Updates the checksums of the region.
///
/// Fields and checksum: Microsoft's exFAT specification, sections 3.1 and 3.4.
///
/// Returns false and changes nothing if `region` is not a boot region of twelve sectors.
#[must_use]
pub fn fix_boot_region(region: &mut [u8], layout: &CardLayout) -> bool {
    if region.len() != BOOT_SECTORS * SECTOR_BYTES || &region[3..11] != b"EXFAT   " {
        return false;
    }
    let Ok(fat_sectors) = u32::try_from(layout.fat_sectors) else { return false };
    region[64..72].copy_from_slice(&layout.partition_start.to_le_bytes());
    region[84..88].copy_from_slice(&fat_sectors.to_le_bytes());
    let (covered, sums) = region.split_at_mut((BOOT_SECTORS - 1) * SECTOR_BYTES);
    let sum = boot_checksum(covered).to_le_bytes();
    sums.chunks_exact_mut(4).for_each(|place| place.copy_from_slice(&sum));
    true
}

/// Skips the flags and the percentage in use, which change while the volume is in use.
fn boot_checksum(bytes: &[u8]) -> u32 {
    let counted = bytes.iter().enumerate().filter(|(at, _)| ![106, 107, 112].contains(at));
    counted.fold(0u32, |sum, (_, byte)| sum.rotate_right(1).wrapping_add(u32::from(*byte)))
}
