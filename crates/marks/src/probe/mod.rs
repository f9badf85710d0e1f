//! Marks judged by measuring, as near to the SD Association's procedures as a host can come
//! (docs/reference/sd.md#marks, docs/reference/flash.md#marks-by-measuring). What differs from them is in
//! `docs/marks.md`.
//!
//! Every write goes through [`Context`]: saved before, or where content may go. So little is written by default; [`Options::form`]
//! says how much more it may be.

mod bench;
mod bus;
mod judge;
mod margin;
mod options;
mod other_tests;
mod partly;
mod parts;
mod queued;
mod random;
mod reading;
mod sequential;
mod slices;
mod specified;

use cardscope_engine::card::{Card, Stop};
use cardscope_engine::event::Listener;
use cardscope_engine::target::Region;
use cardscope_model::judged_mark::MarksMeasured;
use cardscope_probing::context::Context;
use cardscope_probing::fill::fill;
use cardscope_probing::write_scope::WriteScope;

use bench::{Bench, Cut, Family};
pub use options::{Options, TEST_AREA};

/// Measures what the marks of a card promise, and judges it. `scope` says what may be overwritten and saves it first, and
/// `events` hears how far it is. What was measured before an early end is judged, and stays in `into`.
///
/// # Errors
/// If the card is gone, the user stopped it, or what stands on the card could not be saved. Limits of time and bytes
/// are no error: what they left out is said.
pub fn judge<'s, 't>(
    card: &'s mut Card<'t>,
    scope: WriteScope<'s>,
    options: &Options,
    events: &'s mut dyn Listener,
    into: &mut MarksMeasured,
) -> Result<(), Stop> {
    let card_bytes = card.bytes();
    let family = Family::of(card_bytes);
    let mut context = Context::new(card, scope, &options.limits, events);
    let before = context.spent();
    into.form = options.form;
    into.claims.clone_from(&options.claimed);
    into.bus = options.bus.clone();
    into.after_cache_mb_s = options.after_cache_mb_s;
    let ended = measure(&mut context, options, family, into);
    into.cost = context.cost_since(before);
    into.short_of_time = context.was_short_of_time();
    judge::all(into, options, card_bytes);
    match ended {
        Err(Stop::Limit) => {
            into.left_out.push("the rest: no time or write limit left".to_owned());
            Ok(())
        }
        other => other,
    }
}

/// Judges what was measured once more, with the speed after the end of the cache that was found since.
pub fn judge_after_cache(into: &mut MarksMeasured, options: &Options, card_bytes: u64, mb_s: f64) {
    into.after_cache_mb_s = Some(mb_s);
    judge::all(into, options, card_bytes);
}

fn measure(
    context: &mut Context<'_, '_>,
    options: &Options,
    family: Family,
    into: &mut MarksMeasured,
) -> Result<(), Stop> {
    let Some(cut) = Cut::of(context, options, into) else { return Ok(()) };
    let readable = readable(context, options, into)?;
    let mut bench = Bench { context, options, into, family, cut, readable };
    if readable {
        bench.noting(|failed| &mut failed.reading, Bench::read)?;
    }
    bench.noting(|failed| &mut failed.in_order, Bench::write_in_order)?;
    bench.noting(|failed| &mut failed.in_order, Bench::write_partly_used)?;
    if readable {
        bench.noting(|failed| &mut failed.random, Bench::random_io)?;
    }
    bench.noting(|failed| &mut failed.queued, Bench::stream_with_a_queue)
}

/// Whether timed reads reach the card: those of a file only once it was written.
fn readable(
    context: &mut Context<'_, '_>,
    options: &Options,
    into: &mut MarksMeasured,
) -> Result<bool, Stop> {
    if options.card_addresses {
        return Ok(true);
    }
    let Region { start, len } = context.region;
    let why_not = fill(context, start, len)?;
    let readable = why_not.is_none();
    into.left_out.extend(why_not);
    Ok(readable)
}
