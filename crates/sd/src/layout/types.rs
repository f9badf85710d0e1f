//! Types of a layout: file system, partition table, position of every part in sectors.

use super::boot;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of a sector. Cards and all these formats count in 512.
pub const SECTOR: u64 = 512;

/// File systems of cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileSystem {
    /// Up to 64 MiB.
    #[default]
    Fat12,
    /// Up to 2 GiB.
    Fat16,
    /// Up to 32 GiB: SDHC.
    Fat32,
    /// Above 32 GiB: SDXC and SDUC.
    Exfat,
}

impl fmt::Display for FileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileSystem::Fat12 => "FAT12",
            FileSystem::Fat16 => "FAT16",
            FileSystem::Fat32 => "FAT32",
            FileSystem::Exfat => "exFAT",
        })
    }
}

/// Kind of partition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionScheme {
    #[default]
    Mbr,
    /// GUID partition table, above 2 TiB.
    Gpt,
}

/// Heads and sectors per track of CHS addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChsGeometry {
    pub heads: u64,
    pub sectors_per_track: u64,
}

impl ChsGeometry {
    /// Sectors of a cylinder.
    pub fn cylinder(self) -> u64 {
        self.heads * self.sectors_per_track
    }
}

/// Layout of a card. Sectors of 512 bytes, counted from the start of the card unless noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CardLayout {
    /// Sectors of the card, or of the part of it that is laid out.
    pub total_sectors: u64,
    pub scheme: PartitionScheme,
    pub file_system: FileSystem,
    /// MBR type of the partition: 07h for exFAT, even if the card has a GPT.
    pub partition_type: u8,
    /// Unit whose multiple the data area begins on.
    pub boundary_sectors: u64,
    pub partition_start: u64,
    pub partition_sectors: u64,
    pub reserved_sectors: u64,
    pub fat_sectors: u64,
    pub fats: u64,
    /// Sectors of the fixed root directory of FAT12 and FAT16.
    pub root_sectors: u64,
    /// First sector of the clusters (exFAT: cluster heap).
    pub data_start: u64,
    pub cluster_sectors: u64,
    pub clusters: u64,
    pub geometry: ChsGeometry,
}

impl CardLayout {
    /// Returns the first sector after the partition.
    pub fn partition_end(&self) -> u64 {
        self.partition_start + self.partition_sectors
    }

    /// Returns the volume that a correct boot sector describes.
    pub fn volume(&self) -> boot::BootVolume {
        boot::BootVolume {
            file_system: self.file_system.to_string().to_lowercase(),
            cluster_bytes: self.cluster_sectors * SECTOR,
            data_offset: (self.data_start - self.partition_start) * SECTOR,
            fat_offset: Some(self.reserved_sectors * SECTOR),
            fat_bytes: Some(self.fat_sectors * SECTOR),
            clusters: Some(self.clusters),
            hidden_sectors: Some(self.partition_start),
            volume_bytes: self.partition_sectors * SECTOR,
        }
    }

    /// Bytes available to files.
    pub fn data_bytes(&self) -> u64 {
        self.clusters * self.cluster_sectors * SECTOR
    }
}
