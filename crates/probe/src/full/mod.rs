//! Every block written and read back: the only proof of a capacity (reference page `flash-behaviour` 3.11, "Limits
//! first").
//!
//! Stretches are written in order; after each one samples of older ones are read, so that a fake is known as soon as it
//! shows. A pass that reads everything follows, whatever was seen before, and what it finds bad is asked again.

mod asking;
mod chart;
mod confirm;
mod crawling;
mod findings;
mod judge;
pub(crate) mod ledger;
#[cfg(test)]
mod limit_tests;
mod originals;
mod pass;
mod patience;
#[cfg(test)]
mod property_tests;
pub(crate) mod reading;
pub mod recheck;
mod remaining;
pub mod resume;
mod samples;
#[cfg(test)]
mod sector_tests;
mod sentinels;
mod stubborn;
mod suspicion;
#[cfg(test)]
mod swap_tests;
#[cfg(test)]
mod tests;

use cardscope_engine::card::{Card, Stop};
use cardscope_engine::event::Listener;
use cardscope_model::units::nanos;
pub use findings::{BadBytes, Findings, Settings};

/// Bytes of an I/O: the largest that readers take in one command, twice; with the depth, 8 MiB of memory.
pub const BLOCK: u32 = 1 << 20;

/// I/Os in flight: A2 cards corrupt data under depth, so the data is written and read that way.
pub const DEPTH: u32 = 8;

/// Writes and reads the whole card. `written` is told now and then how far the writing is, everything below being on the
/// card.
///
/// Whatever ends it early stands in [`Findings::stop`], beside what was found by then.
pub fn verify(
    card: &mut Card<'_>,
    settings: &Settings,
    written: &mut dyn FnMut(u64),
    watch: &mut dyn Listener,
) -> Findings {
    let end = settings.budget_s.map(|budget| nanos(card.seconds() + budget));
    card.end_at(end);
    let mut pass = pass::Pass::new(card, *settings, watch);
    let stop = match pass.run(written) {
        Err(Stop::Limit) => {
            pass.is_over();
            None
        }
        ended => ended.err(),
    };
    let findings = pass.finish(stop);
    card.end_at(None);
    findings
}
