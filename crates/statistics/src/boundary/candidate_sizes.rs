//! Candidate sizes of flash units: powers of two, and three times powers of two for cells with three bits. Also splits times
//! into two modes, because places that were never written answer 4 to 7 times faster, without a read of the flash
//! (docs/reference/flash.md#unmapped-areas).

use cardscope_model::statistics::sorted_copy;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Largest erase block. A larger step is a segment of the mapping table, as the largest allocation unit of a card is 64 MiB
/// (SD Physical Layer, AU_SIZE) and 11 of 46 public runs have their largest rise at 1 to 2 GiB.
const LARGEST_UNIT: u64 = 64 * MIB;

const LARGEST_LEVEL: u64 = 3 * LARGEST_UNIT;

#[derive(Debug, Clone, PartialEq)]
pub struct CandidateUnits {
    pub pages: Vec<u64>,
    pub units: Vec<u64>,
}

impl Default for CandidateUnits {
    fn default() -> Self {
        CandidateUnits { pages: page_candidates(), units: unit_candidates() }
    }
}

/// True if every boundary of the level is one of the unit.
pub fn is_boundary(unit: u64, level: u64) -> bool {
    unit != 0 && level.is_multiple_of(unit)
}

fn flash_sizes(least: u64, most: u64) -> Vec<u64> {
    let powers = (0..60).flat_map(|k| [1u64 << k, 3u64 << k]);
    let mut all: Vec<u64> = powers.filter(|size| (least..=most).contains(size)).collect();
    all.sort_unstable();
    all
}

/// Candidate page sizes: 4 to 256 KiB.
pub fn page_candidates() -> Vec<u64> {
    flash_sizes(4 * KIB, 256 * KIB)
}

/// Candidate erase block sizes: 0.5 to 64 MiB.
pub fn unit_candidates() -> Vec<u64> {
    flash_sizes(512 * KIB, LARGEST_UNIT)
}

pub fn segment_candidates(card_bytes: u64) -> Vec<u64> {
    flash_sizes(4 * LARGEST_UNIT, card_bytes.saturating_sub(MIB))
}

pub fn measured_levels(card_bytes: u64, sector: u64) -> Vec<u64> {
    flash_sizes((4 * sector).max(2 * KIB), LARGEST_LEVEL.min(card_bytes.saturating_sub(MIB)))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeModes {
    pub split: f64,
    pub fast: f64,
    pub slow: f64,
    pub fast_share: f64,
}

const MIN_MODE_GAP: f64 = 0.5;

const MIN_MODE_SHARE: f64 = 0.05;

/// Largest spread of a mode as a part of the distance. A larger one is a long tail of a single mode.
const MAX_MODE_SPREAD: f64 = 0.25;

/// Splits times where the variance between the parts is greatest (Otsu). None if there is a single mode.
pub fn two_modes(times: &[f64]) -> Option<TimeModes> {
    let logs: Vec<f64> = times.iter().filter(|t| **t > 0.0).map(|t| t.ln()).collect();
    let logs = sorted_copy(&logs);
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
    let spread = inner_spread(low).max(inner_spread(high));
    let apart = slow - fast > MIN_MODE_GAP && spread < MAX_MODE_SPREAD * (slow - fast);
    (apart && share.min(1.0 - share) > MIN_MODE_SHARE).then(|| TimeModes {
        split: ((low[low.len() - 1] + high[0]) / 2.0).exp(),
        fast: fast.exp(),
        slow: slow.exp(),
        fast_share: share,
    })
}

fn inner_spread(sorted: &[f64]) -> f64 {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    (at(0.84) - at(0.16)) / 2.0
}
