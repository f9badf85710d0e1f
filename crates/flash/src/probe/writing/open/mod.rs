//! How many erase blocks a card keeps open for writing, in order and at random, and what closing one costs
//! (docs/reference/flash.md#open-blocks).

mod closing;
mod judge;
mod search;
mod turns;

use super::bench::{BLOCK, WriteTester};
use cardscope_engine::card::ProbeStop;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::card_map::property::{Property, PropertyEvidence, SearchCost};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_statistics::robust::shift;
use judge::judge;
use search::{MOST, OpenBlockLimit, search};
use turns::{PositionOrder, TurnTest};

/// A write that is slow by itself, whatever is open: so many times one in order.
const OUT_OF_ORDER: f64 = 4.0;

/// Times that differ by less are the same cost.
const SAME: f64 = 1.15;

/// Finds both limits, and what closing a block copies.
pub(super) fn measure(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    bench.into.open_blocks.chosen_unit_bytes = bench.options.unit;
    let before = bench.context.spent();
    let mut linear = search(bench, PositionOrder::Linear, None, None)?;
    let cost = bench.context.cost_since(before);
    // Kept before the next part, which the limits may cut off.
    bench.into.open_blocks.linear = property(&linear, PositionOrder::Linear, cost);
    let before = bench.context.spent();
    let mut random = search(bench, PositionOrder::Random, Some(&linear.single), linear.limit)?;
    correct(bench, &mut linear, &mut random)?;
    let cost_of_random = bench.context.cost_since(before);
    bench.into.open_blocks.linear = property(&linear, PositionOrder::Linear, cost);
    bench.into.open_blocks.random = property(&random, PositionOrder::Random, cost_of_random);
    if linear.graded || random.graded {
        bench.into.findings.push(log_finding(&linear, &random));
    }
    closing::measure(bench, &linear)
}

/// What one order says about the other.
fn correct(
    bench: &mut WriteTester<'_, '_, '_>,
    linear: &mut OpenBlockLimit,
    random: &mut OpenBlockLimit,
) -> Result<(), ProbeStop> {
    if is_log(linear, random) {
        (linear.graded, random.graded) = (true, true);
        (linear.limit, random.limit) = (None, None);
        return Ok(());
    }
    // Of a card that took no writes out of order nothing follows for those in order.
    let open = random.limit.is_none() && random.free > 0;
    let Some(limit) = linear.limit.filter(|_| open) else { return Ok(()) };
    // Dear by themselves, writes out of order may hide that closing a block costs more still: larger ones show.
    let Some(dearer) = dearer_beyond(bench, limit)? else { return Ok(()) };
    if dearer {
        random.limit = Some(limit);
    } else if random.round(1).is_some_and(|r| r.shift.ratio() > OUT_OF_ORDER) && stays_dear(bench, linear)? {
        random.limit = Some(0);
    } else {
        // No card keeps more blocks open out of order than in order: what was seen in order is a log's doing.
        (linear.graded, random.graded) = (true, true);
        linear.limit = None;
    }
    Ok(())
}

/// Tests in a single block after which a log holds little else.
const TESTS: usize = 3;

/// Share of dear writes where each one merges its block.
const EVERY: f64 = 0.9;

/// Whether writes out of order in a single block stay dear, however many follow: a log that still holds what was
/// written to many blocks gets cheaper.
fn stays_dear(bench: &mut WriteTester<'_, '_, '_>, linear: &OpenBlockLimit) -> Result<bool, ProbeStop> {
    let turns = TurnTest { n: 1, block: BLOCK, order: PositionOrder::Random };
    let mut last = None;
    for _ in 0..TESTS {
        last = turns.run(bench, |_| false)?;
    }
    let judged = last.and_then(|times| judge(&times, &linear.single, 1, f64::INFINITY));
    Ok(judged.is_some_and(|j| j.slow >= EVERY && j.slow_later >= EVERY))
}

/// A card that writes to one log whatever comes out of order: what is beyond the "limit" in order costs as much as
/// anything out of order in one block, or the share of slow writes grows with the number of blocks, or so many blocks
/// cost little once the log holds less of others.
fn is_log(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> bool {
    if random.graded || linear.graded || costs_little_beyond(linear, random) {
        return true;
    }
    let same = |a: &[f64], b: &[f64]| shift(a, b).is_some_and(|s| (1.0 / SAME..SAME).contains(&s.ratio()));
    linear.limit.is_some_and(|limit| limit > 2)
        && linear.is_soft()
        && random.limit.is_none()
        && same(&random.single, &linear.beyond)
}

/// Whether writes out of order to more blocks than the limit in order cost far less than a closing. A card that must
/// close a block for the next one in order must do so out of order, too; a log that was full of the blocks of earlier
/// rounds merges one at each write, until writes to fewer blocks have taken their place.
fn costs_little_beyond(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> bool {
    let (Some(limit), Some(closing)) = (linear.limit, median(&linear.beyond)) else { return false };
    random.rounds.iter().any(|r| r.n > limit && !r.is_over() && OUT_OF_ORDER * r.median_s < closing)
}

/// Size of a write, in units of [`BLOCK`], where smaller ones are expensive whatever is open: soft limits need more to
/// copy (docs/reference/flash.md#open-blocks); fewer where a block has no room for some rounds of them.
const LARGE: u64 = 6;
const ROOM: u64 = 14;

/// Whether large writes out of order cost more with one block more in turn than `limit`; `None` where too few of them
/// succeeded.
fn dearer_beyond(bench: &mut WriteTester<'_, '_, '_>, limit: u32) -> Result<Option<bool>, ProbeStop> {
    let block = BLOCK * (bench.slots.inside() / ROOM / u64::from(BLOCK)).clamp(1, LARGE) as u32;
    let turns = |n| TurnTest { n, block, order: PositionOrder::Random };
    let Some(at) = turns(limit).run(bench, |times| times.len() >= 2 * limit as usize + 4)? else {
        return Ok(Some(false));
    };
    let Some(beyond) = turns(limit + 1).run(bench, |times| times.len() >= 2 * limit as usize + 6)? else {
        return Ok(Some(false));
    };
    Ok(judge(&beyond, &at.first, limit + 1, SAME).map(|j| j.is_over()))
}

fn property(found: &OpenBlockLimit, order: PositionOrder, cost: SearchCost) -> Property<u32> {
    let evidence = evidence(found, order).cost(cost);
    let confidence = found.confidence();
    match found.limit {
        Some(limit) => Property::measured(limit, confidence, evidence),
        None if found.graded => Property::none(confidence, evidence),
        None if found.free == 0 => Property::not_tested(found.ended),
        None => Property::at_least(found.free, confidence, evidence),
    }
}

fn evidence(found: &OpenBlockLimit, order: PositionOrder) -> PropertyEvidence {
    let inside = match order {
        PositionOrder::Linear => "in order",
        PositionOrder::Random => "random",
    };
    let method = format!(
        "writes of {} KiB {inside} in 1, 2, 4 … {MOST} fresh blocks in turn; slow means over four times the \
         median, SPRT 3 % against 80 %",
        BLOCK >> 10
    );
    let mut evidence = PropertyEvidence::by(method);
    if let Some(usual) = median(&found.usual) {
        evidence = evidence.number("usual write", usual * 1e3, "ms");
    }
    for round in found.rounds.iter().filter(|r| found.limit.is_none_or(|l| r.n.abs_diff(l) <= 1)) {
        evidence = evidence
            .number(&format!("median with {} in turn", round.n), round.median_s * 1e3, "ms")
            .number(&format!("slow writes with {} in turn", round.n), 100.0 * round.slow, "%");
    }
    evidence.plot(plot(found))
}

fn plot(found: &OpenBlockLimit) -> Plot {
    let mut points: Vec<(f64, f64)> =
        found.rounds.iter().map(|r| (f64::from(r.n), r.median_s * 1e3)).collect();
    points.extend(median(&found.single).map(|t| (1.0, t * 1e3)));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    let (x, y) = (
        PlotAxis::new("blocks in turn", "", AxisScale::Log2),
        PlotAxis::new("median of a write", "ms", AxisScale::Log10),
    );
    Plot::new("time of a write by blocks in turn", x, y)
        .line("median", points)
        .marked(found.limit.map(|limit| (f64::from(limit), format!("limit {limit}"))))
}

fn log_finding(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> Finding {
    let verdict = "The card collects random writes in a log, so open blocks have no limit.";
    let sure = linear.confidence().min(random.confidence());
    let finding = Finding::new("write-log", FindingWeight::Note, sure, verdict);
    let in_order = linear.rounds.iter().map(|r| ("in order", r));
    let rounds = in_order.chain(random.rounds.iter().map(|r| ("random", r)));
    rounds.filter(|(_, r)| r.slow > 0.0 || r.is_over()).fold(finding, |finding, (order, r)| {
        finding.because(
            &format!("{} blocks {order}", r.n),
            format!("median {:.2} ms, {:.0} % slow", r.median_s * 1e3, 100.0 * r.slow),
        )
    })
}
