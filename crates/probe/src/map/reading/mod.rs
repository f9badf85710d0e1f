//! The parts of a map that only read (reference page `flash-behaviour`, 3.1 and 3.9): what a card shows to whoever
//! changes nothing on it. Each ends in a value with its evidence, in `none`, or in the reason why it was left out.

mod axis;
mod boundaries;
mod curve;
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
use crate::fill::{fill, unwritten};
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

/// The least share of what was to be looked at, in random order, from which anything is said: half of 12 pairs of each
/// distance are 6, and hardly ever fewer than 3, so that a hiccup is not the median; of a quarter some distances would
/// have a single pair.
const LEAST_SHARE: f64 = 0.5;

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

/// The moment, in seconds of the card's clock, from which on a part reads no more.
#[derive(Debug, Clone, Copy)]
struct End(f64);

impl End {
    /// After so many seconds, or once the time given is up.
    fn after(site: &mut Site<'_, '_>, seconds: f64) -> End {
        End(site.seconds() + seconds.min(site.seconds_left()))
    }

    /// Once a part that should take so many seconds has taken many times as long.
    fn of_patience(site: &mut Site<'_, '_>, seconds: f64) -> End {
        End::after(site, PATIENCE * seconds)
    }

    /// Whether it has come.
    fn is_there(self, site: &mut Site<'_, '_>) -> bool {
        site.seconds() >= self.0
    }

    /// Why it came; `None` where it has not.
    fn reason(self, site: &mut Site<'_, '_>) -> Option<&'static str> {
        let in_time = site.has_time(0.0);
        self.is_there(site).then_some(if in_time {
            "the card answered too slowly"
        } else {
            "the time given was too short"
        })
    }

    /// Why too little was looked at before it came; `None` where that was enough to say something, or something else
    /// than the time has left things out.
    fn too_little(self, site: &mut Site<'_, '_>, seen: usize, wanted: usize, what: &str) -> Option<String> {
        let why = self.reason(site).filter(|_| (seen as f64) < LEAST_SHARE * wanted as f64)?;
        Some(format!("{why}: {seen} of {wanted} {what}"))
    }
}

/// The most time of these that is left, longest first; `None` where even the shortest is too long.
fn allowance(site: &mut Site<'_, '_>, seconds: &[f64]) -> Option<f64> {
    seconds.iter().copied().find(|s| site.has_time(*s))
}

/// What is said of a part for which no time is left.
fn no_time<T>(seconds: f64) -> Property<T> {
    Property::not_tested(format!("the time given was too short for it; it takes about {seconds:.0} s"))
}
