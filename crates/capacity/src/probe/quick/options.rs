//! Options and outcome of the quick probe.

use cardscope_model::verify::{AddressDisproof, ExcludedShare, Verdict};
use cardscope_probing::context::ProbeLimits;

/// Bytes of a run that overflows every cache up to 512 MiB, twice the largest in public reports. The last 2 MiB
/// must then be missing.
pub const QUICK_RUN: u64 = 514 << 20;

/// Bytes of a run that overflows caches up to 2 GiB.
pub const THOROUGH_RUN: u64 = (2048 + 16) << 20;

/// Shortest run that allows a verdict after the user's limits ended it, as caches of 31 MB are on record.
pub const MIN_RUN: u64 = 64 << 20;

#[derive(Debug, Clone, Copy)]
pub struct QuickOptions {
    /// Overflows caches up to 2 GiB.
    pub thorough: bool,
    /// Limits; the region is the whole card.
    pub limits: ProbeLimits,
}

impl QuickOptions {
    /// Bytes of the longest run on a card of this size. An eighth of a small card is left for markers.
    pub fn run_bytes(&self, card_bytes: u64) -> u64 {
        let wanted = if self.thorough { THOROUGH_RUN } else { QUICK_RUN };
        wanted.min(card_bytes - card_bytes / 8)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct QuickOutcome {
    pub verdict: Verdict,
    /// Intact bytes from 0.
    pub usable_bytes: Option<u64>,
    /// Estimate of all bytes that work.
    pub good_bytes: Option<u64>,
    /// Bytes verified as kept at the same time.
    pub proven_bytes: u64,
    /// Between 0 and 1.
    pub confidence: f64,
    /// Share of bad blocks that the markers exclude.
    pub share: Option<ExcludedShare>,
    /// Period of the addresses, or value of the unconnected address line.
    pub wrap_bytes: Option<u64>,
    /// True if an address line is not connected.
    pub dead_address_line: bool,
    /// Upper limit of the cache that hid losses.
    pub cache_bytes: Option<u64>,
    /// Largest cache that the run overflowed.
    pub overflown_bytes: u64,
    /// True if everything from `usable_bytes` on failed with an error.
    pub fails_beyond: bool,
    /// Addresses that disprove the capacity.
    pub disproofs: Vec<AddressDisproof>,
    /// Blocks that gave different answers when read again.
    pub changed_answers: u64,
    /// True if the user's limits ended the probe.
    pub cut_short: bool,
}
