//! exFAT: half a boundary unit before the FAT, half for the FAT, then the clusters.

use super::table::{LayoutFrame, start_before};
use super::types::{CardLayout, FileSystem};

/// 1 MiB: room for a partition table before the partition, whatever the boundary.
const LEAST_START: u64 = 2048;

pub(super) fn exfat(frame: &LayoutFrame) -> CardLayout {
    let LayoutFrame { boundary, end, row, .. } = *frame;
    // An upper bound: the clusters of the whole card.
    let needed = ((end / row.cluster + 2) * 4).div_ceil(512);
    let half = boundary / 2;
    // mkfs.exfat aligns to powers of two only. With another boundary (12 or 24 MiB) or one too small for the FAT, the
    // partition begins where the clusters come to lie on the boundary, as it does with FAT16.
    let plain = boundary.is_power_of_two() && needed <= half;
    let align = if plain { half } else { needed.next_power_of_two() };
    let start = if plain { boundary } else { start_before(boundary, 2 * align, LEAST_START) };
    let data_start = start + 2 * align;
    CardLayout {
        total_sectors: frame.total_sectors,
        scheme: frame.scheme,
        file_system: FileSystem::Exfat,
        partition_type: 0x07,
        boundary_sectors: boundary,
        partition_start: start,
        partition_sectors: end - start,
        reserved_sectors: align,
        fat_sectors: align,
        fats: 1,
        root_sectors: 0,
        data_start,
        cluster_sectors: row.cluster,
        clusters: (end - data_start) / row.cluster,
        geometry: frame.geometry,
    }
}

/// Sectors of the boot region: boot sector, extensions, parameters, check sums.
pub const BOOT_SECTORS: usize = 12;
const SECTOR_BYTES: usize = 512;

/// Writes into a boot region what mkfs.exfat leaves otherwise than the SD Association's formatter: where the partition
/// begins on the card, and the whole length that the FAT may take. The region's check sums follow.
///
/// Fields and check sum: Microsoft's exFAT specification, sections 3.1 and 3.4.
///
/// Returns false, with nothing changed, where `region` is no boot region of twelve sectors.
#[must_use]
pub fn amend(region: &mut [u8], layout: &CardLayout) -> bool {
    if region.len() != BOOT_SECTORS * SECTOR_BYTES || &region[3..11] != b"EXFAT   " {
        return false;
    }
    let Ok(fat_sectors) = u32::try_from(layout.fat_sectors) else { return false };
    region[64..72].copy_from_slice(&layout.partition_start.to_le_bytes());
    region[84..88].copy_from_slice(&fat_sectors.to_le_bytes());
    let (covered, sums) = region.split_at_mut((BOOT_SECTORS - 1) * SECTOR_BYTES);
    let sum = check_sum(covered).to_le_bytes();
    sums.chunks_exact_mut(4).for_each(|place| place.copy_from_slice(&sum));
    true
}

/// Over all but the flags and the share in use, which change while the volume is.
fn check_sum(bytes: &[u8]) -> u32 {
    let counted = bytes.iter().enumerate().filter(|(at, _)| ![106, 107, 112].contains(at));
    counted.fold(0u32, |sum, (_, byte)| sum.rotate_right(1).wrapping_add(u32::from(*byte)))
}
