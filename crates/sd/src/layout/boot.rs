//! Boot sectors and superblocks: file system, cluster size and start of the data area.
//!
//! FAT: Microsoft's "FAT: General Overview of On-Disk Format". exFAT: Microsoft's published specification, section 3.
//! NTFS and ext4: the kernel's `fs/ntfs3/ntfs.h` and `fs/ext4/ext4.h`. Implausible values give no volume, never a
//! panic.

use serde::{Deserialize, Serialize};

/// Volume as its boot sector or superblock describes it. Offsets count from the start of the partition, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootVolume {
    /// `fat12`, `fat16`, `fat32`, `exfat`, `ntfs` or `ext4`.
    pub file_system: String,
    pub cluster_bytes: u64,
    /// Start of the clusters or blocks for files.
    pub data_offset: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fat_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fat_bytes: Option<u64>,
    /// Number of clusters for files, if the boot sector implies it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clusters: Option<u64>,
    /// Start of the partition according to the boot sector, in its own sectors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden_sectors: Option<u64>,
    pub volume_bytes: u64,
}

/// Bytes that [`parse_volume`] needs from the start of a partition.
pub const BOOT_BYTES: usize = 2048;

/// Parses the first [`BOOT_BYTES`] bytes of a partition, or returns None if they hold no supported file system.
pub fn parse_volume(head: &[u8]) -> Option<BootVolume> {
    if head.len() < 512 {
        return None;
    }
    // FAT comes last, because NTFS has a BIOS parameter block too.
    parse_exfat(head).or_else(|| parse_ntfs(head)).or_else(|| parse_ext4(head)).or_else(|| parse_fat(head))
}

fn little_endian(bytes: &[u8], at: usize, len: usize) -> u64 {
    let field = bytes.get(at..at + len).unwrap_or_default();
    field.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn parse_exfat(head: &[u8]) -> Option<BootVolume> {
    if &head[3..11] != b"EXFAT   " {
        return None;
    }
    let shift = u32::from(head[108]);
    let cluster_shift = shift + u32::from(head[109]);
    if !(9..=12).contains(&shift) || cluster_shift > 25 {
        return None;
    }
    let bytes = |sectors: u64| sectors.checked_mul(1 << shift);
    Some(BootVolume {
        file_system: "exfat".to_owned(),
        cluster_bytes: 1 << cluster_shift,
        data_offset: bytes(little_endian(head, 88, 4))?,
        fat_offset: bytes(little_endian(head, 80, 4)),
        fat_bytes: bytes(little_endian(head, 84, 4)),
        clusters: Some(little_endian(head, 92, 4)),
        hidden_sectors: Some(little_endian(head, 64, 8)),
        volume_bytes: bytes(little_endian(head, 72, 8))?,
    })
}

/// Returns bytes per sector and sectors per cluster of a BIOS parameter block, if both are plausible.
fn bpb_units(head: &[u8]) -> Option<(u64, u64)> {
    let (sector, per_cluster) = (little_endian(head, 11, 2), little_endian(head, 13, 1));
    let valid = sector.is_power_of_two() && (512..=4096).contains(&sector) && per_cluster.is_power_of_two();
    valid.then_some((sector, per_cluster))
}

fn parse_fat(head: &[u8]) -> Option<BootVolume> {
    let (sector, per_cluster) = bpb_units(head)?;
    let field = |at, len| little_endian(head, at, len);
    let (reserved, fats, root) = (field(14, 2), field(16, 1), field(17, 2));
    let either = |short: usize, long: usize| match field(short, 2) {
        0 => field(long, 4),
        n => n,
    };
    let (total, fat_sectors) = (either(19, 32), either(22, 36));
    let first = reserved + fats * fat_sectors + (root * 32).div_ceil(sector);
    let valid = head[510..512] == [0x55, 0xaa] && reserved > 0 && (1..=2).contains(&fats) && fat_sectors > 0;
    if !valid || total <= first {
        return None;
    }
    let clusters = (total - first) / per_cluster;
    // Only the number of clusters distinguishes the FAT types; the name in the boot sector is not reliable.
    let file_system = match clusters {
        0..=4084 => "fat12",
        4085..=65_524 => "fat16",
        _ => "fat32",
    };
    Some(BootVolume {
        file_system: file_system.to_owned(),
        cluster_bytes: sector * per_cluster,
        data_offset: first * sector,
        fat_offset: Some(reserved * sector),
        fat_bytes: Some(fat_sectors * sector),
        clusters: Some(clusters),
        hidden_sectors: Some(little_endian(head, 28, 4)),
        volume_bytes: total * sector,
    })
}

/// The data offset is 0, because NTFS numbers its clusters from the start of the partition.
fn parse_ntfs(head: &[u8]) -> Option<BootVolume> {
    if &head[3..11] != b"NTFS    " {
        return None;
    }
    let (sector, per_cluster) = bpb_units(head)?;
    Some(BootVolume {
        file_system: "ntfs".to_owned(),
        cluster_bytes: sector * per_cluster,
        hidden_sectors: Some(little_endian(head, 28, 4)),
        volume_bytes: little_endian(head, 40, 8).checked_mul(sector)?,
        ..BootVolume::default()
    })
}

/// The data offset is 0, because ext4 numbers its blocks from the start of the partition.
fn parse_ext4(head: &[u8]) -> Option<BootVolume> {
    let block = head.get(1024..)?;
    if little_endian(block, 56, 2) != 0xef53 || little_endian(block, 24, 4) > 6 {
        return None;
    }
    let cluster_bytes = 1024u64 << little_endian(block, 24, 4);
    let blocks = little_endian(block, 4, 4) | little_endian(block, 336, 4) << 32;
    Some(BootVolume {
        file_system: "ext4".to_owned(),
        cluster_bytes,
        volume_bytes: blocks.checked_mul(cluster_bytes)?,
        ..BootVolume::default()
    })
}
