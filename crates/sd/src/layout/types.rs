//! A layout as it is: where everything lies, in sectors.

use super::boot;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of a sector: every card and every field of these formats counts in 512.
pub const SECTOR: u64 = 512;

/// The file systems of cards.
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
    /// Above: SDXC and SDUC.
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

/// Kind of the partition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartitionScheme {
    /// Master boot record.
    #[default]
    Mbr,
    /// GUID partition table, above 2 TiB.
    Gpt,
}

/// Heads and sectors per track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ChsGeometry {
    /// Heads.
    pub heads: u64,
    /// Sectors per track.
    pub sectors_per_track: u64,
}

impl ChsGeometry {
    /// Sectors of a cylinder.
    pub fn cylinder(self) -> u64 {
        self.heads * self.sectors_per_track
    }
}

/// A layout. Sectors of 512 bytes, counted from the card's start where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CardLayout {
    /// Sectors of the card, or of the part of it that is laid out.
    pub total_sectors: u64,
    /// Kind of the partition table.
    pub scheme: PartitionScheme,
    /// File system of the one partition.
    pub file_system: FileSystem,
    /// MBR type of the partition; 07 for exFAT, also where a GPT says it in its own way.
    pub partition_type: u8,
    /// The data area begins on a multiple of this.
    pub boundary_sectors: u64,
    /// Where the partition begins: what the boot sector calls hidden sectors.
    pub partition_start: u64,
    /// Sectors of the partition.
    pub partition_sectors: u64,
    /// Sectors before the first FAT, counted from the partition's start (exFAT: FAT offset).
    pub reserved_sectors: u64,
    /// Sectors of one FAT (exFAT: FAT length).
    pub fat_sectors: u64,
    /// Copies of the FAT.
    pub fats: u64,
    /// Sectors of the fixed root directory of FAT12 and FAT16.
    pub root_sectors: u64,
    /// Where the clusters begin (exFAT: cluster heap).
    pub data_start: u64,
    /// Sectors of a cluster.
    pub cluster_sectors: u64,
    /// Number of clusters.
    pub clusters: u64,
    /// Heads and sectors per track of the cylinders that old hosts count in.
    pub geometry: ChsGeometry,
}

impl CardLayout {
    /// First sector behind the partition.
    pub fn partition_end(&self) -> u64 {
        self.partition_start + self.partition_sectors
    }

    /// What the boot sector must say.
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

    /// Bytes that files can take.
    pub fn data_bytes(&self) -> u64 {
        self.clusters * self.cluster_sectors * SECTOR
    }
}
