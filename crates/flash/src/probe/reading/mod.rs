//! Parts of a map that only read: boundaries (docs/reference/flash.md#erase-blocks), speeds and queue
//! (docs/reference/flash.md#queues). Each gives a value with its evidence, `none`, or the reason why it was
//! skipped.

mod boundaries;
mod pairs;
mod read_queue;
mod reads;
mod speed_by_address;
mod speed_by_size;
pub(super) mod stages;
mod survey;
mod tables;
mod triples;

use super::options::{MapOptions, MapPart, skip_boundaries};
use super::unmeasured::{UnmeasuredReason, no_time_reason, reason_as_property};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::Property;
use cardscope_probing::context::ProbeContext;
use cardscope_probing::file_fill::{unwritten_reason, write_test_file};
use reads::ReadTester;

const IN_A_FILE: &str = "file offsets are not the card's addresses";

/// Smaller cards have too few boundaries to compare.
const MIN_CARD_BYTES: u64 = 32 << 20;

pub(super) fn measure_reads(
    context: &mut ProbeContext<'_, '_>,
    options: &MapOptions,
    into: &mut MeasuredMap,
) -> Result<(), ProbeStop> {
    let mut reads = ReadTester::new(context, options, into);
    if options.wants(MapPart::Boundaries) {
        match why_no_boundaries(&reads) {
            Some(why) => skip_boundaries(reads.into, &why),
            None => measure_structure(&mut reads)?,
        }
    }
    if options.wants(MapPart::Planes) {
        let planes = match why_no_boundaries(&reads) {
            Some(why) => Err(why.into()),
            None => pairs::measure_planes(&mut reads),
        };
        reads.into.plane_bytes = reason_as_property(planes)?;
    }
    if options.wants(MapPart::Queue) || options.wants(MapPart::ReadCurve) {
        match write_file_first(&mut reads)? {
            Some(why) => reads.into.queue_depth_effective = Property::not_tested(why),
            None => measure_speeds(&mut reads)?,
        }
    }
    if options.wants(MapPart::Axis) && options.card_addresses {
        speed_by_address::measure_addresses(&mut reads)?;
    }
    if options.flashbench_tables && options.card_addresses {
        tables::measure_tables(&mut reads)?;
    }
    Ok(())
}

/// Fills a test file so that reads reach the card. Returns the reason if that is impossible.
fn write_file_first(reads: &mut ReadTester<'_, '_, '_>) -> Result<Option<String>, ProbeStop> {
    match (reads.options.card_addresses, reads.options.writes) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(unwritten_reason("--read-only was given"))),
        (false, true) => write_test_file(reads.context, reads.start, reads.len),
    }
}

fn measure_speeds(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    if reads.options.wants(MapPart::Queue) {
        reads.into.queue_depth_effective = reason_as_property(read_queue::measure_read_queue(reads))?;
    }
    if reads.options.wants(MapPart::ReadCurve) {
        speed_by_size::measure_sizes(reads)?;
    }
    Ok(())
}

fn measure_structure(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let Some(survey) = survey::survey_card(reads)? else { return Ok(()) };
    reads.into.read_unit_bytes = reason_as_property(pairs::measure_read_unit(reads))?;
    match boundaries::measure_boundaries(reads, &survey) {
        Err(UnmeasuredReason::Reason(why)) => {
            reads.into.page_bytes = Property::not_tested(why.clone());
            reads.into.erase_block_bytes = Property::not_tested(why);
            reads.into.map_segment_bytes = Property::not_tested(no_time_reason(3.0));
        }
        Err(UnmeasuredReason::Stop(stop)) => return Err(stop),
        Ok(found) => {
            reads.into.map_segment_bytes =
                reason_as_property(boundaries::measure_segment(reads, &survey, &found))?
        }
    }
    reads.into.findings.extend(survey::unwritten_finding(&survey, reads.into));
    Ok(())
}

fn why_no_boundaries(reads: &ReadTester<'_, '_, '_>) -> Option<String> {
    if !reads.options.card_addresses {
        return Some(IN_A_FILE.to_owned());
    }
    (reads.len < MIN_CARD_BYTES).then(|| format!("{} bytes are too few to find boundaries", reads.len))
}
