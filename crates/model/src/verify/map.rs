//! Speed map of a full test: speed and losses over the address range.
//!
//! The cells depend only on the card's size, so that maps of different dates are comparable.

use serde::{Deserialize, Serialize};

/// Granularity of cells: allocation units of 4 MiB and more are multiples of it
/// (docs/reference/sd.md#allocation-units).
const CELL_UNIT: u64 = 4 << 20;

const SMALL_CELL_UNIT: u64 = 1 << 20;

/// Most cells of a map; more would not be legible.
const MAX_CELLS: u64 = 1000;

/// Returns the bytes of a cell, which give 500 to 1000 cells: a multiple of 4 MiB, or of 1 MiB on cards below 4 GB.
pub fn cell_bytes(card_bytes: u64) -> u64 {
    let unit = if card_bytes >= MAX_CELLS * CELL_UNIT { CELL_UNIT } else { SMALL_CELL_UNIT };
    card_bytes.div_ceil(MAX_CELLS).next_multiple_of(unit).max(unit)
}

/// Part of the card. Values that were not measured are None.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MapCell {
    pub start: u64,
    pub bytes: u64,
    pub write_mb_s: Option<f64>,
    pub read_mb_s: Option<f64>,
    pub write_slowest_mb_s: Option<f64>,
    pub read_slowest_mb_s: Option<f64>,
    pub bad_bytes: u64,
    pub errors: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    pub mb_s: f64,
    /// Byte address reached at its end.
    pub address: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapSpeed {
    pub min_mb_s: f64,
    pub mean_mb_s: f64,
    pub max_mb_s: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowest_second: Option<SlowestSecond>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedMap {
    pub cell_bytes: u64,
    pub cells: Vec<MapCell>,
    pub write: Option<MapSpeed>,
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
