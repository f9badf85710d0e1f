//! Parts of a map that write (docs/reference/flash.md#open-blocks and the sections after it). Data is saved before
//! it is overwritten unless its loss is allowed. Positions are unused or have rested, outside of the card's start.
//! Parts that the limits exclude record the reason.

mod cache;
mod fat_region;
mod open_blocks;
mod page_writes;
mod reader_splits;
mod span;
mod speed_by_address;
mod speed_by_size;
mod start_of_run;
mod tables;
mod write_queue;
mod write_slots;
mod write_tester;

use crate::probe::options::{MapOptions, MapPart, UnknownProperty, skip_writes};
use crate::probe::unmeasured::OUT_OF_LIMITS;
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::card_map::MeasuredMap;
use cardscope_probing::context::ProbeContext;
use write_tester::{MAX_WRITE, WriteTester};

/// Writing parts in their order. The card's start is last, since its data is the worst to lose; the cache is late,
/// since filling it slows everything after it.
const PARTS: [(MapPart, &str, MeasurePart); 8] = [
    (MapPart::OpenBlocks, "open erase blocks", open_blocks::measure_open_blocks),
    (MapPart::PageWrites, "pages and small writes", page_writes::measure_page_writes),
    (MapPart::WriteCurve, "writes by size", speed_by_size::measure_sizes),
    (MapPart::Span, "small writes by span", span::measure_span),
    (MapPart::Axis, "writes by address", speed_by_address::measure_addresses),
    (MapPart::Queue, "queue of writes", write_queue::measure_queues),
    (MapPart::Cache, "cache", cache::measure_cache),
    (MapPart::Fat, "start of the card", fat_region::measure_fat_region),
];

const TABLES: &str = "flashbench tables of writes";

pub(super) fn writing_stages(options: &MapOptions) -> Vec<&'static str> {
    if !options.writes {
        return Vec::new();
    }
    let parts = PARTS.into_iter().filter(|(part, ..)| options.wants(*part)).map(|(_, what, _)| what);
    parts.chain(options.flashbench_tables.then_some(TABLES)).collect()
}

pub(super) fn measure_writes(
    context: &mut ProbeContext<'_, '_>,
    options: &MapOptions,
    into: &mut MeasuredMap,
) -> Result<(), ProbeStop> {
    if !options.card_addresses {
        let why = "file offsets are not the card's addresses";
        let silent = [&mut into.erase_block_bytes, &mut into.fat_region_bytes]
            .into_iter()
            .filter(|p| p.has_no_reason());
        silent.for_each(|property| property.set_not_tested(why));
    }
    context.set_queue(MAX_WRITE, 1)?;
    let Some(mut bench) = WriteTester::new(context, options, into) else {
        skip_writes(into, "the writable range is too small to compare positions");
        return Ok(());
    };
    if bench.context.saves_first() && is_unreadable(bench.context)? {
        skip_writes(bench.into, "the data there could not be read, so it could not be saved");
        return Ok(());
    }
    let mut cut = None;
    for (_, what, part) in PARTS.into_iter().filter(|(part, ..)| options.wants(*part)) {
        cut = run_part(&mut bench, what, part)?.or(cut);
    }
    if options.flashbench_tables {
        cut = run_part(&mut bench, TABLES, tables::measure_tables)?.or(cut);
    }
    skip_writes(bench.into, cut.unwrap_or("the measurements do not show it"));
    bench.context.flush()
}

/// Positions that are read to test whether data can be saved. A card that reads half of them passes in all but one
/// of 256 cases.
const SAVABLE_SAMPLES: u64 = 8;

/// True if no sampled position of the write region can be read. Saving data from such a card would cost thousands
/// of failing reads.
fn is_unreadable(context: &mut ProbeContext<'_, '_>) -> Result<bool, ProbeStop> {
    let (region, sector) = (context.region, context.sector());
    for i in 0..SAVABLE_SAMPLES {
        let offset = region.start + region.len / SAVABLE_SAMPLES * i / u64::from(sector) * u64::from(sector);
        if context.time_read(CardExtent { offset, len: sector })?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

type MeasurePart = fn(&mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop>;

/// Runs a part and returns the reason if a limit ended it early.
fn run_part(
    bench: &mut WriteTester<'_, '_, '_>,
    what: &str,
    run: MeasurePart,
) -> Result<Option<&'static str>, ProbeStop> {
    bench.begin_part(what);
    match run(bench) {
        Err(ProbeStop::Limit) if bench.part_took_too_long() => Ok(Some("the card answered too slowly")),
        Err(ProbeStop::Limit) => Ok(Some(OUT_OF_LIMITS)),
        other => other.map(|()| None),
    }
}
