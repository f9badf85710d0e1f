//! The map over the address axis that a full pass leaves: how fast each part of the card was, and what was lost there.
//!
//! The cells follow from the card's size alone, so that maps of two dates can be laid side by side.

use serde::{Deserialize, Serialize};

/// Unit in which cells are counted: allocation units of 4 MiB and more are multiples of it
/// (docs/reference/sd.md#allocation-units).
const UNIT: u64 = 4 << 20;

/// Cells of cards that are too small for cells of whole allocation units.
const SMALL_UNIT: u64 = 1 << 20;

/// More cells than this say no more to anybody.
const MOST_CELLS: u64 = 1000;

/// Bytes of a cell on a card of so many bytes: 4 MiB or a multiple, 500 to 1000 of them, on cards below 4 GB 1 MiB or a
/// multiple.
pub fn cell_bytes(card_bytes: u64) -> u64 {
    let unit = if card_bytes >= MOST_CELLS * UNIT { UNIT } else { SMALL_UNIT };
    card_bytes.div_ceil(MOST_CELLS).next_multiple_of(unit).max(unit)
}

/// One part of the card. What was not measured is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MapCell {
    /// First byte.
    pub start: u64,
    /// Bytes; the last cell is shorter.
    pub bytes: u64,
    /// Speed of writing in MB/s.
    pub write_mb_s: Option<f64>,
    /// Speed of reading in MB/s.
    pub read_mb_s: Option<f64>,
    /// The slowest second of writing that ended here, in MB/s.
    pub write_slowest_mb_s: Option<f64>,
    /// The same of reading.
    pub read_slowest_mb_s: Option<f64>,
    /// Bytes that did not hold what was written.
    pub bad_bytes: u64,
    /// I/Os that failed.
    pub errors: u64,
}

/// The slowest second of all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    /// MB/s in it.
    pub mb_s: f64,
    /// Byte address that was reached at its end.
    pub address: u64,
}

/// What one direction comes to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapSpeed {
    /// The slowest cell, in MB/s.
    pub min_mb_s: f64,
    /// All bytes over all time, in MB/s.
    pub mean_mb_s: f64,
    /// The fastest cell, in MB/s.
    pub max_mb_s: f64,
    /// The slowest second, where it took at least one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowest_second: Option<SlowestSecond>,
}

/// The map.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedMap {
    /// Bytes of a cell.
    pub cell_bytes: u64,
    /// By address.
    pub cells: Vec<MapCell>,
    /// Writing as a whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub write: Option<MapSpeed>,
    /// Reading as a whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read: Option<MapSpeed>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_whole_allocation_units_and_at_most_a_thousand() {
        for card in [1u64 << 20, 64 << 20, 3_999_000_000, 16_012_804_096, 63_864_569_856, 1_024_000_000_000] {
            let cell = cell_bytes(card);
            let count = card.div_ceil(cell);
            assert!(count <= 1000, "{count} cells on {card}");
            let in_units = cell.is_multiple_of(4 << 20) && count >= 450;
            assert!(card < 4_194_304_000 || in_units, "{cell} on {card}");
            assert!(cell.is_multiple_of(1 << 20), "{cell} on {card}");
        }
        assert_eq!(cell_bytes(16_012_804_096), 16 << 20);
    }
}
