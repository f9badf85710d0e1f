//! Boot sectors: where a volume's files begin, counted from the start of its partition.
//!
//! FAT: Microsoft's "FAT: General Overview of On-Disk Format". exFAT: Microsoft's published specification, section 3.
//! NTFS and ext4: the kernel's `fs/ntfs3/ntfs.h` and `fs/ext4/ext4.h`. Tolerant of garbage: what makes no sense is no
//! volume.

use serde::{Deserialize, Serialize};

/// What a boot sector or superblock says. Bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootVolume {
    /// `fat12`, `fat16`, `fat32`, `exfat`, `ntfs` or `ext4`.
    pub file_system: String,
    /// Bytes of a cluster or block.
    pub cluster_bytes: u64,
    /// Where the clusters or blocks for files begin, from the partition's start.
    pub data_offset: u64,
    /// Where the first FAT begins, from the partition's start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fat_offset: Option<u64>,
    /// Bytes of one FAT.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fat_bytes: Option<u64>,
    /// Clusters for files, where the boot sector says or implies it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clusters: Option<u64>,
    /// Where the volume believes its partition begins, in its own sectors.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden_sectors: Option<u64>,
    /// Bytes of the volume as it says itself.
    pub volume_bytes: u64,
}

/// How much of a partition's start [`read`] wants to see.
pub const HEAD: usize = 2048;

/// Reads the first [`HEAD`] bytes of a partition.
pub fn read(head: &[u8]) -> Option<BootVolume> {
    if head.len() < 512 {
        return None;
    }
    exfat(head).or_else(|| ntfs(head)).or_else(|| ext4(head)).or_else(|| fat(head))
}

/// A little-endian number of up to eight bytes; 0 past the end.
fn le(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes
        .get(at..at + len)
        .map_or(0, |part| part.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn exfat(head: &[u8]) -> Option<BootVolume> {
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
        data_offset: bytes(le(head, 88, 4))?,
        fat_offset: bytes(le(head, 80, 4)),
        fat_bytes: bytes(le(head, 84, 4)),
        clusters: Some(le(head, 92, 4)),
        hidden_sectors: Some(le(head, 64, 8)),
        volume_bytes: bytes(le(head, 72, 8))?,
    })
}

/// Sector and cluster of a BIOS parameter block, where they can be such.
fn units(head: &[u8]) -> Option<(u64, u64)> {
    let (sector, per_cluster) = (le(head, 11, 2), le(head, 13, 1));
    let plausible =
        sector.is_power_of_two() && (512..=4096).contains(&sector) && per_cluster.is_power_of_two();
    plausible.then_some((sector, per_cluster))
}

fn fat(head: &[u8]) -> Option<BootVolume> {
    let (sector, per_cluster) = units(head)?;
    let (reserved, fats, root) = (le(head, 14, 2), le(head, 16, 1), le(head, 17, 2));
    let either = |short: usize, long: usize| match le(head, short, 2) {
        0 => le(head, long, 4),
        n => n,
    };
    let (total, fat_sectors) = (either(19, 32), either(22, 36));
    let first = reserved + fats * fat_sectors + (root * 32).div_ceil(sector);
    let plausible =
        head[510..512] == [0x55, 0xaa] && reserved > 0 && (1..=2).contains(&fats) && fat_sectors > 0;
    if !plausible || total <= first {
        return None;
    }
    let clusters = (total - first) / per_cluster;
    // The number of clusters alone tells the three apart, whatever the name in the boot sector says.
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
        hidden_sectors: Some(le(head, 28, 4)),
        volume_bytes: total * sector,
    })
}

/// NTFS numbers its clusters from the partition's start.
fn ntfs(head: &[u8]) -> Option<BootVolume> {
    if &head[3..11] != b"NTFS    " {
        return None;
    }
    let (sector, per_cluster) = units(head)?;
    Some(BootVolume {
        file_system: "ntfs".to_owned(),
        cluster_bytes: sector * per_cluster,
        hidden_sectors: Some(le(head, 28, 4)),
        volume_bytes: le(head, 40, 8).checked_mul(sector)?,
        ..BootVolume::default()
    })
}

/// ext4 numbers its blocks from the partition's start, and files lie in groups of them.
fn ext4(head: &[u8]) -> Option<BootVolume> {
    let block = head.get(1024..)?;
    if le(block, 56, 2) != 0xef53 || le(block, 24, 4) > 6 {
        return None;
    }
    let cluster_bytes = 1024u64 << le(block, 24, 4);
    let blocks = le(block, 4, 4) | le(block, 336, 4) << 32;
    Some(BootVolume {
        file_system: "ext4".to_owned(),
        cluster_bytes,
        volume_bytes: blocks.checked_mul(cluster_bytes)?,
        ..BootVolume::default()
    })
}
