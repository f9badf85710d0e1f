//! The sizes that units of flash come in: powers of two, and three times that where a cell holds three bits. And
//! whether times come from two kinds of places: those never written answer without a read of the flash, 4 to 7 times
//! faster (docs/reference/flash.md#unmapped-areas).

use cardscope_model::statistics::sorted;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Above it a step is a segment of the mapping table and no erase block: the largest allocation unit that a card may
/// name is 64 MiB (SD Physical Layer, AU_SIZE), and 11 of 46 public runs have their largest rise at 1 to 2 GiB.
const LARGEST_UNIT: u64 = 64 * MIB;

/// Levels up to here tell of units of up to [`LARGEST_UNIT`].
const LARGEST_LEVEL: u64 = 3 * LARGEST_UNIT;

/// What is looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateUnits {
    /// Effective pages in bytes.
    pub pages: Vec<u64>,
    /// Erase blocks in bytes.
    pub units: Vec<u64>,
}

impl Default for CandidateUnits {
    fn default() -> Self {
        CandidateUnits { pages: page_candidates(), units: unit_candidates() }
    }
}

/// True where each boundary of a level is one of a unit.
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
pub fn page_candidates() -> Vec<u64> {
    sizes(4 * KIB, 256 * KIB)
}

/// Erase blocks that are looked for: 0.5 to 64 MiB.
pub fn unit_candidates() -> Vec<u64> {
    sizes(512 * KIB, LARGEST_UNIT)
}

/// Segments of the mapping table that are looked for on a card of so many bytes.
pub fn segment_candidates(card_bytes: u64) -> Vec<u64> {
    sizes(4 * LARGEST_UNIT, card_bytes.saturating_sub(MIB))
}

/// Levels at which page and erase block show on a card of so many bytes: from four sectors up, and at least 2 KiB.
pub fn levels(card_bytes: u64, sector: u64) -> Vec<u64> {
    sizes((4 * sector).max(2 * KIB), LARGEST_LEVEL.min(card_bytes.saturating_sub(MIB)))
}

/// Two kinds of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeModes {
    /// Times above it belong to the slow kind.
    pub split: f64,
    /// Typical time of the fast kind.
    pub fast: f64,
    /// Typical time of the slow kind.
    pub slow: f64,
    /// Share of the fast kind, 0 to 1.
    pub fast_share: f64,
}

/// The two kinds must be further apart than this in the natural logarithm …
const LEAST_GAP: f64 = 0.5;

/// … each hold at least so much …
const LEAST_SHARE: f64 = 0.05;

/// … and scatter less than this part of the gap, or they are one kind with a long tail.
const MOST_SPREAD: f64 = 0.25;

/// The two kinds of times that there are, split where the variance between them is greatest (Otsu); `None` where
/// there is one.
pub fn two_modes(times: &[f64]) -> Option<TimeModes> {
    let logs: Vec<f64> = times.iter().filter(|t| **t > 0.0).map(|t| t.ln()).collect();
    let logs = sorted(&logs);
    let n = logs.len() as f64;
    let total: f64 = logs.iter().sum();
    let (mut below, mut best) = (0.0, (0.0, 0));
    for (i, log) in logs.iter().enumerate().take(logs.len().saturating_sub(1)) {
        below += log;
        let (low, high) = ((i + 1) as f64, n - (i + 1) as f64);
        let between = low * high * ((total - below) / high - below / low).powi(2);
        if between > best.0 {
            best = (between, i + 1);
        }
    }
    let (low, high) = logs.split_at(best.1);
    let (fast, slow) = (*low.get(low.len() / 2)?, *high.get(high.len() / 2)?);
    let share = low.len() as f64 / n;
    let spread = inner(low).max(inner(high));
    let apart = slow - fast > LEAST_GAP && spread < MOST_SPREAD * (slow - fast);
    (apart && share.min(1.0 - share) > LEAST_SHARE).then(|| TimeModes {
        split: ((low[low.len() - 1] + high[0]) / 2.0).exp(),
        fast: fast.exp(),
        slow: slow.exp(),
        fast_share: share,
    })
}

/// Half the distance between the outer sixths.
fn inner(sorted: &[f64]) -> f64 {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.84) - at(0.16)) / 2.0
}
