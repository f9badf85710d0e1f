//! The parts of a map that write: what only the cost of writes shows (reference page `flash-behaviour`, 3.2 to 3.7 and
//! the writes of 3.9). Whatever is overwritten is saved before, or may go; places are fresh or have rested, away from the
//! card's start; what the limits leave no room for says so.

mod axis;
mod bench;
mod cache;
mod curve;
mod fat;
mod open;
mod page;
mod queue;
mod reader;
mod slots;
mod span;
mod tables;

use crate::context::Context;
use crate::map::options::{Options, Part};
use bench::{Bench, LARGEST};
use cardscope_engine::card::{Extent, Stop};
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::{Property, Status};

/// Each part that writes, in the order in which they run: the card's start comes last, since what lies there hurts most
/// to lose, and the cache late, since filling it changes what everything after it costs.
const PARTS: [Step; 8] = [
    Step { part: Part::OpenBlocks, what: "open erase blocks", run: open::measure },
    Step { part: Part::PageWrites, what: "page and small writes", run: page::measure },
    Step { part: Part::WriteCurve, what: "writes by size", run: curve::measure },
    Step { part: Part::Span, what: "small writes by their span", run: span::measure },
    Step { part: Part::Axis, what: "write speed over the addresses", run: axis::measure },
    Step { part: Part::Queue, what: "writes in a queue", run: queue::measure },
    Step { part: Part::Cache, what: "cache", run: cache::measure },
    Step { part: Part::Fat, what: "start of the card", run: fat::measure },
];

/// A part and how it is run.
struct Step {
    part: Part,
    what: &'static str,
    run: Run,
}

/// Measures what only writes can show.
pub(super) fn measure(
    context: &mut Context<'_, '_>,
    options: &Options,
    into: &mut Measured,
) -> Result<(), Stop> {
    if !options.card_addresses {
        let why = "offsets in a file are not the card's addresses";
        explain(&mut into.erase_block_bytes, why);
        explain(&mut into.fat_region_bytes, why);
    }
    context.shape(LARGEST, 1)?;
    let Some(mut bench) = Bench::new(context, options, into) else {
        leave_out(into, "what may be written to is too small to compare places");
        return Ok(());
    };
    if bench.context.keeps_data() && is_unreadable(bench.context)? {
        leave_out(bench.into, "nothing of what it would overwrite could be read, so it could not be saved");
        return Ok(());
    }
    let mut cut = None;
    for step in PARTS.iter().filter(|step| options.wants(step.part)) {
        cut = run(&mut bench, step.what, step.run)?.or(cut);
    }
    if options.tables {
        cut = run(&mut bench, "flashbench's tables of writes", tables::measure)?.or(cut);
    }
    if let Some(why) = cut {
        leave_out(bench.into, why);
    }
    bench.context.flush()
}

/// Places that are read to see whether anything can be saved: a card of which half still can passes in all but one of
/// 256 cases.
const SAVABLE: u64 = 8;

/// Whether no place of what may be written to can be read: each try to save more of such a card costs it thousands of
/// reads that fail.
fn is_unreadable(context: &mut Context<'_, '_>) -> Result<bool, Stop> {
    let (region, sector) = (context.region, context.sector());
    for i in 0..SAVABLE {
        let offset = region.start + region.len / SAVABLE * i / u64::from(sector) * u64::from(sector);
        if context.read(Extent { offset, len: sector })?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How a part is run.
type Run = fn(&mut Bench<'_, '_, '_>) -> Result<(), Stop>;

/// Runs a part; why it was cut short, where it was.
fn run(bench: &mut Bench<'_, '_, '_>, what: &str, run: Run) -> Result<Option<&'static str>, Stop> {
    bench.begin(what);
    match run(bench) {
        Err(Stop::Limit) if bench.is_out_of_patience() => Ok(Some("the card answered too slowly for it")),
        Err(Stop::Limit) => Ok(Some("the limits of time and of bytes left no room for it")),
        other => other.map(|()| None),
    }
}

/// Says of every part that writes, and that nobody has said anything about, why it was left out.
pub(super) fn leave_out(into: &mut Measured, why: &str) {
    explain(&mut into.page_bytes, why);
    explain(&mut into.erase_block_bytes, why);
    explain(&mut into.open_blocks.linear, why);
    explain(&mut into.open_blocks.random, why);
    explain(&mut into.fat_region_bytes, why);
    explain(&mut into.small_write_log_bytes, why);
    explain(&mut into.merge, why);
    explain(&mut into.copy_mb_s, why);
    explain(&mut into.random_write_span_bytes, why);
    explain(&mut into.slc_cache_bytes, why);
    explain(&mut into.after_cache_mb_s, why);
    explain(&mut into.write_queue_gain, why);
}

/// Gives the reason where none was given yet.
fn explain<T>(property: &mut Property<T>, why: &str) {
    let untold = Property::<T>::default().reason;
    if property.status == Status::NotTested && property.reason == untold {
        *property = Property::not_tested(why);
    }
}
