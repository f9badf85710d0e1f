//! Is the capacity real: the quick probe. It keeps what is on the card if it is given a journal, and writes at most
//! 514 MiB to a genuine card.
//!
//! Method (error rates on simulated cards: docs/accuracy.md; limits of any method: docs/reference/flash.md#fake-cards):
//! a run grows from the end of the card downwards until it has overflown every cache up to 512 MiB; markers stand all
//! over the card meanwhile; the stamps of the run are looked for at foreign addresses. Whatever is lost is looked for
//! twice, after opening the card anew, and written again before anything is said about it.

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

/// I/Os of the shortest probe that can show anything: what stands at some places, the reader checked, one block saved,
/// written, looked at and put back.
pub const LEAST_IOS: u64 = 4 * growth::BATCH as u64 + 16 + LEAST_READS + 4;

/// I/Os of the shortest probe that may call a card genuine, about: a run of [`LEAST_RUN`] with its looks, the search for
/// copies of it, and putting it back in extents of 1 MiB.
pub fn ios_to_a_verdict(card_bytes: u64) -> u64 {
    let looks = growth::scan_looks(card_bytes) + growth::turned_looks(card_bytes);
    LEAST_IOS + 150 + looks + 7 * (LEAST_RUN >> 20)
}

/// Probes a card. With a journal everything is saved before it is overwritten; putting back is the caller's matter,
/// also when this fails.
///
/// # Errors
/// If the card is gone, the user stopped it, or what stands on the card could not be saved.
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
