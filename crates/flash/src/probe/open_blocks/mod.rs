//! Open blocks: number of erase blocks that a card keeps open for writing, sequentially and at random, and the cost
//! of closing one (docs/reference/flash.md#open-blocks).

mod closing;
mod rounds;
mod search;

use crate::probe::options::Result;
use crate::probe::write_tester::{OPENING_BYTES, WriteTester};
use cardscope_model::card_map::plot::AxisScale::{Log2, Log10};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence, SearchCost};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_statistics::robust::median_shift;
use rounds::{JudgedRound, PositionOrder, TurnTest, judge_round};
use search::{MAX_OPEN_BLOCKS, OpenBlockLimit, search_limit};

/// Factor from which a random write in a single block is slow by itself, compared with a sequential one.
const OUT_OF_ORDER_FACTOR: f64 = 4.0;

const MAX_EQUAL_RATIO: f64 = 1.15;

pub(super) fn measure_open_blocks(bench: &mut WriteTester) -> Result<()> {
    bench.into.open_blocks.chosen_unit_bytes = bench.options.open_block_unit;
    let before = bench.context.total_cost();
    let mut linear = search_limit(bench, PositionOrder::Linear, None, None)?;
    let cost = bench.context.cost_since(before);
    // Recorded before the next search, which the limits may end.
    bench.into.open_blocks.linear = limit_property(&linear, PositionOrder::Linear, cost);
    let before = bench.context.total_cost();
    let mut random = search_limit(bench, PositionOrder::Random, Some(&linear.single_s), linear.limit)?;
    reconcile(bench, &mut linear, &mut random)?;
    let cost_of_random = bench.context.cost_since(before);
    bench.into.open_blocks.linear = limit_property(&linear, PositionOrder::Linear, cost);
    bench.into.open_blocks.random = limit_property(&random, PositionOrder::Random, cost_of_random);
    if linear.is_graded || random.is_graded {
        bench.into.findings.push(log_finding(&linear, &random));
    }
    closing::measure_closing(bench, &linear)
}

/// Corrects each limit by the results of the other order.
fn reconcile(
    bench: &mut WriteTester,
    linear: &mut OpenBlockLimit,
    random: &mut OpenBlockLimit,
) -> Result<()> {
    if is_log(linear, random) {
        (linear.is_graded, random.is_graded) = (true, true);
        (linear.limit, random.limit) = (None, None);
        return Ok(());
    }
    // Without a successful random write nothing follows for sequential ones.
    let open = random.limit.is_none() && random.most_free > 0;
    let Some(limit) = linear.limit.filter(|_| open) else { return Ok(()) };
    // Random writes that are slow by themselves may hide the cost of closing a block, so larger ones are tried.
    let Some(dearer) = are_writes_dearer_beyond(bench, limit)? else { return Ok(()) };
    if dearer {
        random.limit = Some(limit);
    } else if random.round(1).is_some_and(|r| r.shift.ratio() > OUT_OF_ORDER_FACTOR)
        && stays_dear(bench, linear)?
    {
        random.limit = Some(0);
    } else {
        // No card keeps more blocks open at random than in order, so the sequential limit is an effect of a log.
        (linear.is_graded, random.is_graded) = (true, true);
        linear.limit = None;
    }
    Ok(())
}

/// Runs in a single block after which a log has dropped most data of other blocks.
const SINGLE_BLOCK_RUNS: usize = 3;

/// Share of slow writes if every one merges its block.
const ALWAYS_SLOW_SHARE: f64 = 0.9;

/// True if random writes in a single block remain slow when repeated. A log that still holds data of many blocks
/// gets faster.
fn stays_dear(bench: &mut WriteTester, linear: &OpenBlockLimit) -> Result<bool> {
    let turns = TurnTest { blocks: 1, write_bytes: OPENING_BYTES, order: PositionOrder::Random };
    let mut last = None;
    for _ in 0..SINGLE_BLOCK_RUNS {
        last = turns.time_turns(bench, |_| false)?;
    }
    let judged = last.and_then(|times| judge_round(&times, &linear.single_s, 1, f64::INFINITY));
    Ok(judged.is_some_and(|j| j.slow >= ALWAYS_SLOW_SHARE && j.slow_later >= ALWAYS_SLOW_SHARE))
}

/// True for a card that writes everything out of order to one log: beyond the sequential "limit" writes cost as
/// much as random ones in one block, or the share of slow writes grows with the number of blocks, or random writes
/// beyond the limit are cheap.
fn is_log(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> bool {
    if random.is_graded || linear.is_graded || costs_little_beyond(linear, random) {
        return true;
    }
    let same = |a: &[f64], b: &[f64]| {
        median_shift(a, b).is_some_and(|s| (1.0 / MAX_EQUAL_RATIO..MAX_EQUAL_RATIO).contains(&s.ratio()))
    };
    let only_soft = linear.is_soft() && random.limit.is_none();
    only_soft && linear.limit.is_some_and(|limit| limit > 2) && same(&random.single_s, &linear.beyond_s)
}

/// True if random writes to more blocks than the sequential limit cost far less than a closing. A card that must
/// close a block for sequential writes must do so for random ones; a log full of earlier blocks merges one per
/// write, until writes to fewer blocks replace them.
fn costs_little_beyond(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> bool {
    let (Some(limit), Some(closing)) = (linear.limit, median(&linear.beyond_s)) else { return false };
    let cheap = |r: &JudgedRound| !r.is_above_limit() && OUT_OF_ORDER_FACTOR * r.median_s < closing;
    random.rounds.iter().any(|r| r.n > limit && cheap(r))
}

/// Size of a write in units of [`OPENING_BYTES`] if smaller ones are slow anyway, as soft limits need more data to copy
/// (docs/reference/flash.md#open-blocks); reduced until several rounds fit into a block.
const MAX_LARGE_FACTOR: u64 = 6;
const WRITES_PER_BLOCK: u64 = 14;

/// True if large random writes are slower with one block more than `limit`; `None` if too few succeeded.
fn are_writes_dearer_beyond(bench: &mut WriteTester, limit: u32) -> Result<Option<bool>> {
    let factor = bench.slots.certain_bytes() / WRITES_PER_BLOCK / u64::from(OPENING_BYTES);
    let write_bytes = OPENING_BYTES * factor.clamp(1, MAX_LARGE_FACTOR) as u32;
    let turns = |blocks| TurnTest { blocks, write_bytes, order: PositionOrder::Random };
    let least = 2 * limit as usize + 4;
    let Some(at) = turns(limit).time_turns(bench, |times| times.len() >= least)? else {
        return Ok(Some(false));
    };
    let Some(beyond) = turns(limit + 1).time_turns(bench, |times| times.len() >= least + 2)? else {
        return Ok(Some(false));
    };
    Ok(judge_round(&beyond, &at.first, limit + 1, MAX_EQUAL_RATIO).map(|j| j.is_above_limit()))
}

fn limit_property(found: &OpenBlockLimit, order: PositionOrder, cost: SearchCost) -> Property<u32> {
    let evidence = evidence(found, order).with_cost(cost);
    let confidence = found.confidence();
    match found.limit {
        Some(limit) => Property::measured(limit, confidence, evidence),
        None if found.is_graded => Property::none(confidence, evidence),
        None if found.most_free == 0 => Property::not_tested(found.end_reason),
        None => Property::at_least(found.most_free, confidence, evidence),
    }
}

fn evidence(found: &OpenBlockLimit, order: PositionOrder) -> PropertyEvidence {
    let inside = match order {
        PositionOrder::Linear => "in order",
        PositionOrder::Random => "random",
    };
    let method = format!(
        "writes of {} KiB {inside} in 1, 2, 4 … {MAX_OPEN_BLOCKS} fresh blocks in turn; slow means over four times the \
         median, SPRT 3 % against 80 %",
        OPENING_BYTES >> 10
    );
    let mut evidence = PropertyEvidence::from_method(method);
    if let Some(usual) = median(&found.typical_s) {
        evidence = evidence.with_number("usual write", usual * 1e3, "ms");
    }
    for round in found.rounds.iter().filter(|r| found.limit.is_none_or(|l| r.n.abs_diff(l) <= 1)) {
        evidence = evidence
            .with_number(&format!("median with {} in turn", round.n), round.median_s * 1e3, "ms")
            .with_number(&format!("slow writes with {} in turn", round.n), 100.0 * round.slow, "%");
    }
    evidence.with_plot(plot(found))
}

fn plot(found: &OpenBlockLimit) -> Plot {
    let rounds = found.rounds.iter();
    let mut points: Vec<(f64, f64)> = rounds.map(|r| (f64::from(r.n), r.median_s * 1e3)).collect();
    points.extend(median(&found.single_s).map(|t| (1.0, t * 1e3)));
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    let x = ("blocks in turn", "", Log2);
    let y = ("median of a write", "ms", Log10);
    Plot::new("time of a write by blocks in turn", x, y)
        .with_line("median", points)
        .with_marks(found.limit.map(|limit| (f64::from(limit), format!("limit {limit}"))))
}

fn log_finding(linear: &OpenBlockLimit, random: &OpenBlockLimit) -> Finding {
    let verdict = "The card collects random writes in a log, so open blocks have no limit.";
    let sure = linear.confidence().min(random.confidence());
    let finding = Finding::new("write-log", FindingWeight::Note, sure, verdict);
    let in_order = linear.rounds.iter().map(|r| ("in order", r));
    let rounds = in_order.chain(random.rounds.iter().map(|r| ("random", r)));
    rounds.filter(|(_, r)| r.slow > 0.0 || r.is_above_limit()).fold(finding, |finding, (order, r)| {
        let times = format!("median {:.2} ms, {:.0} % slow", r.median_s * 1e3, 100.0 * r.slow);
        finding.because(&format!("{} blocks {order}", r.n), times)
    })
}
