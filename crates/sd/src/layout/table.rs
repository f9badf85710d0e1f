//! Tables of the SD Association's layout, by capacity.
//!
//! Boundary units, clusters and cylinders up to 2 TiB: two free formatters agree on them (`profi200/sdFormatLinux`,
//! `greiman/SdFat`), and 21 factory-formatted cards confirm them. Above 2 TiB only two cluster sizes are public (8 MB
//! at 32 TB, Physical Layer Specification 8.4.2.1.2; 32 MiB at 128 TB, SDUC Host Implementation Guideline 3.3), that
//! is one doubling for each doubling of the capacity. The boundary unit there is not public; the largest allocation
//! unit that a card can report, 64 MiB, is used.

use super::types::{CardLayout, ChsGeometry, FileSystem, PartitionScheme};

/// Layout parameters of a range of capacities, in sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutRow {
    pub up_to: u64,
    pub file_system: FileSystem,
    pub cluster: u64,
    /// Unit whose multiple the data area begins on.
    pub boundary: u64,
}

const fn define_row(up_to_mib: u64, file_system: FileSystem, cluster: u64, boundary: u64) -> LayoutRow {
    LayoutRow { up_to: up_to_mib << 11, file_system, cluster, boundary }
}

/// Rows up to 2 TiB, smallest first.
pub const ROWS: &[LayoutRow] = &[
    define_row(8, FileSystem::Fat12, 16, 16),
    define_row(64, FileSystem::Fat12, 32, 32),
    define_row(256, FileSystem::Fat16, 32, 64),
    define_row(1 << 10, FileSystem::Fat16, 32, 128),
    define_row(2 << 10, FileSystem::Fat16, 64, 128),
    define_row(32 << 10, FileSystem::Fat32, 64, 8192),
    define_row(128 << 10, FileSystem::Exfat, 256, 32_768),
    define_row(512 << 10, FileSystem::Exfat, 512, 65_536),
    define_row(2 << 20, FileSystem::Exfat, 1024, 131_072),
];

/// Largest card with an MBR, which has 32 bits for sectors; larger cards get a GPT.
pub const MOST_MBR_SECTORS: u64 = 1 << 32;
/// Largest card whose FAT32 has the type 0Bh (CHS); larger ones have 0Ch (LBA).
pub const MOST_CHS_SECTORS: u64 = 16_450_560;
/// Smallest FAT16 with the type 06h.
pub const BIG_FAT16_SECTORS: u64 = 65_536;
/// Most clusters of an SDUC card. The cluster size grows with the capacity.
const SDUC_CLUSTERS: u64 = 4 << 20;

fn sduc_row(sectors: u64) -> LayoutRow {
    let cluster = sectors.div_ceil(SDUC_CLUSTERS).next_power_of_two();
    LayoutRow { up_to: cluster * SDUC_CLUSTERS, file_system: FileSystem::Exfat, cluster, boundary: 131_072 }
}

/// Returns the row of a capacity in sectors.
pub fn find_row(sectors: u64) -> LayoutRow {
    ROWS.iter().find(|row| sectors <= row.up_to).copied().unwrap_or_else(|| sduc_row(sectors))
}

/// Largest capacity in MiB, heads, sectors per track.
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

/// Returns the CHS geometry of a capacity in sectors.
pub fn find_geometry(sectors: u64) -> ChsGeometry {
    // Whole MiB count, so that a card with a few sectors more than 2016 MiB still uses that row.
    let mib = sectors >> 11;
    let (_, heads, sectors_per_track) =
        GEOMETRIES.iter().find(|(up_to, _, _)| mib <= *up_to).copied().unwrap_or((0, 255, 63));
    ChsGeometry { heads, sectors_per_track }
}

/// Parameters common to the layouts of all file systems.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayoutFrame {
    pub(super) total_sectors: u64,
    /// First sector after the space for the partition.
    pub(super) end: u64,
    pub(super) boundary: u64,
    pub(super) row: LayoutRow,
    pub(super) scheme: PartitionScheme,
    pub(super) geometry: ChsGeometry,
}

/// Position of the FATs and of the clusters behind them, in sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct FatPlacement {
    pub(super) start: u64,
    pub(super) reserved: u64,
    pub(super) fats: u64,
    pub(super) fat: u64,
    pub(super) root: u64,
    pub(super) clusters: u64,
}

impl LayoutFrame {
    pub(super) fn layout(
        &self,
        file_system: FileSystem,
        partition_type: u8,
        cluster_sectors: u64,
        at: FatPlacement,
    ) -> CardLayout {
        CardLayout {
            total_sectors: self.total_sectors,
            scheme: self.scheme,
            file_system,
            partition_type,
            boundary_sectors: self.boundary,
            partition_start: at.start,
            partition_sectors: self.end - at.start,
            reserved_sectors: at.reserved,
            fat_sectors: at.fat,
            fats: at.fats,
            root_sectors: at.root,
            data_start: at.start + at.reserved + at.fats * at.fat + at.root,
            cluster_sectors,
            clusters: at.clusters,
            geometry: self.geometry,
        }
    }
}

/// Returns the least multiple of `unit` minus `used` that leaves at least `room`.
pub(super) fn aligned_start(unit: u64, used: u64, room: u64) -> u64 {
    (used + room).next_multiple_of(unit) - used
}

pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
