//! The parts of a map that only read (reference page `flash-behaviour`, 3.1 and 3.9): what a card shows to whoever
//! changes nothing on it. Each ends in a value with its evidence, in `none`, or in the reason why it was left out.

mod axis;
mod boundaries;
mod curve;
mod fill;
mod levels;
mod planes;
mod queue;
mod read_unit;
mod segment;
mod shown;
mod span;
mod survey;
mod tables;
mod window;

use super::{Options, Part};
use crate::site::Site;
use crate::trouble::Stop;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::Property;
use span::Span;

/// Why boundaries mean nothing there.
const IN_A_FILE: &str = "offsets in a file are the file system's, not the card's";

/// Smaller cards have too few boundaries of anything.
const LEAST_CARD: u64 = 32 << 20;

/// A part of many short reads ends after so many times the seconds that it should take: a card that stalls for minutes
/// must not stall the map at each read.
const PATIENCE: f64 = 5.0;

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
    let unwritten = if speeds { fill::fill(site, span, options)? } else { None };
    if let Some(why) = &unwritten {
        into.queue_depth_effective = Property::not_tested(why.clone());
    }
    if options.wants(Part::Queue) && unwritten.is_none() {
        queue::measure(site, span, into)?;
    }
    if options.wants(Part::ReadCurve) && unwritten.is_none() {
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

/// The most time of these that is left, longest first; `None` where even the shortest is too long.
fn allowance(site: &mut Site<'_, '_>, seconds: &[f64]) -> Option<f64> {
    seconds.iter().copied().find(|s| site.has_time(*s))
}

/// What is said of a part for which no time is left.
fn no_time<T>(seconds: f64) -> Property<T> {
    Property::not_tested(format!("the time given was too short for it; it takes about {seconds:.0} s"))
}
