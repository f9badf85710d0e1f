//! Page and erase block, from the extra time of reads across boundaries. Rounds of triples run over all levels
//! until one model is beyond doubt or every relevant effect is excluded; later rounds read only levels that
//! distinguish the models left.

use super::options::{Result, Sought};
use super::read_tester::{ReadDeadline, ReadTester, UNIT_SEARCH_S, stages};
use super::survey::ReadSurvey;
use super::triples::{BOUNDARIES, TripleLevels, UnitSearch, time_triples};
use cardscope_model::card_map::plot::AxisScale::{Linear, Log2};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence, SearchCost};
use cardscope_statistics::boundary;
use cardscope_statistics::boundary::{
    BoundaryLevel, CandidateUnits, EffectChoice, UnitStep, fit_levels, fit_segment, height_error,
    is_boundary, segment_candidates,
};

const BATCH: usize = 8;

/// ΔBIC from which a model is beyond doubt.
const BEYOND_DOUBT: f64 = 12.0;

/// Smaller effects, as a share of a read's time, count as none. The smallest on NVMe cards are 0.5 %.
const NO_EFFECT: f64 = 0.003;

/// Smallest effect that counts after [`SHORT_SEARCH_S`] on cards that scatter more, as a share of a read's time: SD
/// cards have 4.7 % or more.
const NO_EFFECT_ON_SD: f64 = 0.02;

/// Seconds after which [`NO_EFFECT_ON_SD`] applies. Cards with as little scatter as NVMe cards are tested longer.
const SHORT_SEARCH_S: f64 = 4.0;

/// Scatter of a triple, as a share of a read's time, below which effects of half a percent are measurable.
const STEADY_SCATTER: f64 = 0.035;

/// A unit is reported where `none` is less probable than this …
const MAX_NONE_PROBABILITY: f64 = 0.02;

/// … and the extra time exceeds this share of a read's time.
const MIN_EXTRA_SHARE: f64 = 0.003;

const METHOD: &str = "reads of two sectors before, on and after boundaries of each size, at random \
                      positions in random order; a step at the page and one at the erase block are fitted \
                      to the extra time on the boundary";

const SEGMENT_METHOD: &str =
    "the same reads at boundaries of 256 MiB and more, less the extra time of page and erase block";
const SEGMENT_BATCH: usize = 12;

const SEGMENT_SEARCH_S: [f64; 2] = [3.0, 1.0];

/// Smaller effects of a segment, as a share of a read's time, count as none; the smallest on record is 3 %.
const NO_SEGMENT: f64 = 0.015;

/// Smaller effects are not reported as a segment. On 57 generated cards, the 16 false segments lay below 2.3 %, all
/// true ones above 3 %.
const MIN_SEGMENT_SHARE: f64 = 0.025;

const MIN_CONFIDENCE: f64 = 0.8;

pub(super) fn measure_units(reads: &mut ReadTester, survey: &ReadSurvey) -> Sought<UnitSearch> {
    reads.context.begin_stage(stages::BOUNDARIES);
    let before = reads.context.total_cost();
    let seconds = reads.available_seconds(&UNIT_SEARCH_S)?;
    reads.context.set_queue(reads.two_sectors_bytes() as u32, 1)?;
    let end = reads.deadline_after(seconds);
    let found = search_units(reads, survey, end)?;
    let cost = reads.context.cost_since(before);
    let missing = match survey.modes {
        Some(_) => "too few boundaries have data on both sides",
        None => end.reason(reads.context).unwrap_or("too few reads succeeded"),
    };
    let property = |choice| unit_property(&found, choice, survey, missing, cost);
    reads.into.page_bytes = property(found.fit.as_ref().map(|f| &f.page));
    reads.into.erase_block_bytes = property(found.fit.as_ref().map(|f| &f.unit));
    Ok(found)
}

fn search_units(reads: &mut ReadTester, survey: &ReadSurvey, end: ReadDeadline) -> Result<UnitSearch> {
    let began = reads.context.seconds();
    let (candidates, mut levels) = (CandidateUnits::default(), TripleLevels::default());
    let all = boundary::measured_levels(reads.len, u64::from(reads.context.sector()));
    let (mut wanted, mut batch, mut rounds) = (all.clone(), BATCH, 0);
    loop {
        let in_time = time_round(reads, survey, &wanted, batch, &mut levels, end)?;
        rounds += 1;
        let points = levels.levels();
        let fit = fit_levels(&points, &candidates);
        let spent = reads.context.seconds() - began;
        let choices = fit.iter().flat_map(|f| [&f.page, &f.unit]);
        let open = choices.filter(|c| !is_settled(c, &points, &levels, spent));
        let open: Vec<&EffectChoice> = open.collect();
        if !in_time || (rounds > 1 && (fit.is_none() || open.is_empty())) {
            return Ok(UnitSearch { levels, fit, points });
        }
        if rounds > 1 {
            wanted = distinguishing_levels(&all, &open);
            batch = (batch * 3 / 2).min(16 * BATCH);
        }
    }
}

/// Times `batch` triples at each level. Returns false if the time ran out.
fn time_round(
    reads: &mut ReadTester,
    survey: &ReadSurvey,
    wanted: &[u64],
    batch: usize,
    into: &mut TripleLevels,
    end: ReadDeadline,
) -> Result<bool> {
    let mut order: Vec<u64> = std::iter::repeat_n(wanted, batch).flatten().copied().collect();
    reads.context.random.shuffle(&mut order);
    for window in order.chunks(BOUNDARIES) {
        into.add(&time_triples(reads, survey, window, end)?);
        if end.is_reached(reads.context) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if more triples would change nothing: the model is beyond doubt, or an effect of this size is excluded.
fn is_settled(choice: &EffectChoice, points: &[BoundaryLevel], levels: &TripleLevels, spent: f64) -> bool {
    if choice.step.is_some() {
        return choice.lead > BEYOND_DOUBT;
    }
    let Some(nearest) = choice.nearest else { return true };
    let base = levels.plain_read_s();
    let most = nearest.height.max(0.0) + 3.0 * height_error(points, nearest.bytes);
    let patient = spent < SHORT_SEARCH_S || levels.triple_scatter() < STEADY_SCATTER * base;
    most < base * if patient { NO_EFFECT } else { NO_EFFECT_ON_SD }
}

/// Levels that some of the open units divide and others do not, or all levels if none distinguishes them.
fn distinguishing_levels(all: &[u64], open: &[&EffectChoice]) -> Vec<u64> {
    let tells = |level: u64| {
        open.iter().any(|choice| {
            let mut crosses = choice.open.iter().map(|unit| is_boundary(*unit, level));
            let first = crosses.next();
            crosses.any(|c| Some(c) != first)
        })
    };
    let some: Vec<u64> = all.iter().copied().filter(|level| tells(*level)).collect();
    if some.is_empty() { all.to_vec() } else { some }
}

fn unit_property(
    found: &UnitSearch,
    choice: Option<&EffectChoice>,
    survey: &ReadSurvey,
    missing: &str,
    cost: SearchCost,
) -> Property<u64> {
    let Some((fit, choice)) = found.fit.as_ref().zip(choice) else {
        return Property::not_tested(missing);
    };
    let base = found.levels.plain_read_s();
    let seen = significant_step(choice, base);
    let marks = [(fit.page.step, "page"), (fit.unit.step, "erase block")];
    let marks = marks.into_iter().filter_map(|(step, name)| Some((step?.bytes as f64, name.to_owned())));
    let mut evidence = evidence(found, survey, choice.nearest).with_cost(cost);
    evidence.plot = Some(plot(&found.points, marks));
    match seen {
        Some(step) => Property::measured(step.bytes, choice.confidence.min(MAX_CONFIDENCE), evidence),
        None => Property::none(choice.none.clamp(0.5, MAX_CONFIDENCE), evidence),
    }
}

/// Highest confidence of a result, since all of them rest on a model of the card.
const MAX_CONFIDENCE: f64 = 0.999;

fn significant_step(choice: &EffectChoice, base: f64) -> Option<UnitStep> {
    choice.step.filter(|step| choice.none < MAX_NONE_PROBABILITY && step.height > MIN_EXTRA_SHARE * base)
}

fn evidence(found: &UnitSearch, survey: &ReadSurvey, nearest: Option<UnitStep>) -> PropertyEvidence {
    let base = found.levels.plain_read_s();
    let mut evidence = PropertyEvidence::from_method(METHOD);
    if let Some(step) = nearest {
        let error = height_error(&found.points, step.bytes);
        evidence = evidence
            .with_number("extra time", step.height * 1e6, "µs")
            .with_number("of a read", step.height / base.max(f64::MIN_POSITIVE) * 100.0, "%")
            .with_number("error of the extra time", error * 1e6, "µs")
            .with_number("likeliest size", step.bytes as f64, "bytes");
    }
    evidence = evidence
        .with_number("plain read", base * 1e6, "µs")
        .with_number("scatter of a triple", found.levels.triple_scatter() * 1e6, "µs")
        .with_number("triples", found.levels.triple_count() as f64, "");
    if survey.constant_share > 0.99 {
        evidence = evidence.with_number("empty positions", survey.constant_share * 100.0, "%");
    }
    evidence
}

fn plot(points: &[BoundaryLevel], marks: impl IntoIterator<Item = (f64, String)>) -> Plot {
    let x = ("boundary of", "bytes", Log2);
    let y = ("extra time", "µs", Linear);
    Plot::new("Extra time of a read across a boundary", x, y)
        .with_line("extra time", points.iter().map(|p| (p.bytes as f64, p.extra * 1e6)))
        .with_marks(marks)
}

/// Searches the segment of the mapping table: a further rise of the extra time, far above any erase block. 11 of 46
/// public runs have one at 1 to 2 GiB, which must not be mistaken for an erase block.
pub(super) fn measure_segment(
    reads: &mut ReadTester,
    survey: &ReadSurvey,
    below: &UnitSearch,
) -> Sought<Property<u64>> {
    let segments = segment_candidates(reads.len);
    let fit = below.fit.as_ref().ok_or("boundaries of smaller units could not be tested")?;
    if segments.len() < 4 {
        return Err("the card is too small to hold several segments".into());
    }
    let seconds = reads.available_seconds(&SEGMENT_SEARCH_S)?;
    reads.context.begin_stage(stages::MAPPING);
    let (before, end) = (reads.context.total_cost(), reads.deadline_after(seconds));
    let mut levels = TripleLevels::default();
    let choice = loop {
        let mut order: Vec<u64> = std::iter::repeat_n(&segments, SEGMENT_BATCH).flatten().copied().collect();
        reads.context.random.shuffle(&mut order);
        for window in order.chunks(BOUNDARIES) {
            levels.add(&time_triples(reads, survey, window, end)?);
        }
        let mut left = levels.levels();
        left.iter_mut().for_each(|level| level.extra -= fit.expected_extra(level.bytes));
        let choice = fit_segment(&left, &segments);
        let settled = choice.as_ref().is_none_or(|c| is_segment_settled(c, &left, levels.plain_read_s()));
        if settled || end.is_reached(reads.context) {
            break choice;
        }
    };
    let points: Vec<BoundaryLevel> = below.points.iter().copied().chain(levels.levels()).collect();
    let evidence = PropertyEvidence::from_method(SEGMENT_METHOD)
        .with_number("plain read", levels.plain_read_s() * 1e6, "µs")
        .with_number("triples", levels.triple_count() as f64, "")
        .with_cost(reads.context.cost_since(before));
    let none = "no boundary of a segment has data on both sides";
    let choice = choice.ok_or_else(|| end.reason(reads.context).unwrap_or(none))?;
    Ok(segment_property(choice, &points, &levels, evidence))
}

fn is_segment_settled(choice: &EffectChoice, left: &[BoundaryLevel], base: f64) -> bool {
    match (choice.step, choice.nearest) {
        (Some(_), _) => choice.lead > BEYOND_DOUBT,
        (None, Some(nearest)) => {
            // Without a segment the remaining extra time is zero, so only the levels that cross it matter.
            let crossing = left.iter().filter(|l| is_boundary(nearest.bytes, l.bytes));
            let error = crossing.map(|l| l.error.powi(-2)).sum::<f64>().powf(-0.5);
            nearest.height + 3.0 * error < NO_SEGMENT * base
        }
        (None, None) => true,
    }
}

fn segment_property(
    choice: EffectChoice,
    points: &[BoundaryLevel],
    levels: &TripleLevels,
    evidence: PropertyEvidence,
) -> Property<u64> {
    let base = levels.plain_read_s();
    match significant_step(&choice, base) {
        Some(step) if step.height < MIN_SEGMENT_SHARE * base => {
            Property::none(MIN_CONFIDENCE, evidence.with_plot(plot(points, [])))
        }
        Some(step) => {
            let marks = [(step.bytes as f64, "segment of the mapping table".to_owned())];
            let evidence = evidence
                .with_number("extra time", step.height * 1e6, "µs")
                .with_number("extra time", step.height / base * 100.0, "%")
                .with_plot(plot(points, marks));
            Property::measured(step.bytes, choice.confidence.min(MAX_CONFIDENCE), evidence)
        }
        // A probability near one half is no result: the time was too short to decide.
        None if choice.none < MIN_CONFIDENCE => Property::not_tested(format!(
            "undecided: no such segment, {:.0} % sure after {} reads",
            choice.none * 100.0,
            levels.triple_count()
        )),
        None => Property::none(choice.none.min(MAX_CONFIDENCE), evidence.with_plot(plot(points, []))),
    }
}
