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
use crate::context::Context;
use crate::fill::{fill, unwritten};
use cardscope_engine::card::Stop;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::Property;
use span::Span;

/// Why boundaries mean nothing there.
const IN_A_FILE: &str = "offsets in a file are the file system's, not the card's";

/// Smaller cards have too few boundaries of anything.
const LEAST_CARD: u64 = 32 << 20;

/// Measures everything that reads can show.
pub(super) fn measure(
    context: &mut Context<'_, '_>,
    options: &Options,
    into: &mut Measured,
) -> Result<(), Stop> {
    let span = Span::of(context, options);
    if options.wants(Part::Boundaries) {
        structure(context, span, options, into)?;
    }
    if options.wants(Part::Planes) {
        match reason(span, options) {
            Some(why) => into.plane_bytes = Property::not_tested(why),
            None => planes::measure(context, span, into)?,
        }
    }
    let speeds = options.wants(Part::Queue) || options.wants(Part::ReadCurve);
    let untold = if speeds { written(context, span, options)? } else { None };
    if let Some(why) = &untold {
        into.queue_depth_effective = Property::not_tested(why.clone());
    }
    if options.wants(Part::Queue) && untold.is_none() {
        queue::measure(context, span, into)?;
    }
    if options.wants(Part::ReadCurve) && untold.is_none() {
        curve::measure(context, span, into)?;
    }
    if options.wants(Part::Axis) && options.card_addresses {
        axis::measure(context, into)?;
    }
    if options.tables && options.card_addresses {
        tables::measure(context, into)?;
    }
    Ok(())
}

/// Sees to it that reads reach the card; why they would not.
fn written(context: &mut Context<'_, '_>, span: Span, options: &Options) -> Result<Option<String>, Stop> {
    match (options.card_addresses, options.writes) {
        (true, _) => Ok(None),
        (false, false) => Ok(Some(unwritten("only reading was asked for"))),
        (false, true) => fill(context, span.start, span.len),
    }
}

/// Units of the flash.
fn structure(
    context: &mut Context<'_, '_>,
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
    let Some(survey) = survey::look(context, span, into)? else { return Ok(()) };
    read_unit::measure(context, span, into)?;
    boundaries::measure(context, span, &survey, into)?;
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
