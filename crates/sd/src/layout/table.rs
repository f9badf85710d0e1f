//! The tables of the SD Association's layout, by capacity.
//!
//! Boundary units, clusters and cylinders up to 2 TiB: agreed by two free formatters (`profi200/sdFormatLinux`,
//! `greiman/SdFat`) and checked on 21 cards as they left the factory. Above 2 TiB: cluster sizes from the two that
//! are public (8 MB at 32 TB, Physical Layer Specification 8.4.2.1.2; 32 MiB at 128 TB, SDUC Host Implementation
//! Guideline 3.3), which is one doubling for each doubling of the capacity; the boundary unit there is not public,
//! and the largest allocation unit that a card can state, 64 MiB, is taken.

use super::types::{ChsGeometry, FileSystem, PartitionScheme};

/// What follows from a capacity. In sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutRow {
    /// Capacities up to this, in sectors.
    pub up_to: u64,
    /// The file system.
    pub file_system: FileSystem,
    /// Sectors of a cluster.
    pub cluster: u64,
    /// Boundary unit.
    pub boundary: u64,
}

const fn up_to(up_to_mib: u64, file_system: FileSystem, cluster: u64, boundary: u64) -> LayoutRow {
    LayoutRow { up_to: up_to_mib << 11, file_system, cluster, boundary }
}

/// By capacity, smallest first.
pub const ROWS: &[LayoutRow] = &[
    up_to(8, FileSystem::Fat12, 16, 16),
    up_to(64, FileSystem::Fat12, 32, 32),
    up_to(256, FileSystem::Fat16, 32, 64),
    up_to(1 << 10, FileSystem::Fat16, 32, 128),
    up_to(2 << 10, FileSystem::Fat16, 64, 128),
    up_to(32 << 10, FileSystem::Fat32, 64, 8192),
    up_to(128 << 10, FileSystem::Exfat, 256, 32_768),
    up_to(512 << 10, FileSystem::Exfat, 512, 65_536),
    up_to(2 << 20, FileSystem::Exfat, 1024, 131_072),
];

/// Above this an MBR, which counts in 32 bits, does not reach; SDUC cards have a GPT.
pub const MOST_MBR_SECTORS: u64 = 1 << 32;
/// Up to here FAT32 has the type 0B (CHS), above 0C (LBA).
pub const MOST_CHS_SECTORS: u64 = 16_450_560;
/// From here FAT16 has the type 06.
pub const BIG_FAT16_SECTORS: u64 = 65_536;
/// SDUC: so many clusters at most, so that a cluster grows with the capacity.
const SDUC_MOST_CLUSTERS: u64 = 4 << 20;

fn row_of_sduc(sectors: u64) -> LayoutRow {
    let cluster = sectors.div_ceil(SDUC_MOST_CLUSTERS).next_power_of_two();
    LayoutRow {
        up_to: cluster * SDUC_MOST_CLUSTERS,
        file_system: FileSystem::Exfat,
        cluster,
        boundary: 131_072,
    }
}

/// The row of a capacity in sectors.
pub fn row(sectors: u64) -> LayoutRow {
    ROWS.iter().find(|row| sectors <= row.up_to).copied().unwrap_or_else(|| row_of_sduc(sectors))
}

/// Up to so many MiB: heads, sectors per track.
const GEOMETRIES: &[(u64, u64, u64)] = &[
    (2, 2, 16),
    (16, 2, 32),
    (32, 4, 32),
    (128, 8, 32),
    (256, 16, 32),
    (504, 16, 63),
    (1008, 32, 63),
    (2016, 64, 63),
    (4032, 128, 63),
    (u64::MAX, 255, 63),
];

/// The geometry of a capacity in sectors.
pub fn geometry(sectors: u64) -> ChsGeometry {
    // Whole MiB count, so that a card with a few sectors more than 2016 MiB still has that row.
    let mib = sectors >> 11;
    let (_, heads, sectors_per_track) =
        GEOMETRIES.iter().find(|(up_to, _, _)| mib <= *up_to).copied().unwrap_or((0, 255, 63));
    ChsGeometry { heads, sectors_per_track }
}

/// What the layouts of all file systems begin with.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayoutFrame {
    pub(super) total_sectors: u64,
    /// First sector that the partition may not use.
    pub(super) end: u64,
    pub(super) boundary: u64,
    pub(super) row: LayoutRow,
    pub(super) scheme: PartitionScheme,
    pub(super) geometry: ChsGeometry,
}

/// The least multiple of `unit` that leaves at least `room` after `used` was taken off it.
pub(super) fn start_before(unit: u64, used: u64, room: u64) -> u64 {
    (used + room).next_multiple_of(unit) - used
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
