//! What is inside a card, found by timing: page, erase block, open blocks, cache, queue (reference page
//! `flash-behaviour`, section 3). Reading parts come first and write nothing; writing parts save what they overwrite,
//! or use a part of the card whose content may go.

pub mod discard;
mod lfsr;
mod part;
mod reading;
mod writing;

pub use part::Part;

use crate::card::Card;
use crate::saving::Saving;
use crate::site::{Limits, Site};
use crate::trouble::Stop;
use cardscope_engine::event::Listener;
use cardscope_model::card_map::Measured;

/// How a map is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// What may be used and spent.
    pub limits: Limits,
    /// True where offsets are the card's own addresses; in a file they are the file system's, and nothing can be said
    /// about boundaries.
    pub card_addresses: bool,
    /// False where only reading parts are wanted or allowed.
    pub writes: bool,
    /// True where the region at the start of the card may be written to (saved first, like everything).
    pub fat: bool,
    /// True where the cache is written through to its end; otherwise at most `max_cache_bytes`.
    pub max_cache_bytes: u64,
    /// Allocation unit that the card claims (SSR), where it says one: a hint, never the answer.
    pub claimed_unit: Option<u64>,
    /// True where the raw tables of flashbench are wanted too, which cost more I/O.
    pub tables: bool,
    /// The parts that are wanted ([`Options::wants`]); all of them where it is empty.
    pub only: Vec<Part>,
}

/// Makes the map. What was measured before an early end stays in `into`.
///
/// # Errors
/// If the card is gone, the user stopped it, or what stands on the card could not be saved. Limits of time and bytes
/// are no error: what they left out is `not_tested`.
pub fn map<'s, 't>(
    card: &'s mut Card<'t>,
    saving: Saving<'s>,
    options: &Options,
    watch: &'s mut dyn Listener,
    into: &mut Measured,
) -> Result<(), Stop> {
    part::say_unwanted(options, into);
    let mut site = Site::new(card, saving, &options.limits, watch);
    match reading::measure(&mut site, options, into) {
        // What it did not come to says so.
        Err(Stop::Limit) => {}
        read => read?,
    }
    if options.writes {
        match writing::measure(&mut site, options, into) {
            Err(Stop::Limit) => {
                writing::leave_out(into, "the limits of time and of bytes left no room for it")
            }
            written => written?,
        }
    } else {
        writing::leave_out(into, "it writes, and only reading was asked for");
    }
    Ok(())
}
