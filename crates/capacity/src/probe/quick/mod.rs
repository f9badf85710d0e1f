//! Quick capacity test. It preserves the data if it has a journal, and writes at most 514 MiB to a genuine card.
//!
//! Method (error rates on simulated cards: docs/accuracy.md; limits of any method:
//! docs/reference/flash.md#fake-cards): a run grows downwards from the end of the card until it has overflowed
//! every cache up to 512 MiB, with markers all over the card. Its stamps are searched at other addresses. Losses
//! are read twice, with the card reopened in between, and written again before they count.

pub mod probe_steps;

mod alias;
mod boundary;
mod first_period;
mod growing_run;
mod markers;
mod options;
mod quick_probe;
mod quick_verdict;
mod stamper;

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::journal::JournalWriter;
use cardscope_probing::reader_check::MIN_CHECK_READS;

pub use options::{MIN_RUN, QUICK_RUN, QuickOptions, QuickOutcome, THOROUGH_RUN};
pub use quick_probe::{READING_BACK, WRITING};
pub use quick_verdict::outcome_findings;

/// I/Os of the shortest probe with any result: original content, reader check, and one block saved, written, read
/// and restored.
pub const MIN_IOS: u64 = 4 * quick_probe::MARKER_BATCH as u64 + 16 + MIN_CHECK_READS + 4;

/// I/Os of the shortest probe that may pass a card, approximately: a run of [`MIN_RUN`], the search for its
/// copies, and its restoration in extents of 1 MiB.
pub fn min_ios_for_verdict(card_bytes: u64) -> u64 {
    let looks = quick_probe::copy_search_reads(card_bytes) + quick_probe::inverted_bit_reads(card_bytes);
    MIN_IOS + 150 + looks + 7 * (MIN_RUN >> 20)
}

/// Probes a card. With a journal all data is saved before it is overwritten; the caller restores it, after an error
/// as well.
///
/// # Errors
/// If the card is gone, the user stopped the test, or data on the card could not be saved.
pub fn probe_card<'g>(
    card: &'g mut IoDriver<'_>,
    journal: Option<&'g mut dyn JournalWriter>,
    options: &QuickOptions,
    events: &'g mut dyn Listener,
) -> Result<QuickOutcome, ProbeStop> {
    let mut quick = quick_probe::QuickProbe::new(card, journal, options, events)?;
    match quick.run_probe() {
        Err(ProbeStop::Limit) => Ok(quick.cut_short_outcome()),
        ended => ended,
    }
}
