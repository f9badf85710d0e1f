//! The segment of the mapping table: a further rise of the same extra time, far above any erase block (11 of 46 public
//! runs have one at 1 to 2 GiB; taken for an erase block it would mislead everybody).

use super::levels::{Found, Levels};
use super::patience::{End, allowance, no_time};
use super::shown::{MOST_SURE, plot, seen};
use super::span::Span;
use super::survey::Survey;
use super::window::{BOUNDARIES, triples};
use crate::context::Context;
use cardscope_analysis::boundary::{Choice, Level, divides, fit_segment, segment_candidates};
use cardscope_engine::card::Stop;
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::property::{Evidence, Property};

/// Triples a level and round.
const BATCH: usize = 12;

/// Seconds that it may take.
const LOOK: [f64; 2] = [3.0, 1.0];

/// ΔBIC from which on the answer stands.
const BEYOND_DOUBT: f64 = 12.0;

/// An effect below this share of a read's time is none; the smallest known is 3 %.
const NO_EFFECT: f64 = 0.015;

/// `none` is only said from this probability on.
const LEAST_SURE: f64 = 0.8;

/// Looks for it.
pub(super) fn measure(
    context: &mut Context<'_, '_>,
    span: Span,
    survey: &Survey,
    below: &Found,
    into: &mut Measured,
) -> Result<(), Stop> {
    let segments = segment_candidates(span.len);
    let Some(fit) = &below.fit else {
        into.map_segment_bytes = Property::not_tested("boundaries of smaller units could not be looked at");
        return Ok(());
    };
    if segments.len() < 4 {
        into.map_segment_bytes = Property::not_tested("the card is too small to hold several segments");
        return Ok(());
    }
    let Some(seconds) = allowance(context, &LOOK) else {
        into.map_segment_bytes = no_time(3.0);
        return Ok(());
    };
    context.phase("segments of the mapping table");
    let (before, end) = (context.spent(), End::after(context, seconds));
    let mut levels = Levels::default();
    let choice = loop {
        let mut order: Vec<u64> = std::iter::repeat_n(&segments, BATCH).flatten().copied().collect();
        context.random.shuffle(&mut order);
        for window in order.chunks(BOUNDARIES) {
            levels.add(&triples(context, span, survey, window, end)?);
        }
        let left = left_over(&levels.levels(), |level| fit.at(level));
        let choice = fit_segment(&left, &segments);
        let settled = choice.as_ref().is_none_or(|c| settled(c, &left, levels.base()));
        if settled || end.is_there(context) {
            break choice;
        }
    };
    let points: Vec<Level> = below.points.iter().copied().chain(levels.levels()).collect();
    let method = "the same triples at boundaries of 256 MiB and more, less what page and erase block explain";
    let evidence = Evidence::by(method)
        .number("read that crosses nothing", levels.base() * 1e6, "µs")
        .number("triples", levels.triples() as f64, "");
    let evidence = evidence.cost(context.cost_since(before));
    into.map_segment_bytes = property(choice, &points, &levels, evidence);
    Ok(())
}

fn left_over(levels: &[Level], expected: impl Fn(u64) -> f64) -> Vec<Level> {
    levels.iter().map(|l| Level { extra: l.extra - expected(l.bytes), ..*l }).collect()
}

fn settled(choice: &Choice, left: &[Level], base: f64) -> bool {
    match (choice.step, choice.nearest) {
        (Some(_), _) => choice.lead > BEYOND_DOUBT,
        (None, Some(nearest)) => {
            // Without a segment nothing is left over, so the levels that cross it stand alone.
            let crossing = left.iter().filter(|l| divides(nearest.bytes, l.bytes));
            let error = crossing.map(|l| l.error.powi(-2)).sum::<f64>().powf(-0.5);
            nearest.height + 3.0 * error < NO_EFFECT * base
        }
        (None, None) => true,
    }
}

fn property(choice: Option<Choice>, points: &[Level], levels: &Levels, evidence: Evidence) -> Property<u64> {
    let base = levels.base();
    let Some(choice) = choice else {
        return Property::not_tested(
            "no boundary of a segment could be read with data on both sides of it, or too little time was left",
        );
    };
    match seen(&choice, base) {
        Some(step) => {
            let marks = vec![(step.bytes as f64, "segment of the mapping table".to_owned())];
            let evidence = evidence
                .number("extra time across it", step.height * 1e6, "µs")
                .number("extra time", step.height / base * 100.0, "%")
                .plot(plot(points, marks));
            Property::measured(step.bytes, choice.confidence.min(MOST_SURE), evidence)
        }
        // A coin's word is none: what the time allowed leaves both open.
        None if choice.none < LEAST_SURE => Property::not_tested(format!(
            "reads leave it open: that there is none is {:.0} % sure after {} triples",
            choice.none * 100.0,
            levels.triples()
        )),
        None => Property::none(choice.none.min(MOST_SURE), evidence.plot(plot(points, Vec::new()))),
    }
}
