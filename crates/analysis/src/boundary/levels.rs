//! The sizes that units of flash come in: powers of two, and three times that where a cell holds three bits.

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Above it a step is a segment of the mapping table and no erase block: the largest allocation unit that a card may
/// name is 64 MiB (SD Physical Layer, AU_SIZE), and 11 of 46 public runs have their largest rise at 1 to 2 GiB.
const LARGEST_UNIT: u64 = 64 * MIB;

/// Levels up to here tell of units of up to [`LARGEST_UNIT`].
const LARGEST_LEVEL: u64 = 3 * LARGEST_UNIT;

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidates {
    /// Effective pages in bytes.
    pub pages: Vec<u64>,
    /// Erase blocks in bytes.
    pub units: Vec<u64>,
}

impl Default for Candidates {
    fn default() -> Self {
        Candidates { pages: page_candidates(), units: unit_candidates() }
    }
}

/// True where each boundary of a level is one of a unit.
#[must_use]
pub fn divides(unit: u64, level: u64) -> bool {
    unit != 0 && level.is_multiple_of(unit)
}

/// 2^k and 3·2^k from `least` to `most`, ascending.
fn sizes(least: u64, most: u64) -> Vec<u64> {
    let powers = (0..60).flat_map(|k| [1u64 << k, 3u64 << k]);
    let mut all: Vec<u64> = powers.filter(|size| (least..=most).contains(size)).collect();
    all.sort_unstable();
    all
}

/// Effective pages that are looked for: 4 to 256 KiB.
#[must_use]
pub fn page_candidates() -> Vec<u64> {
    sizes(4 * KIB, 256 * KIB)
}

/// Erase blocks that are looked for: 0.5 to 64 MiB.
#[must_use]
pub fn unit_candidates() -> Vec<u64> {
    sizes(512 * KIB, LARGEST_UNIT)
}

/// Segments of the mapping table that are looked for on a card of so many bytes.
#[must_use]
pub fn segment_candidates(card_bytes: u64) -> Vec<u64> {
    sizes(4 * LARGEST_UNIT, card_bytes.saturating_sub(MIB))
}

/// Levels at which page and erase block show on a card of so many bytes: from four sectors up, and at least 2 KiB.
#[must_use]
pub fn levels(card_bytes: u64, sector: u64) -> Vec<u64> {
    sizes((4 * sector).max(2 * KIB), LARGEST_LEVEL.min(card_bytes.saturating_sub(MIB)))
}
