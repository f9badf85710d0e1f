//! Tests marks by measuring, as close to the procedures of the SD Association as a host can come
//! (docs/reference/sd.md#marks, docs/reference/flash.md#marks-by-measuring). `docs/marks.md` lists the differences.
//!
//! Every write goes through [`ProbeContext`], which saves the data first unless it may be lost. The default form writes
//! little; [`MarkOptions::form`] allows more.

mod bus;
mod demand_parts;
mod judge;
mod margin;
mod options;
mod other_tools;
mod partly_used;
mod queued;
mod random;
mod reading;
mod sequential;
mod specified;
mod stopping_rule;
mod tester;

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::target::TargetRegion;
use cardscope_model::mark_result::MarksMeasured;
use cardscope_probing::context::ProbeContext;
use cardscope_probing::context::write_test_file;
use cardscope_probing::write_scope::WriteScope;

pub use options::{MarkOptions, TEST_AREA};
use tester::{CapacityFamily, MarkAreas, MarkTester};

/// Measures what the card's marks promise, and judges them. `scope` saves what is overwritten. Limits of time and bytes
/// are no error; what they prevented is reported. After an error, `into` has what was measured until then.
pub fn measure_and_judge<'s, 't>(
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    options: &MarkOptions,
    events: &'s mut dyn Listener,
    into: &mut MarksMeasured,
) -> Result<(), ProbeStop> {
    let card_bytes = card.bytes();
    let family = CapacityFamily::from_bytes(card_bytes);
    let mut context = ProbeContext::new(card, scope, &options.limits, events);
    let before = context.total_cost();
    into.form = options.form;
    into.claims.clone_from(&options.claimed);
    into.bus = options.bus.clone();
    into.after_cache_mb_s = options.after_cache_mb_s;
    let ended = run_tests(&mut context, options, family, into);
    into.cost = context.cost_since(before);
    into.short_of_time = context.was_short_of_time();
    judge::judge_all(into, options, card_bytes);
    if let Err(ProbeStop::Limit) = ended {
        into.left_out.push("the rest: no time or write limit left".to_owned());
        return Ok(());
    }
    ended
}

/// Judges again, with the speed behind the cache that was measured later.
pub fn judge_after_cache(into: &mut MarksMeasured, options: &MarkOptions, card_bytes: u64, mb_s: f64) {
    into.after_cache_mb_s = Some(mb_s);
    judge::judge_all(into, options, card_bytes);
}

fn run_tests(
    context: &mut ProbeContext<'_, '_>,
    options: &MarkOptions,
    family: CapacityFamily,
    into: &mut MarksMeasured,
) -> Result<(), ProbeStop> {
    let Some(cut) = MarkAreas::from_options(context, options, into) else { return Ok(()) };
    let mut readable = true;
    // Timed reads reach the card only in a file that was written completely.
    if !options.card_addresses {
        let TargetRegion { start, len } = context.region;
        let why_not = write_test_file(context, start, len)?;
        readable = why_not.is_none();
        into.left_out.extend(why_not);
    }
    let mut bench = MarkTester { context, options, into, family, cut, readable };
    if readable {
        bench.counting_failures(|failed| &mut failed.reading, MarkTester::measure_reads)?;
    }
    bench.counting_failures(|failed| &mut failed.in_order, MarkTester::write_in_order)?;
    bench.counting_failures(|failed| &mut failed.in_order, MarkTester::write_partly_used)?;
    if readable {
        bench.counting_failures(|failed| &mut failed.random, MarkTester::random_io)?;
    }
    bench.counting_failures(|failed| &mut failed.queued, MarkTester::stream_with_a_queue)
}
