//! The parts of a map that only read (reference page `flash-behaviour`, 3.1 and 3.9): what a card shows to whoever
//! changes nothing on it. Each ends in a value with its evidence, in `none`, or in the reason why it was left out.

mod axis;
mod boundaries;
mod curve;
mod levels;
mod patience;
mod planes;
mod queue;
mod read_unit;
mod segment;
mod shown;
mod span;
mod survey;
mod tables;
mod window;

use super::options::{Options, Part};
use crate::fill::{fill, unwritten};
use crate::site::Site;
use cardscope_engine::card::Stop;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::Property;
use span::Span;

/// Why boundaries mean nothing there.
const IN_A_FILE: &str = "offsets in a file are the file system's, not the card's";

/// Smaller cards have too few boundaries of anything.
const LEAST_CARD: u64 = 32 << 20;

/// Measures everything that reads can show.
pub(super) fn measure(site: &mut Site<'_, '_>, options: &Options, into: &mut Measured) -> Result<(), Stop> {
    let span = Span::of(site, options);
    if options.wants(Part::Boundaries) {
        structure(site, span, options, into)?;
    }
    if options.wants(Part::Planes) {
        match reason(span, options) {
            Some(why) => into.plane_bytes = Property::not_tested(why),
            None => planes::measure(site, span, into)?,
        }
    }
    let speeds = options.wants(Part::Queue) || options.wants(Part::ReadCurve);
    let untold = if speeds { written(site, span, options)? } else { None };
    if let Some(why) = &untold {
        into.queue_depth_effective = Property::not_tested(why.clone());
    }
    if options.wants(Part::Queue) && untold.is_none() {
        queue::measure(site, span, into)?;
    }
    if options.wants(Part::ReadCurve) && untold.is_none() {
        curve::measure(site, span, into)?;
    }
    if options.wants(Part::Axis) && options.card_addresses {
        axis::measure(site, into)?;
    }
    if options.tables && options.card_addresses {
        tables::measure(site, into)?;
    }
    Ok(())
}

/// Sees to it that reads reach the card; why they would not.
fn written(site: &mut Site<'_, '_>, span: Span, options: &Options) -> Result<Option<String>, Stop> {
    match (options.card_addresses, options.writes) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(unwritten("only reading was asked for"))),
        (false, true) => fill(site, span.start, span.len),
    }
}

/// Units of the flash.
fn structure(
    site: &mut Site<'_, '_>,
    span: Span,
    options: &Options,
    into: &mut Measured,
) -> Result<(), Stop> {
    if let Some(why) = reason(span, options) {
        into.page_bytes = Property::not_tested(why.clone());
        into.erase_block_bytes = Property::not_tested(why.clone());
        into.map_segment_bytes = Property::not_tested(why.clone());
        into.unmapped_share = Property::not_tested(why.clone());
        into.read_unit_bytes = Property::not_tested(why);
        return Ok(());
    }
    let Some(survey) = survey::look(site, span, into)? else { return Ok(()) };
    read_unit::measure(site, span, into)?;
    boundaries::measure(site, span, &survey, into)?;
    into.findings.extend(survey::nothing_written(&survey, into));
    Ok(())
}

/// Why boundaries are not looked for here.
fn reason(span: Span, options: &Options) -> Option<String> {
    if !options.card_addresses {
        return Some(IN_A_FILE.to_owned());
    }
    (span.len < LEAST_CARD).then(|| format!("{} bytes have too few boundaries of anything", span.len))
}
