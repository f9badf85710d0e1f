//! Quick capacity test. It preserves the data if it has a journal, and writes at most 514 MiB to a genuine card.
//!
//! Method (error rates on simulated cards: docs/accuracy.md; limits of any method:
//! docs/reference/flash.md#fake-cards): a run grows downwards from the end of the card until it has overflowed
//! every cache up to 512 MiB, with markers all over the card. Its stamps are searched at other addresses. Losses
//! are read twice, with the card reopened in between, and written again before they count.

pub mod run;

mod alias;
mod boundary;
mod fold;
mod growth;
mod judge;
mod markers;
mod options;
mod stamper;
mod tail;

use cardscope_engine::card::{IoDriver, ProbeStop};
use cardscope_engine::event::Listener;
use cardscope_engine::journal::JournalWriter;
use cardscope_probing::reader_check::LEAST_READS;

pub use growth::{READING_BACK, WRITING};
pub use judge::findings;
pub use options::{LEAST_RUN, QUICK_RUN, QuickOptions, QuickOutcome, THOROUGH_RUN};

/// I/Os of the shortest probe with any result: original content, reader check, and one block saved, written, read
/// and restored.
pub const LEAST_IOS: u64 = 4 * growth::BATCH as u64 + 16 + LEAST_READS + 4;

/// I/Os of the shortest probe that may pass a card, approximately: a run of [`LEAST_RUN`], the search for its
/// copies, and its restoration in extents of 1 MiB.
pub fn ios_to_a_verdict(card_bytes: u64) -> u64 {
    let looks = growth::scan_looks(card_bytes) + growth::turned_looks(card_bytes);
    LEAST_IOS + 150 + looks + 7 * (LEAST_RUN >> 20)
}

/// Probes a card. With a journal all data is saved before it is overwritten; the caller restores it, after an error
/// as well.
///
/// # Errors
/// If the card is gone, the user stopped the test, or data on the card could not be saved.
pub fn probe<'g>(
    card: &'g mut IoDriver<'_>,
    journal: Option<&'g mut dyn JournalWriter>,
    options: &QuickOptions,
    events: &'g mut dyn Listener,
) -> Result<QuickOutcome, ProbeStop> {
    let mut quick = growth::QuickProbe::new(card, journal, options, events)?;
    match quick.run() {
        Err(ProbeStop::Limit) => Ok(quick.cut()),
        ended => ended,
    }
}
