//! Partition and file system as the SD Association's formatter lays them out, by the capacity alone.
//!
//! Only on this layout do the speed classes hold: the data area begins on a boundary of the card's allocation units,
//! so that no file shares a unit with the FAT (Physical Layer Specification 4.13.1.8.3). The rules come from free
//! formatters and from 21 cards as they left the factory; the exact sources stand in [`table`].

pub mod boot;
pub mod exfat;
mod fat;
pub mod gpt;
pub mod mbr;
pub mod table;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::fmt;
use table::Geometry;

/// Bytes of a sector: every card and every field of these formats counts in 512.
pub const SECTOR: u64 = 512;

/// The smallest card that gets a layout: 1 MiB, in sectors.
pub const SMALLEST_SECTORS: u64 = 2048;
/// The largest that SDUC allows for: 128 TiB, in sectors.
pub const LARGEST_SECTORS: u64 = 1 << 38;

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
pub enum Scheme {
    /// Master boot record.
    #[default]
    Mbr,
    /// GUID partition table, above 2 TiB.
    Gpt,
}

/// What is asked of a layout beside the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// A boundary unit in bytes instead of the capacity's own: a measured allocation unit, say.
    pub boundary: Option<u64>,
    /// Whether the end is cut down to a whole number of cylinders ("format size adjustment").
    pub size_adjustment: bool,
}

/// A layout. Sectors of 512 bytes, counted from the card's start where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Layout {
    /// Sectors of the card, or of the part of it that is laid out.
    pub total_sectors: u64,
    /// Kind of the partition table.
    pub scheme: Scheme,
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
    pub geometry: Geometry,
}

impl Layout {
    /// First sector behind the partition.
    #[must_use]
    pub fn partition_end(&self) -> u64 {
        self.partition_start + self.partition_sectors
    }

    /// What the boot sector must say.
    #[must_use]
    pub fn volume(&self) -> boot::Volume {
        boot::Volume {
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
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.clusters * self.cluster_sectors * SECTOR
    }
}

/// Why there is no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Below 1 MiB.
    #[error("{} bytes are too few for a file system: a card has at least 1 MiB", sectors * SECTOR)]
    TooSmall {
        /// Sectors there are.
        sectors: u64,
    },
    /// Above 128 TiB.
    #[error("{} bytes are more than any card may have (128 TiB, SDUC)", u128::from(*sectors) * u128::from(SECTOR))]
    TooLarge {
        /// Sectors there are.
        sectors: u64,
    },
    /// Not a multiple of 8 KiB, none at all, or too large for the card.
    #[error(
        "a boundary of {bytes} bytes is none for this card: it must be a multiple of {step} bytes and at most a quarter of the card"
    )]
    Boundary {
        /// As wished.
        bytes: u64,
        /// What it must be a multiple of.
        step: u64,
    },
}

/// Lays a card of `total_sectors` out.
///
/// # Errors
/// If it is smaller than 1 MiB, larger than 128 TiB, or the boundary that is wished for does not fit it.
pub fn plan(total_sectors: u64, wish: Wish) -> Result<Layout, LayoutError> {
    if total_sectors < SMALLEST_SECTORS {
        return Err(LayoutError::TooSmall { sectors: total_sectors });
    }
    if total_sectors > LARGEST_SECTORS {
        return Err(LayoutError::TooLarge { sectors: total_sectors });
    }
    let row = table::row(total_sectors);
    let boundary = boundary(total_sectors, &row, wish)?;
    let geometry = table::geometry(total_sectors);
    let scheme = if total_sectors > table::MOST_MBR_SECTORS { Scheme::Gpt } else { Scheme::Mbr };
    let end = end(total_sectors, scheme, geometry, wish.size_adjustment);
    let frame = Frame { total_sectors, end, boundary, row, scheme, geometry };
    Ok(match row.file_system {
        FileSystem::Fat12 | FileSystem::Fat16 => fat::small(&frame),
        FileSystem::Fat32 => fat::fat32(&frame),
        FileSystem::Exfat => exfat::exfat(&frame),
    })
}

/// What the layouts of all file systems begin with.
#[derive(Debug, Clone, Copy)]
struct Frame {
    total_sectors: u64,
    /// First sector that the partition may not use.
    end: u64,
    boundary: u64,
    row: table::Row,
    scheme: Scheme,
    geometry: Geometry,
}

fn boundary(total: u64, row: &table::Row, wish: Wish) -> Result<u64, LayoutError> {
    let Some(bytes) = wish.boundary else { return Ok(row.boundary) };
    // Where clusters are larger than the step, a boundary between them would cut one.
    let step = row.cluster.max(16);
    let sectors = bytes / SECTOR;
    let fits = bytes > 0 && bytes.is_multiple_of(step * SECTOR) && sectors <= total / 4;
    fits.then_some(sectors).ok_or(LayoutError::Boundary { bytes, step: step * SECTOR })
}

/// Where the partition must end: before the second GPT, and on a cylinder if that is wished.
fn end(total: u64, scheme: Scheme, geometry: Geometry, adjusted: bool) -> u64 {
    let end = match scheme {
        Scheme::Mbr => total,
        Scheme::Gpt => total - gpt::SECOND_SECTORS,
    };
    let cylinder = geometry.cylinder();
    if adjusted { end - end % cylinder } else { end }
}

/// The least multiple of `unit` that leaves at least `room` after `used` was taken off it.
fn start_before(unit: u64, used: u64, room: u64) -> u64 {
    (used + room).next_multiple_of(unit) - used
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
