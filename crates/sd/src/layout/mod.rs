//! Partition and file system layout of the SD Association's formatter, determined by the capacity alone.
//!
//! The speed classes hold only on this layout: the data area begins on a boundary of the card's allocation units, so
//! that no file shares a unit with the FAT (Physical Layer Specification 4.13.1.8.3). The rules come from free
//! formatters and from 21 factory-formatted cards; [`table`] lists the sources.

pub mod boot;
pub mod fat;
pub mod partition_table;
pub mod table;
#[cfg(test)]
mod tests;
mod types;

pub use types::{CardLayout, ChsGeometry, FileSystem, PartitionScheme, SECTOR};

use table::LayoutFrame;

/// Smallest card that gets a layout: 1 MiB, in sectors.
pub const SMALLEST_SECTORS: u64 = 2048;
/// Largest card that SDUC allows: 128 TiB, in sectors.
pub const LARGEST_SECTORS: u64 = 1 << 38;

/// Options of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayoutOptions {
    /// Boundary unit in bytes, e.g. a measured allocation unit. None selects that of the capacity.
    pub boundary: Option<u64>,
    /// End the partition on a whole cylinder ("format size adjustment").
    pub size_adjustment: bool,
}

/// Reason that a card has no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Smaller than 1 MiB. Holds the sectors.
    #[error("{} bytes are too few for a file system: a card has at least 1 MiB", .0 * SECTOR)]
    TooSmall(u64),
    /// Larger than 128 TiB. Holds the sectors.
    #[error("{} bytes are more than any card may have (128 TiB, SDUC)", u128::from(*.0) * u128::from(SECTOR))]
    TooLarge(u64),
    /// Boundary of 0 bytes, not a multiple of `step`, or larger than a quarter of the card.
    #[error(
        "a boundary of {bytes} bytes is none for this card: it must be a multiple of {step} bytes and at most a quarter of the card"
    )]
    Boundary { bytes: u64, step: u64 },
}

/// Computes the layout of a card of `total_sectors`.
///
/// # Errors
/// If the card is smaller than 1 MiB or larger than 128 TiB, or the requested boundary does not fit it.
pub fn plan_layout(total_sectors: u64, wish: LayoutOptions) -> Result<CardLayout, LayoutError> {
    match total_sectors {
        ..SMALLEST_SECTORS => return Err(LayoutError::TooSmall(total_sectors)),
        SMALLEST_SECTORS..=LARGEST_SECTORS => {}
        _ => return Err(LayoutError::TooLarge(total_sectors)),
    }
    let row = table::find_row(total_sectors);
    let boundary = choose_boundary(total_sectors, &row, wish)?;
    let geometry = table::find_geometry(total_sectors);
    let large = total_sectors > table::MOST_MBR_SECTORS;
    let scheme = if large { PartitionScheme::Gpt } else { PartitionScheme::Mbr };
    let end = usable_end(total_sectors, scheme, geometry, wish.size_adjustment);
    let frame = LayoutFrame { total_sectors, end, boundary, row, scheme, geometry };
    Ok(match row.file_system {
        FileSystem::Fat12 | FileSystem::Fat16 => fat::plan_small_fat(&frame),
        FileSystem::Fat32 => fat::plan_fat32(&frame),
        FileSystem::Exfat => fat::plan_exfat(&frame),
    })
}

fn choose_boundary(total: u64, row: &table::LayoutRow, wish: LayoutOptions) -> Result<u64, LayoutError> {
    let Some(bytes) = wish.boundary else { return Ok(row.boundary) };
    // A boundary inside a cluster would split it, so large clusters raise the step.
    let step = row.cluster.max(16);
    let sectors = bytes / SECTOR;
    let fits = bytes > 0 && bytes.is_multiple_of(step * SECTOR) && sectors <= total / 4;
    fits.then_some(sectors).ok_or(LayoutError::Boundary { bytes, step: step * SECTOR })
}

/// Returns the first sector after the partition: before the backup GPT, and on a cylinder if `adjusted`.
fn usable_end(total: u64, scheme: PartitionScheme, geometry: ChsGeometry, adjusted: bool) -> u64 {
    let end = match scheme {
        PartitionScheme::Mbr => total,
        PartitionScheme::Gpt => total - partition_table::BACKUP_SECTORS,
    };
    let cylinder = geometry.cylinder();
    if adjusted { end - end % cylinder } else { end }
}
