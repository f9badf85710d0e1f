//! Page and erase block (3.1): rounds of triples over all levels until one account of them is beyond doubt, or an
//! effect worth the name is excluded; later rounds visit only the levels about which the accounts still open disagree.

use super::levels::{Found, Levels};
use super::patience::{End, LOOK, allowance, no_time};
use super::span::{Span, two_sectors};
use super::survey::Survey;
use super::window::{BOUNDARIES, triples};
use super::{segment, shown};
use crate::context::Context;
use cardscope_analysis::boundary::{self, Candidates, Choice, Level, divides, fit, height_error};
use cardscope_engine::card::Stop;
use cardscope_model::card_map::Measured;

/// Triples a level in the first rounds.
const BATCH: usize = 8;

/// ΔBIC from which on an account is beyond doubt.
const BEYOND_DOUBT: f64 = 12.0;

/// Effects of fewer than this share of a read's time are none: the smallest known, on NVMe cards, are 0.5 %.
const NO_EFFECT: f64 = 0.003;

/// The smallest effect on SD cards is 4.7 %: without anything above this after [`SHORT_LOOK`] there is none.
const NO_EFFECT_ON_SD: f64 = 0.02;

/// Seconds after which that is enough; a card that scatters as little as an NVMe card gets the longer look.
const SHORT_LOOK: f64 = 4.0;

/// Scatter of a triple, as a share of a read's time, below which effects of half a percent can be seen at all.
const STEADY: f64 = 0.035;

/// Looks for page and erase block, and for the segment of the map above them.
pub(super) fn measure(
    context: &mut Context<'_, '_>,
    span: Span,
    survey: &Survey,
    into: &mut Measured,
) -> Result<(), Stop> {
    context.phase("boundaries of pages and erase blocks");
    let before = context.spent();
    let Some(seconds) = allowance(context, &LOOK) else {
        (into.page_bytes, into.erase_block_bytes) = (no_time(LOOK[0]), no_time(LOOK[0]));
        into.map_segment_bytes = no_time(3.0);
        return Ok(());
    };
    context.shape(two_sectors(context) as u32, 1)?;
    let found = search(context, span, survey, seconds)?;
    let cost = context.cost_since(before);
    into.page_bytes = shown::page(&found, survey, cost);
    into.erase_block_bytes = shown::unit(&found, survey, cost);
    segment::measure(context, span, survey, &found, into)
}

fn search(context: &mut Context<'_, '_>, span: Span, survey: &Survey, seconds: f64) -> Result<Found, Stop> {
    let (began, end) = (context.seconds(), End::after(context, seconds));
    let (candidates, mut levels) = (Candidates::default(), Levels::default());
    let all = boundary::levels(span.len, u64::from(context.sector()));
    let (mut wanted, mut batch, mut rounds) = (all.clone(), BATCH, 0);
    loop {
        let in_time = round(context, span, survey, &wanted, batch, &mut levels, end)?;
        rounds += 1;
        let points = levels.levels();
        let fit = fit(&points, &candidates);
        let spent = context.seconds() - began;
        let open: Vec<&Choice> = fit
            .iter()
            .flat_map(|f| [&f.page, &f.unit])
            .filter(|c| !settled(c, &points, &levels, spent))
            .collect();
        if !in_time || (rounds > 1 && (fit.is_none() || open.is_empty())) {
            return Ok(Found { levels, fit, points });
        }
        if rounds > 1 {
            wanted = telling(&all, &open);
            batch = (batch * 3 / 2).min(16 * BATCH);
        }
    }
}

/// Times `batch` triples at each of the levels; false where the time ran out.
fn round(
    context: &mut Context<'_, '_>,
    span: Span,
    survey: &Survey,
    wanted: &[u64],
    batch: usize,
    into: &mut Levels,
    end: End,
) -> Result<bool, Stop> {
    let mut order: Vec<u64> = std::iter::repeat_n(wanted, batch).flatten().copied().collect();
    context.random.shuffle(&mut order);
    for window in order.chunks(BOUNDARIES) {
        into.add(&triples(context, span, survey, window, end)?);
        if end.is_there(context) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether more triples would change nothing: the choice is beyond doubt, or an effect that large is excluded.
fn settled(choice: &Choice, points: &[Level], levels: &Levels, spent: f64) -> bool {
    if choice.step.is_some() {
        return choice.lead > BEYOND_DOUBT;
    }
    let Some(nearest) = choice.nearest else { return true };
    let base = levels.base();
    let most = nearest.height.max(0.0) + 3.0 * height_error(points, nearest.bytes);
    let patient = spent < SHORT_LOOK || levels.spread() < STEADY * base;
    most < base * if patient { NO_EFFECT } else { NO_EFFECT_ON_SD }
}

/// The levels that some of the units still open divide and others do not; all where nothing is told apart by any.
fn telling(all: &[u64], open: &[&Choice]) -> Vec<u64> {
    let tells = |level: u64| {
        open.iter().any(|choice| {
            let mut crosses = choice.open.iter().map(|unit| divides(*unit, level));
            let first = crosses.next();
            crosses.any(|c| Some(c) != first)
        })
    };
    let some: Vec<u64> = all.iter().copied().filter(|level| tells(*level)).collect();
    if some.is_empty() { all.to_vec() } else { some }
}
