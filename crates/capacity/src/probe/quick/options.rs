//! What a quick probe is given, and what it answers.

use cardscope_model::verify::{AddressDisproof, ExcludedShare, Verdict};
use cardscope_probing::context::ProbeLimits;

/// Bytes that a run must have to overflow every cache up to 512 MiB, twice the largest in public reports; the last
/// 2 MiB are what then must be missing.
pub const QUICK_RUN: u64 = 514 << 20;

/// The same for caches of up to 2 GiB.
pub const THOROUGH_RUN: u64 = (2048 + 16) << 20;

/// A run shorter than this, cut short by the user's limits, says nothing of a card: caches of 31 MB are reported.
pub const LEAST_RUN: u64 = 64 << 20;

/// What a quick probe may do.
#[derive(Debug, Clone, Copy)]
pub struct QuickOptions {
    /// Overflow caches of up to 2 GiB.
    pub thorough: bool,
    /// What it may use and spend; its region is all of the card.
    pub limits: ProbeLimits,
}

impl QuickOptions {
    /// Bytes of the longest run on a card of this size: an eighth of a small one stays free for markers.
    pub fn run_bytes(&self, card_bytes: u64) -> u64 {
        let wanted = if self.thorough { THOROUGH_RUN } else { QUICK_RUN };
        wanted.min(card_bytes - card_bytes / 8)
    }
}

/// What a quick probe found out.
#[derive(Debug, Clone, PartialEq)]
pub struct QuickOutcome {
    /// The answer.
    pub verdict: Verdict,
    /// The prefix that can be trusted.
    pub usable_bytes: Option<u64>,
    /// All that works, estimated.
    pub good_bytes: Option<u64>,
    /// Bytes that were seen to be kept at one time.
    pub proven_bytes: u64,
    /// 0 to 1.
    pub confidence: f64,
    /// What the markers exclude.
    pub share: Option<ExcludedShare>,
    /// Period of the addresses, or what the line is worth that is not wired.
    pub wrap_bytes: Option<u64>,
    /// True where one address line is not wired.
    pub line: bool,
    /// At most so much was hidden by a cache.
    pub cache_bytes: Option<u64>,
    /// Caches up to this size would have been seen.
    pub overflown_bytes: u64,
    /// True where everything from `usable_bytes` on failed with an error.
    pub fails_beyond: bool,
    /// Addresses that disprove the card.
    pub disproofs: Vec<AddressDisproof>,
    /// Blocks that answered differently when they were read again.
    pub wavered: u64,
    /// True where a limit of the user's ended it early.
    pub cut_short: bool,
}
