//! The parts of a map that only read: boundaries (docs/reference/flash.md#erase-blocks), queue
//! (docs/reference/flash.md#queues). Each ends in a value with its evidence, in `none`, or in the reason why it was
//! skipped.

mod axis;
mod boundaries;
mod curve;
mod pairs;
mod queue;
mod reads;
pub(super) mod stages;
mod survey;
mod tables;
mod triples;

use super::options::{Options, Part, leave_out_boundaries};
use super::unmeasured::{Unmeasured, no_time, or_reason};
use cardscope_engine::card::Stop;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::Property;
use cardscope_probing::context::Context;
use cardscope_probing::fill::{fill, unwritten};
use reads::Reads;

/// Why boundaries mean nothing there.
const IN_A_FILE: &str = "file offsets are not the card's addresses";

/// Smaller cards have too few boundaries of anything.
const LEAST_CARD: u64 = 32 << 20;

/// Measures everything that reads can show.
pub(super) fn measure(
    context: &mut Context<'_, '_>,
    options: &Options,
    into: &mut Measured,
) -> Result<(), Stop> {
    let mut reads = Reads::new(context, options, into);
    if options.wants(Part::Boundaries) {
        match no_boundaries(&reads) {
            Some(why) => leave_out_boundaries(reads.into, &why),
            None => structure(&mut reads)?,
        }
    }
    if options.wants(Part::Planes) {
        let planes = match no_boundaries(&reads) {
            Some(why) => Err(why.into()),
            None => pairs::planes(&mut reads),
        };
        reads.into.plane_bytes = or_reason(planes)?;
    }
    if options.wants(Part::Queue) || options.wants(Part::ReadCurve) {
        match written(&mut reads)? {
            Some(why) => reads.into.queue_depth_effective = Property::not_tested(why),
            None => speeds(&mut reads)?,
        }
    }
    if options.wants(Part::Axis) && options.card_addresses {
        axis::measure(&mut reads)?;
    }
    if options.tables && options.card_addresses {
        tables::measure(&mut reads)?;
    }
    Ok(())
}

/// Sees to it that reads reach the card; why they would not.
fn written(reads: &mut Reads<'_, '_, '_>) -> Result<Option<String>, Stop> {
    match (reads.options.card_addresses, reads.options.writes) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(unwritten("--read-only was given"))),
        (false, true) => fill(reads.context, reads.start, reads.len),
    }
}

/// How fast reads are.
fn speeds(reads: &mut Reads<'_, '_, '_>) -> Result<(), Stop> {
    if reads.options.wants(Part::Queue) {
        reads.into.queue_depth_effective = or_reason(queue::measure(reads))?;
    }
    if reads.options.wants(Part::ReadCurve) {
        curve::measure(reads)?;
    }
    Ok(())
}

/// Units of the flash.
fn structure(reads: &mut Reads<'_, '_, '_>) -> Result<(), Stop> {
    let Some(survey) = survey::look(reads)? else { return Ok(()) };
    reads.into.read_unit_bytes = or_reason(pairs::read_unit(reads))?;
    match boundaries::measure(reads, &survey) {
        Err(Unmeasured::Because(why)) => {
            reads.into.page_bytes = Property::not_tested(why.clone());
            reads.into.erase_block_bytes = Property::not_tested(why);
            reads.into.map_segment_bytes = Property::not_tested(no_time(3.0));
        }
        Err(Unmeasured::Stop(stop)) => return Err(stop),
        Ok(found) => reads.into.map_segment_bytes = or_reason(boundaries::segment(reads, &survey, &found))?,
    }
    reads.into.findings.extend(survey::nothing_written(&survey, reads.into));
    Ok(())
}

/// Why boundaries are not looked for here.
fn no_boundaries(reads: &Reads<'_, '_, '_>) -> Option<String> {
    if !reads.options.card_addresses {
        return Some(IN_A_FILE.to_owned());
    }
    (reads.len < LEAST_CARD).then(|| format!("{} bytes are too few to find boundaries", reads.len))
}
