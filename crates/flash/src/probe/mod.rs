//! Finds the geometry of a card by timing: page, erase block, open blocks, cache, queue
//! (docs/reference/flash.md#pages and the sections after it). Reading parts run first and write nothing. Writing
//! parts save what they overwrite, or use a region whose data may be lost; their positions are unused or have
//! rested, outside of the card's start. Each part gives a value with its evidence, `none`, or the reason why it was
//! skipped.

mod boundaries;
mod cache;
mod card_start;
pub mod discard;
mod flashbench_tables;
mod open_blocks;
mod options;
mod page_writes;
mod pairs;
mod queue;
mod read_tester;
mod reader_splits;
mod span;
mod speed_by_address;
mod speed_by_size;
mod survey;
mod triples;
mod write_slots;
mod write_tester;

pub use options::{MapOptions, MapPart};

use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_probing::context::ProbeContext;
use cardscope_probing::context::{unwritten_reason, write_test_file};
use cardscope_probing::write_scope::WriteScope;
use cardscope_statistics::long_stalls;
use options::{
    OUT_OF_LIMITS, Result, UnknownProperty, UnmeasuredReason, no_time_reason, reason_as_property,
    skip_boundaries, skip_writes,
};
use read_tester::{ReadTester, stages};
use write_tester::{MAX_WRITE, WriteTester};

const IN_A_FILE: &str = "file offsets are not the card's addresses";

/// Smaller cards have too few boundaries to compare.
const MIN_CARD_BYTES: u64 = 32 << 20;

/// Highest confidence of "no page" and "no erase block": all flash has both, so an absent sign does not prove their
/// absence.
const UNDECIDED: f64 = 0.5;

type MeasurePart = fn(&mut WriteTester) -> Result<()>;

/// Writing parts in their order. The card's start is last, since its data is the worst to lose; the cache is late,
/// since filling it slows everything after it.
const PARTS: [(MapPart, &str, MeasurePart); 8] = [
    (MapPart::OpenBlocks, "open erase blocks", open_blocks::measure_open_blocks),
    (MapPart::PageWrites, "pages and small writes", page_writes::measure_page_writes),
    (MapPart::WriteCurve, "writes by size", speed_by_size::measure_write_sizes),
    (MapPart::Span, "small writes by span", span::measure_span),
    (MapPart::Axis, "writes by address", speed_by_address::measure_write_addresses),
    (MapPart::Queue, "queue of writes", queue::measure_write_queues),
    (MapPart::Cache, "cache", cache::measure_cache),
    (MapPart::Fat, "start of the card", card_start::measure_card_start),
];

const TABLES: &str = "flashbench tables of writes";

/// Names of the stages of a map, as listeners receive them.
pub fn stage_names(options: &MapOptions) -> Vec<&'static str> {
    let parts = PARTS.into_iter().filter(|(part, ..)| options.wants(*part)).map(|(_, what, _)| what);
    let writing = parts.chain(options.flashbench_tables.then_some(TABLES)).filter(|_| options.writes);
    stages::reading_stages(options).into_iter().chain(writing).collect()
}

/// Makes the map. `scope` states and saves what may be overwritten. Results before an early end remain in `into`.
///
/// # Errors
/// If the card is gone, the user stopped the test, or data on the card could not be saved. Limits of time and bytes
/// are no error: the properties after them are `not_tested`.
pub fn measure_map<'s, 't>(
    card: &'s mut IoDriver<'t>,
    scope: WriteScope<'s>,
    options: &MapOptions,
    events: &'s mut dyn Listener,
    into: &mut MeasuredMap,
) -> Result<()> {
    options::skip_unselected(options, into);
    let mut context = ProbeContext::new(card, scope, &options.limits, events);
    let ended = measure_parts(&mut context, options, into);
    into.findings.extend(long_stalls::long_stall_finding(context.longest_write_s(), "in a single write"));
    for unit in [&mut into.page_bytes, &mut into.erase_block_bytes] {
        if unit.status == PropertyStatus::None {
            unit.confidence = unit.confidence.min(UNDECIDED);
        }
    }
    ended
}

fn measure_parts(context: &mut ProbeContext, options: &MapOptions, into: &mut MeasuredMap) -> Result<()> {
    match measure_reads(context, options, into) {
        // The skipped properties already have their reason.
        Err(ProbeStop::Limit) => {}
        read => read?,
    }
    if !options.writes {
        skip_writes(into, "it writes, and --read-only was given");
        return Ok(());
    }
    match measure_writes(context, options, into) {
        Err(ProbeStop::Limit) => skip_writes(into, OUT_OF_LIMITS),
        written => written?,
    }
    Ok(())
}

fn measure_reads(context: &mut ProbeContext, options: &MapOptions, into: &mut MeasuredMap) -> Result<()> {
    let mut reads = ReadTester::new(context, options, into);
    let no_boundaries = why_no_boundaries(&reads);
    if options.wants(MapPart::Boundaries) {
        match &no_boundaries {
            Some(why) => skip_boundaries(reads.into, why),
            None => measure_structure(&mut reads)?,
        }
    }
    if options.wants(MapPart::Planes) {
        reads.into.plane_bytes = match no_boundaries {
            Some(why) => Property::not_tested(why),
            None => reason_as_property(pairs::measure_planes(&mut reads))?,
        };
    }
    if options.wants(MapPart::Queue) || options.wants(MapPart::ReadCurve) {
        match write_file_first(&mut reads)? {
            Some(why) => reads.into.queue_depth_effective = Property::not_tested(why),
            None => measure_speeds(&mut reads)?,
        }
    }
    if options.wants(MapPart::Axis) && options.card_addresses {
        speed_by_address::measure_read_addresses(&mut reads)?;
    }
    if options.flashbench_tables && options.card_addresses {
        flashbench_tables::measure_read_tables(&mut reads)?;
    }
    Ok(())
}

fn why_no_boundaries(reads: &ReadTester) -> Option<String> {
    if !reads.options.card_addresses {
        return Some(IN_A_FILE.to_owned());
    }
    (reads.len < MIN_CARD_BYTES).then(|| format!("{} bytes are too few to find boundaries", reads.len))
}

/// Fills a test file so that reads reach the card. Returns the reason if that is impossible.
fn write_file_first(reads: &mut ReadTester) -> Result<Option<String>> {
    match (reads.options.card_addresses, reads.options.writes) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(unwritten_reason("--read-only was given"))),
        (false, true) => write_test_file(reads.context, reads.start, reads.len),
    }
}

fn measure_speeds(reads: &mut ReadTester) -> Result<()> {
    if reads.options.wants(MapPart::Queue) {
        reads.into.queue_depth_effective = reason_as_property(queue::measure_read_queue(reads))?;
    }
    if reads.options.wants(MapPart::ReadCurve) {
        speed_by_size::measure_read_sizes(reads)?;
    }
    Ok(())
}

fn measure_structure(reads: &mut ReadTester) -> Result<()> {
    let Some(survey) = survey::survey_card(reads)? else { return Ok(()) };
    reads.into.read_unit_bytes = reason_as_property(pairs::measure_read_unit(reads))?;
    match boundaries::measure_units(reads, &survey) {
        Err(UnmeasuredReason::Reason(why)) => {
            reads.into.page_bytes = Property::not_tested(why.clone());
            reads.into.erase_block_bytes = Property::not_tested(why);
            reads.into.map_segment_bytes = Property::not_tested(no_time_reason(3.0));
        }
        Err(UnmeasuredReason::Stop(stop)) => return Err(stop),
        Ok(found) => {
            let segment = boundaries::measure_segment(reads, &survey, &found);
            reads.into.map_segment_bytes = reason_as_property(segment)?;
        }
    }
    reads.into.findings.extend(survey.unwritten_finding(reads.into));
    Ok(())
}

fn measure_writes(context: &mut ProbeContext, options: &MapOptions, into: &mut MeasuredMap) -> Result<()> {
    if !options.card_addresses {
        let addresses = [&mut into.erase_block_bytes, &mut into.fat_region_bytes].into_iter();
        addresses.filter(|p| p.has_no_reason()).for_each(|property| property.set_not_tested(IN_A_FILE));
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
        cut = run_part(&mut bench, TABLES, flashbench_tables::measure_write_tables)?.or(cut);
    }
    skip_writes(bench.into, cut.unwrap_or("the measurements do not show it"));
    bench.context.flush()
}

/// Positions that are read to test whether data can be saved. A card that reads half of them passes in all but one
/// of 256 cases.
const SAVABLE_SAMPLES: u64 = 8;

/// True if no sampled position of the write region can be read. Saving data from such a card would cost thousands
/// of failing reads.
fn is_unreadable(context: &mut ProbeContext) -> Result<bool> {
    let (region, sector) = (context.region, context.sector());
    for i in 0..SAVABLE_SAMPLES {
        let offset = region.start + region.len / SAVABLE_SAMPLES * i / u64::from(sector) * u64::from(sector);
        if context.time_read(CardExtent { offset, len: sector })?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs a part and returns the reason if a limit ended it early.
fn run_part(bench: &mut WriteTester, what: &str, run: MeasurePart) -> Result<Option<&'static str>> {
    bench.begin_part(what);
    match run(bench) {
        Err(ProbeStop::Limit) if bench.part_took_too_long() => Ok(Some("the card answered too slowly")),
        Err(ProbeStop::Limit) => Ok(Some(OUT_OF_LIMITS)),
        other => other.map(|()| None),
    }
}
