//! Is the capacity real: the quick probe. It keeps what is on the card if it is given a keeper, and writes at most
//! 514 MiB to a genuine card.
//!
//! Method (docs/accuracy.md has its error rates on simulated cards, `flash-behaviour` 3.11 the limits of any method):
//! a run grows from the end of the card downwards until it has overflown every cache up to 512 MiB; markers stand all
//! over the card meanwhile; the stamps of the run are looked for at foreign addresses. Whatever is lost is looked for
//! twice, after opening the card anew, and written again before anything is said about it.

mod alias;
mod boundary;
mod fold;
mod ground;
mod growth;
mod judge;
mod pattern;
mod places;
mod quick;
mod tail;

use crate::card::Card;
use crate::keeper::Keeper;
use crate::trouble::Stop;
use cardscope_engine::event::Listener;
use cardscope_model::random::mix;
use cardscope_model::verify::{Disproof, Share, Verdict};
use std::time::Duration;

pub use judge::findings;

/// Bytes that a run must have to overflow every cache up to 512 MiB, twice the largest in public reports; the last
/// 2 MiB are what then must be missing.
pub const QUICK_RUN: u64 = 514 << 20;

/// The same for caches of up to 2 GiB.
pub const THOROUGH_RUN: u64 = (2048 + 16) << 20;

/// A run shorter than this, cut short by the user's limits, says nothing of a card: caches of 31 MB are reported.
pub const LEAST_RUN: u64 = 64 << 20;

/// I/Os of the shortest probe that can show anything: what stands at some places, one block saved, written, looked at
/// and put back.
pub const LEAST_IOS: u64 = 4 * growth::BATCH as u64 + 16;

/// I/Os of the shortest probe that may call a card genuine, about: a run of [`LEAST_RUN`] with its looks, the search for
/// copies of it, and putting it back in pieces of 1 MiB.
#[must_use]
pub fn ios_to_a_verdict(card_bytes: u64) -> u64 {
    let looks = growth::scan_looks(card_bytes) + growth::turned_looks(card_bytes);
    LEAST_IOS + 150 + looks + 6 * (LEAST_RUN >> 20)
}

/// Bytes of an I/O: an allocation unit of most cards. With [`DEPTH`] of them 8 MiB of memory.
pub const BLOCK: u32 = 4 << 20;
/// I/Os in flight.
pub const DEPTH: u32 = 2;

/// What a quick probe may do.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Overflow caches of up to 2 GiB.
    pub thorough: bool,
    /// Bytes that it may write.
    pub max_write: Option<u64>,
    /// Time by the card's clock in which all must be over, putting back included.
    pub budget: Option<Duration>,
    /// Seed of places and data.
    pub seed: u64,
}

impl Options {
    /// Bytes of the longest run on a card of this size: an eighth of a small one stays free for markers.
    #[must_use]
    pub fn run_bytes(&self, card_bytes: u64) -> u64 {
        let wanted = if self.thorough { THOROUGH_RUN } else { QUICK_RUN };
        wanted.min(card_bytes - card_bytes / 8)
    }
}

/// The salt of the stamps that a probe with these options writes: by it they are known for ours after a crash.
#[must_use]
pub fn salt(options: &Options) -> u64 {
    mix(options.seed)
}

/// What a quick probe found out.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
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
    pub share: Option<Share>,
    /// Period of the addresses, or what the line is worth that is not wired.
    pub wrap_bytes: Option<u64>,
    /// True where one address line is not wired.
    pub line: bool,
    /// At most so much was hidden by a cache.
    pub cache_bytes: Option<u64>,
    /// Caches up to this size would have been seen.
    pub overflown_bytes: u64,
    /// Addresses that disprove the card.
    pub disproofs: Vec<Disproof>,
    /// Looks that differed from an earlier one at the same place, and I/Os that succeeded the second time only.
    pub wavered: u64,
    /// True where a limit of the user's ended it early.
    pub cut_short: bool,
}

/// Probes a card. With a keeper everything is saved before it is overwritten; putting back is the caller's matter,
/// also when this fails.
///
/// # Errors
/// If the card is gone, the user stopped it, or what stands on the card could not be saved.
pub fn probe<'g>(
    card: &'g mut Card<'_>,
    keeper: Option<&'g mut dyn Keeper>,
    options: &Options,
    watch: &'g mut dyn Listener,
) -> Result<Outcome, Stop> {
    let mut quick = quick::Quick::new(card, keeper, options, watch)?;
    match quick.run() {
        Err(Stop::Limit) => Ok(quick.cut()),
        ended => ended,
    }
}
