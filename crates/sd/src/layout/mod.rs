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
mod types;

pub use types::{CardLayout, ChsGeometry, FileSystem, PartitionScheme, SECTOR};

use table::LayoutFrame;

/// The smallest card that gets a layout: 1 MiB, in sectors.
pub const SMALLEST_SECTORS: u64 = 2048;
/// The largest that SDUC allows for: 128 TiB, in sectors.
pub const LARGEST_SECTORS: u64 = 1 << 38;

/// What is asked of a layout beside the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayoutOptions {
    /// A boundary unit in bytes instead of the capacity's own: a measured allocation unit, say.
    pub boundary: Option<u64>,
    /// Whether the end is cut down to a whole number of cylinders ("format size adjustment").
    pub size_adjustment: bool,
}

/// Why there is no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Below 1 MiB: so many sectors.
    #[error("{} bytes are too few for a file system: a card has at least 1 MiB", .0 * SECTOR)]
    TooSmall(u64),
    /// Above 128 TiB: so many sectors.
    #[error("{} bytes are more than any card may have (128 TiB, SDUC)", u128::from(*.0) * u128::from(SECTOR))]
    TooLarge(u64),
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
pub fn plan(total_sectors: u64, wish: LayoutOptions) -> Result<CardLayout, LayoutError> {
    match total_sectors {
        ..SMALLEST_SECTORS => return Err(LayoutError::TooSmall(total_sectors)),
        SMALLEST_SECTORS..=LARGEST_SECTORS => {}
        _ => return Err(LayoutError::TooLarge(total_sectors)),
    }
    let row = table::row(total_sectors);
    let boundary = boundary(total_sectors, &row, wish)?;
    let geometry = table::geometry(total_sectors);
    let scheme =
        if total_sectors > table::MOST_MBR_SECTORS { PartitionScheme::Gpt } else { PartitionScheme::Mbr };
    let end = end(total_sectors, scheme, geometry, wish.size_adjustment);
    let frame = LayoutFrame { total_sectors, end, boundary, row, scheme, geometry };
    Ok(match row.file_system {
        FileSystem::Fat12 | FileSystem::Fat16 => fat::small(&frame),
        FileSystem::Fat32 => fat::fat32(&frame),
        FileSystem::Exfat => exfat::exfat(&frame),
    })
}

fn boundary(total: u64, row: &table::LayoutRow, wish: LayoutOptions) -> Result<u64, LayoutError> {
    let Some(bytes) = wish.boundary else { return Ok(row.boundary) };
    // Where clusters are larger than the step, a boundary between them would cut one.
    let step = row.cluster.max(16);
    let sectors = bytes / SECTOR;
    let fits = bytes > 0 && bytes.is_multiple_of(step * SECTOR) && sectors <= total / 4;
    fits.then_some(sectors).ok_or(LayoutError::Boundary { bytes, step: step * SECTOR })
}

/// Where the partition must end: before the second GPT, and on a cylinder if that is wished.
fn end(total: u64, scheme: PartitionScheme, geometry: ChsGeometry, adjusted: bool) -> u64 {
    let end = match scheme {
        PartitionScheme::Mbr => total,
        PartitionScheme::Gpt => total - gpt::SECOND_SECTORS,
    };
    let cylinder = geometry.cylinder();
    if adjusted { end - end % cylinder } else { end }
}
