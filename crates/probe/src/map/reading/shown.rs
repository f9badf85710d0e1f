//! From a fit to properties: what counts as seen, and what it rests on.

use super::levels::Found;
use super::survey::Survey;
use cardscope_analysis::boundary::{Choice, Level, Step, height_error};
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::{Cost, Evidence, Property};

/// A unit is said where `none` is less probable than this …
const NOT_NONE: f64 = 0.02;

/// … and the extra time is more than this share of a read's.
const LEAST_HEIGHT: f64 = 0.003;

const METHOD: &str = "two sectors read before, on and behind boundaries of each size, at random places and in random \
                      order; what the read on the boundary takes longer is fitted with a step at the page and one at \
                      the erase block";

/// The page as the reads show it.
pub(super) fn page(found: &Found, survey: &Survey, cost: Cost) -> Property<u64> {
    property(found, survey, found.fit.as_ref().map(|f| &f.page), cost)
}

/// The erase block.
pub(super) fn unit(found: &Found, survey: &Survey, cost: Cost) -> Property<u64> {
    property(found, survey, found.fit.as_ref().map(|f| &f.unit), cost)
}

fn property(found: &Found, survey: &Survey, choice: Option<&Choice>, cost: Cost) -> Property<u64> {
    let Some((fit, choice)) = found.fit.as_ref().zip(choice) else {
        let why = match survey.modes {
            Some(_) => "too few boundaries were found with data on both sides of them",
            None => "too few reads succeeded, or too little time was left",
        };
        return Property::not_tested(why);
    };
    let base = found.levels.base();
    let seen = seen(choice, base);
    let marks = [(fit.page.step, "page"), (fit.unit.step, "erase block")];
    let marks = marks.into_iter().filter_map(|(step, name)| Some((step?.bytes as f64, name.to_owned())));
    let mut evidence = evidence(found, survey, choice.nearest).cost(cost);
    evidence.plot = Some(plot(&found.points, marks.collect()));
    match seen {
        Some(step) => Property::measured(step.bytes, choice.confidence.min(MOST_SURE), evidence),
        None => Property::none(choice.none.clamp(0.5, MOST_SURE), evidence),
    }
}

/// Nothing that rests on a model of the card is surer than this.
pub(super) const MOST_SURE: f64 = 0.999;

/// The unit, where there is one beyond doubt.
pub(super) fn seen(choice: &Choice, base: f64) -> Option<Step> {
    choice.step.filter(|step| choice.none < NOT_NONE && step.height > LEAST_HEIGHT * base)
}

fn evidence(found: &Found, survey: &Survey, nearest: Option<Step>) -> Evidence {
    let base = found.levels.base();
    let mut evidence = Evidence::by(METHOD);
    if let Some(step) = nearest {
        let error = height_error(&found.points, step.bytes);
        evidence = evidence
            .number("extra time across it", step.height * 1e6, "µs")
            .number("of a read", step.height / base.max(f64::MIN_POSITIVE) * 100.0, "%")
            .number("error of the extra time", error * 1e6, "µs")
            .number("likeliest size", step.bytes as f64, "bytes");
    }
    evidence = evidence
        .number("read that crosses nothing", base * 1e6, "µs")
        .number("scatter of a triple", found.levels.spread() * 1e6, "µs")
        .number("triples", found.levels.triples() as f64, "");
    if survey.constant > 0.99 {
        evidence = evidence.number("places that hold nothing", survey.constant * 100.0, "%");
    }
    evidence
}

/// Extra time by level.
pub(super) fn plot(points: &[Level], marks: Vec<(f64, String)>) -> Plot {
    let points = points.iter().map(|p| (p.bytes as f64, p.extra * 1e6)).collect();
    Plot {
        title: "Extra time of a read across a boundary".to_owned(),
        x: Axis::new("boundary of", "bytes", Scale::Log2),
        y: Axis::new("extra time", "µs", Scale::Linear),
        series: vec![Series { name: "extra time".to_owned(), points }],
        marks,
    }
}
