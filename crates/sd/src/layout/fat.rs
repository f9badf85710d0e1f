//! FAT12, FAT16, FAT32 and exFAT layouts.
//!
//! The length of a FAT depends on the number of clusters, which depends on the start of the data area, which depends on
//! the FAT. Formatters solve this by trial; this module tries in the same order, to match them to the sector.

use super::table::{BIG_FAT16_SECTORS, FatPlacement, LayoutFrame, MOST_CHS_SECTORS, aligned_start, gcd};
use super::types::{CardLayout, FileSystem};

const FATS: u64 = 2;
/// Root directory of 512 entries of 32 bytes.
const ROOT_SECTORS: u64 = 32;
/// Reserved sectors of FAT12 and FAT16: the boot sector.
const SMALL_RESERVED: u64 = 1;
/// Least reserved sectors of FAT32: boot sector, information sector, and their copies from sector 6 on.
const FAT32_RESERVED: u64 = 9;
/// Largest rounding step of FAT32, even for larger boundaries: the boundary unit of SDHC cards, 4 MiB.
const FAT32_STEP: u64 = 8192;
/// Largest cluster count of a FAT12; the count alone determines the FAT type (Microsoft's FAT specification).
const MOST_FAT12: u64 = 4084;
const MOST_FAT16: u64 = 65_524;

fn fat_sectors(clusters: u64, bits: u64) -> u64 {
    ((clusters + 2) * bits).div_ceil(8 * 512)
}

/// Lays out FAT12 and FAT16. The sectors before the data do not fill whole boundary units, so the partition starts
/// off the boundary, such that the data begins on it.
pub(super) fn plan_small_fat(frame: &LayoutFrame) -> CardLayout {
    let (file_system, bits) = match frame.row.file_system {
        FileSystem::Fat12 => (FileSystem::Fat12, 12),
        _ => (FileSystem::Fat16, 16),
    };
    let most = if bits == 12 { MOST_FAT12 } else { MOST_FAT16 };
    let mut cluster = frame.row.cluster;
    let mut placement = fit_small_fat(frame, cluster, bits);
    // Capacities at the upper end of a row, which no real card has, would have one cluster too many.
    while placement.clusters > most {
        cluster *= 2;
        placement = fit_small_fat(frame, cluster, bits);
    }
    // A large boundary may leave a FAT16 with so few clusters that readers would take it for a FAT12.
    while bits == 16 && placement.clusters <= MOST_FAT12 && cluster > 1 {
        cluster /= 2;
        placement = fit_small_fat(frame, cluster, bits);
    }
    let sectors = frame.end - placement.start;
    let partition_type = match file_system {
        FileSystem::Fat12 => 0x01,
        _ if sectors < BIG_FAT16_SECTORS => 0x04,
        _ => 0x06,
    };
    frame.layout(file_system, partition_type, cluster, placement)
}

fn fit_small_fat(frame: &LayoutFrame, cluster: u64, bits: u64) -> FatPlacement {
    let mut fat = (frame.end / cluster * bits).div_ceil(8 * 512);
    loop {
        let used = SMALL_RESERVED + FATS * fat + ROOT_SECTORS;
        let odd = used % frame.boundary;
        let mut start = if odd == 0 { frame.boundary } else { 2 * frame.boundary - odd };
        let clusters = |start: u64| (frame.end - start - used) / cluster;
        // A later start leaves fewer clusters, which need a shorter FAT.
        while fat_sectors(clusters(start), bits) > fat {
            start += frame.boundary;
        }
        if fat_sectors(clusters(start), bits) == fat {
            let (reserved, root) = (SMALL_RESERVED, ROOT_SECTORS);
            return FatPlacement { start, reserved, fats: FATS, fat, root, clusters: clusters(start) };
        }
        // A FAT with spare sectors would differ from the formatter's, so the next shorter one is tried.
        fat -= 1;
    }
}

/// Lays out FAT32. The reserved sectors pad the FATs to the boundary, and the partition starts on the boundary.
pub(super) fn plan_fat32(frame: &LayoutFrame) -> CardLayout {
    let mut cluster = frame.row.cluster;
    let mut placement = fit_fat32(frame, cluster);
    // Just above 2 GiB, where no real card is, clusters of 32 KiB would be so few that readers would take it for a
    // FAT16.
    while placement.clusters <= MOST_FAT16 && cluster > 1 {
        cluster /= 2;
        placement = fit_fat32(frame, cluster);
    }
    let partition_type = if frame.total_sectors <= MOST_CHS_SECTORS { 0x0b } else { 0x0c };
    frame.layout(FileSystem::Fat32, partition_type, cluster, placement)
}

fn fit_fat32(frame: &LayoutFrame, cluster: u64) -> FatPlacement {
    // The count of reserved sectors has 16 bits, so a larger boundary is padded before the partition instead.
    let step = if frame.boundary <= FAT32_STEP { frame.boundary } else { gcd(frame.boundary, FAT32_STEP) };
    let mut fat = (frame.end.div_ceil(cluster) * 4).div_ceil(512);
    let mut reserved = reserved_sectors(fat, step);
    loop {
        let used = reserved + FATS * fat;
        let start = aligned_start(frame.boundary, used, step);
        let clusters = (frame.end - start - used) / cluster;
        match fat_sectors(clusters, 32) {
            needed if needed == fat => {
                return FatPlacement { start, reserved, fats: FATS, fat, root: 0, clusters };
            }
            needed if needed > fat => reserved += step,
            _ => {
                fat -= 1;
                reserved = reserved_sectors(fat, step);
            }
        }
    }
}

fn reserved_sectors(fat: u64, step: u64) -> u64 {
    let reserved = step - FATS * fat % step;
    if reserved < FAT32_RESERVED { reserved + step } else { reserved }
}

/// Sectors before the partition at least: 1 MiB, room for a partition table.
const EXFAT_MIN_START: u64 = 2048;

/// Lays out exFAT: half a boundary unit before the FAT, half for the FAT, then the clusters.
pub(super) fn plan_exfat(frame: &LayoutFrame) -> CardLayout {
    let LayoutFrame { boundary, end, row, .. } = *frame;
    // The clusters of the whole card are an upper bound, since the start of the data is not determined yet.
    let needed = ((end / row.cluster + 2) * 4).div_ceil(512);
    let half = boundary / 2;
    // mkfs.exfat aligns to powers of two only. With another boundary (12 or 24 MiB) or one too small for the FAT, the
    // start of the partition is chosen so that the clusters begin on the boundary, as with FAT16.
    let plain = boundary.is_power_of_two() && needed <= half;
    let align = if plain { half } else { needed.next_power_of_two() };
    let start = if plain { boundary } else { aligned_start(boundary, 2 * align, EXFAT_MIN_START) };
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
