//! Bytes and speed of the copy when a block is closed, from the cost after different amounts written to it. If
//! reads showed no erase block, its size too: a block written as a whole needs no closing
//! (docs/reference/flash.md#closing-a-block).

use super::search::OpenBlockLimit;
use crate::probe::options::Result;
use crate::probe::write_tester::{OPENING_BYTES, WriteTester};
use cardscope_model::card_map::plot::AxisScale::{Linear, Log2};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence, PropertyStatus, SearchCost};
use cardscope_model::statistics::median;
use cardscope_model::units::MIB;

const REPEATS: usize = 3;

/// Sizes to try for the erase block: powers of two and three times such.
const UNITS_MIB: [u64; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// Share of a closing's cost below which opening the next block counts as free.
const FREE_SHARE: f64 = 0.15;

/// Cost ratio of closing with a quarter written to little written: 3/4 if the card copies the rest, 1 if it copies
/// the whole block, far more if it copies what was written. Public logs have 0.71 to 0.73 and 0.85 to 0.95.
const RATIOS: (f64, f64) = (0.82, 1.6);

pub(super) fn measure_closing(bench: &mut WriteTester, linear: &OpenBlockLimit) -> Result<()> {
    let Some(limit) = linear.limit.filter(|limit| *limit > 0) else {
        let why = match linear.most_free {
            0 => linear.end_reason.to_owned(),
            free => format!("no closing within {free} blocks in turn"),
        };
        set_not_tested(bench, &why);
        return Ok(());
    };
    open_beyond_limit(bench, limit)?;
    let (Some(usual), Some(beyond)) = (median(&linear.typical_s), median(&linear.beyond_s)) else {
        return Ok(());
    };
    // With a limit of one block, the typical time is from the first round; beyond the limit every write closes a
    // block.
    let short = beyond - usual;
    if bench.into.erase_block_bytes.status != PropertyStatus::Measured && bench.options.card_addresses {
        measure_erase_block(bench, usual, short)?;
        bench.use_measured_unit();
        open_beyond_limit(bench, limit)?;
    }
    let Some(unit) = bench.into.erase_block_bytes.value else {
        set_not_tested(bench, "the erase block is not known");
        return Ok(());
    };
    let before = bench.context.total_cost();
    let long = quarter_closings(bench, limit, unit, usual)?;
    let cost = bench.context.cost_since(before);
    match median(&long) {
        Some(long) => set_merge_and_speed(bench, unit, (short, long), cost),
        None => set_not_tested(bench, "closing a partly written block could not be timed"),
    }
    Ok(())
}

/// Opens one block more than the limit, so that all blocks of earlier tests are closed.
fn open_beyond_limit(bench: &mut WriteTester, limit: u32) -> Result<()> {
    let Some(places) = bench.take_positions(limit as usize + 1) else { return Ok(()) };
    bench.open_blocks(&places).map(drop)
}

fn set_not_tested(bench: &mut WriteTester, why: &str) {
    bench.into.merge = Property::not_tested(why);
    bench.into.copy_mb_s = Property::not_tested(why);
}

fn set_merge_and_speed(bench: &mut WriteTester, unit: u64, (short, long): (f64, f64), cost: SearchCost) {
    let (few, quarter) = (f64::from(OPENING_BYTES), unit as f64 / 4.0);
    let ratio = long / short;
    let (kind, bytes, seconds) = match ratio {
        r if r < RATIOS.0 => ("rest", quarter - few, short - long),
        r if r < RATIOS.1 => ("all", unit as f64, long.midpoint(short)),
        _ => ("written", quarter - few, long - short),
    };
    let method = "blocks with 48 KiB and with a quarter written, closed by opening others";
    let evidence = PropertyEvidence::from_method(method)
        .with_number("closing with little written", short * 1e3, "ms")
        .with_number("closing with a quarter written", long * 1e3, "ms")
        .with_number("ratio", ratio, "")
        .with_cost(cost);
    // Three closings agree within about 5 %; the kinds are 25 % apart.
    let distance = (ratio / RATIOS.0).ln().abs().min((ratio / RATIOS.1).ln().abs());
    let confidence = (1.0 - (-distance / 0.04).exp()).clamp(0.5, 0.98);
    bench.into.merge = Property::measured(kind.to_owned(), confidence, evidence.clone());
    if seconds > 0.0 {
        bench.into.copy_mb_s = Property::measured(bytes / seconds / 1e6, confidence, evidence);
    }
}

fn quarter_closings(bench: &mut WriteTester, limit: u32, unit: u64, usual: f64) -> Result<Vec<f64>> {
    let mut closings = Vec::new();
    for _ in 0..REPEATS {
        let Some(place) = bench.take_positions(1).map(|p| p[0]) else { break };
        let Some(touch) = close_block(bench, place, unit / 4, limit)? else { break };
        // Without the typical cost of opening a block, only the closing is left.
        closings.push((touch - usual).max(0.0));
    }
    Ok(closings)
}

/// Writes `bytes` in order at `place`, then opens `limit` other blocks, so that the card closes the first. Returns the
/// seconds of the last opening; `None` if fewer positions are unused.
fn close_block(bench: &mut WriteTester, place: u64, bytes: u64, limit: u32) -> Result<Option<f64>> {
    let Some(others) = bench.take_positions(limit as usize) else { return Ok(None) };
    bench.write_in_order(place, bytes)?;
    let times = bench.open_blocks(&others)?;
    Ok(times.last().copied().filter(|_| times.len() == others.len()))
}

/// Finds the erase block as the shortest aligned write after which opening another block is free.
fn measure_erase_block(bench: &mut WriteTester, usual: f64, short: f64) -> Result<()> {
    let before = bench.context.total_cost();
    let mut ruler = vec![(f64::from(OPENING_BYTES), short)];
    for mib in UNITS_MIB {
        bench.require_time(4.0 * short)?;
        let Some(opening) = opening_cost_after(bench, mib * MIB, usual)? else { break };
        ruler.push(((mib * MIB) as f64, opening));
        // Repeated, since a closing may be absent for another reason.
        let is_free = |cost: f64| cost < FREE_SHARE * short;
        if is_free(opening) && opening_cost_after(bench, mib * MIB, usual)?.is_some_and(is_free) {
            let evidence = evidence(&ruler, mib).with_cost(bench.context.cost_since(before));
            bench.into.erase_block_bytes = Property::measured(mib * MIB, 0.97, evidence);
            return Ok(());
        }
    }
    Ok(())
}

/// Extra seconds to open another block after `bytes` were written sequentially with all other blocks open. A block
/// written as a whole is closed without a copy and leaves room; a partly written one is still open, so a block must
/// be closed.
fn opening_cost_after(bench: &mut WriteTester, bytes: u64, usual: f64) -> Result<Option<f64>> {
    let Some(place) = bench.take_range(bytes) else { return Ok(None) };
    let Some(other) = bench.take_positions(1).map(|p| p[0]) else { return Ok(None) };
    bench.write_in_order(place, bytes)?;
    let touch = bench.open_blocks(&[other])?;
    Ok(touch.first().map(|touch| (touch - usual).max(0.0)))
}

fn evidence(ruler: &[(f64, f64)], mib: u64) -> PropertyEvidence {
    let x = ("written sequentially", "bytes", Log2);
    let y = ("extra time", "ms", Linear);
    let plot = Plot::new("time to open another block by amount written before", x, y)
        .with_line("opening another", ruler.iter().map(|(x, t)| (*x, t * 1e3)))
        .with_marks([((mib * MIB) as f64, format!("{mib} MiB written whole: room for another"))]);
    let method = "blocks written to a growing length, then another opened; only a block written whole needs no closing";
    PropertyEvidence::from_method(method)
        .with_number("closing with little written", ruler[0].1 * 1e3, "ms")
        .with_number("opening another when written whole", ruler[ruler.len() - 1].1 * 1e3, "ms")
        .with_plot(plot)
}
