//! Page according to writes, and the log for small writes that some cards have
//! (docs/reference/flash.md#cost-of-a-write, docs/reference/flash.md#small-write-log).

use super::options::Result;
use super::write_tester::WriteTester;
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::plot::AxisScale::{Log2, Log10};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence, PropertyStatus, SearchCost};
use cardscope_model::statistics::median;
use cardscope_model::units::KIB;
use cardscope_statistics::page_size::{PageBend, SizeTime, find_page};
use cardscope_statistics::robust::{median_error, robust_deviation};

const SIZES_KIB: [u64; 11] = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96];

/// Writes per size: the median is accurate to 2 % with 6 % of scatter.
const WRITES: u64 = 24;

/// Size from which half as many writes are enough.
const LARGE_BYTES: u64 = 48 * KIB;

/// Factor over twice the size from which a size is treated specially by the card (21 against 3 ms on real cards).
/// Writes below a page cost less than this.
const DEAR_FACTOR: f64 = 4.0;

/// Above the limit of open blocks, small writes below this share of larger ones go to a log.
const LOG_SHARE: f64 = 0.4;

/// Sizes in KiB that may go to a log (4 and 8 KiB on real cards), and larger ones.
const LOG_KIB: [u64; 4] = [4, 8, 16, 32];

const LOG_TURNS: usize = 4;

const METHOD: &str = "sequential writes of 1 to 96 KiB in two fresh blocks in turn; those below a page, or cutting \
                      one, take longer";
const MIN_CONFIDENCE: f64 = 0.5;

pub(super) fn measure_page_writes(bench: &mut WriteTester) -> Result<()> {
    let before = bench.context.total_cost();
    let times = time_sizes(bench)?;
    let cost = bench.context.cost_since(before);
    let of = |bytes: f64| times.iter().find(|t| t.bytes == bytes).map(|t| t.seconds);
    let is_dear = |t: &&SizeTime| of(2.0 * t.bytes).is_some_and(|twice| t.seconds > DEAR_FACTOR * twice);
    let threshold = times.iter().rev().find(is_dear).map(|t| t.bytes);
    let mut usable = times.clone();
    usable.retain(|t| threshold.is_none_or(|bytes| t.bytes > bytes));
    if let Some(bend) = find_page(&usable) {
        combine_with_reads(bench, bend, &times, cost);
    }
    measure_write_log(bench, &times, threshold)
}

/// Times sequential writes by size in two alternating blocks if the card keeps two open, so that nothing is merged
/// in memory.
fn time_sizes(bench: &mut WriteTester) -> Result<Vec<SizeTime>> {
    let sector = u64::from(bench.context.sector());
    let mut sizes: Vec<u64> = SIZES_KIB.iter().map(|kib| kib * KIB).filter(|size| *size >= sector).collect();
    bench.context.random.shuffle(&mut sizes);
    let open = bench.into.open_blocks.linear.value.unwrap_or(2);
    let blocks = if open >= 2 { 2 } else { 1 };
    let mut found = Vec::new();
    for size in sizes {
        bench.require_time(0.2)?;
        let Some(places) = bench.take_positions(blocks) else { break };
        let rounds = if size < LARGE_BYTES { WRITES } else { WRITES / 2 } / blocks as u64;
        let len = size as u32;
        let at = |round: u64| places.iter().map(move |p| CardExtent { offset: p + round * size, len });
        // The first writes open the blocks, so they are not timed.
        bench.write_all(&at(0).collect::<Vec<_>>())?;
        let times = bench.write_all(&(1..=rounds).flat_map(at).collect::<Vec<_>>())?;
        let Some(seconds) = median(&times) else { continue };
        let error = median_error(robust_deviation(&times, seconds).unwrap_or(0.0), times.len());
        found.push(SizeTime { bytes: size as f64, seconds, error });
    }
    found.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    Ok(found)
}

/// Combines the page according to writes with the one according to reads: agreement raises the confidence, else the
/// more confident one is used.
fn combine_with_reads(bench: &mut WriteTester, bend: PageBend, times: &[SizeTime], cost: SearchCost) {
    let evidence = evidence(times, bend).with_cost(cost);
    let read = &mut bench.into.page_bytes;
    let odds = |p: f64| (p.clamp(1e-4, 1.0 - 1e-4) / (1.0 - p.clamp(1e-4, 1.0 - 1e-4))).ln();
    let confidence = |odds: f64| (1.0 / (1.0 + (-odds).exp())).min(0.995);
    let Some(page) = bend.page.map(|page| page as u64) else {
        if read.status == PropertyStatus::NotTested {
            *read = match bend.confidence {
                sure if sure >= MIN_CONFIDENCE => Property::none(sure, evidence),
                _ => Property::not_tested("the times scatter too much to show a page"),
            };
        }
        return;
    };
    match read.value {
        Some(value) if value == page => {
            read.confidence = confidence(odds(read.confidence) + odds(bend.confidence));
            read.evidence.numbers.extend(evidence.numbers);
        }
        Some(value) if odds(read.confidence) >= odds(bend.confidence) => {
            // The other result lowers the confidence of the one that is used.
            read.confidence = confidence(odds(read.confidence) - odds(bend.confidence)).max(0.5);
            let said = format!("page from writes, {value} bytes from reads");
            read.evidence = std::mem::take(&mut read.evidence).with_number(&said, page as f64, "bytes");
        }
        _ => *read = Property::measured(page, bend.confidence, evidence),
    }
}

fn evidence(times: &[SizeTime], bend: PageBend) -> PropertyEvidence {
    let plot =
        Plot::new("time of a write by its size", ("size of a write", "bytes", Log2), ("median", "µs", Log10))
            .with_line("in order", times.iter().map(|t| (t.bytes, t.seconds * 1e6)))
            .with_marks(bend.page.map(|page| (page, format!("page of {} KiB", page / 1024.0))));
    let evidence = PropertyEvidence::from_method(METHOD).with_plot(plot);
    evidence.with_number("extra time below the page", bend.extra * 1e6, "µs")
}

/// Finds the small-write log: by a size that costs more than larger ones, else by small writes beyond the limit of
/// open blocks, where all others include a closing.
fn measure_write_log(bench: &mut WriteTester, times: &[SizeTime], threshold: Option<f64>) -> Result<()> {
    if let Some(bytes) = threshold {
        let at = |wanted: f64| times.iter().find(|t| t.bytes >= wanted).map_or(0.0, |t| t.seconds * 1e3);
        let method = "sequential writes of 1 to 96 KiB; small ones take longer than larger ones";
        let evidence = PropertyEvidence::from_method(method)
            .with_number("write of that size", at(bytes), "ms")
            .with_number("next larger one", at(bytes + 1.0), "ms");
        bench.into.small_write_log_bytes = Property::measured(bytes as u64, 0.9, evidence);
        return Ok(());
    }
    let Some(limit) = bench.into.open_blocks.linear.value else {
        bench.into.small_write_log_bytes = Property::not_tested("not visible without a limit of open blocks");
        return Ok(());
    };
    let before = bench.context.total_cost();
    let found = time_beyond_limit(bench, limit)?;
    let Some((_, large)) = found.last().copied() else { return Ok(()) };
    let evidence = PropertyEvidence::from_method("random writes in more blocks than stay open, by size")
        .with_numbers(found.iter().map(|(b, t)| (format!("write of {} KiB", b / KIB), t * 1e3, "ms")))
        .with_cost(bench.context.cost_since(before));
    let small = found.iter().rev().find(|(_, t)| *t < LOG_SHARE * large).map(|(bytes, _)| *bytes);
    bench.into.small_write_log_bytes = match small {
        Some(bytes) => Property::measured(bytes, 0.9, evidence),
        None => Property::none(0.9, evidence),
    };
    Ok(())
}

/// Writes to more blocks than can be open, two per turn and out of order, since the first may only open the block.
/// The first turns, of the smallest size, open the blocks and are not timed.
fn small_write_turns(places: &[u64]) -> Vec<(u64, [CardExtent; 2])> {
    // Steps of 13 among 23 positions of 32 KiB: none directly follows another.
    let position = |turn: usize| (13 * (turn as u64 + 1)) % 23 * 32 * KIB;
    let opening = std::iter::repeat_n(LOG_KIB[0], places.len());
    let sizes = opening.chain(LOG_KIB.into_iter().flat_map(|kib| [kib; LOG_TURNS])).map(|kib| kib * KIB);
    let visit = |(visit, size): (usize, u64)| {
        let (place, turn) = (places[visit % places.len()], 2 * (visit / places.len()));
        let extent = |i: usize| CardExtent { offset: place + position(turn + i), len: size as u32 };
        (size, [extent(0), extent(1)])
    };
    sizes.enumerate().map(visit).collect()
}

/// Median seconds of a turn, by size.
fn time_beyond_limit(bench: &mut WriteTester, limit: u32) -> Result<Vec<(u64, f64)>> {
    let Some(places) = bench.take_positions(limit as usize + 1) else { return Ok(Vec::new()) };
    let visits = small_write_turns(&places);
    // Saved together: restored in address order, each block is then opened only once.
    bench.context.save_before_write(&visits.iter().flat_map(|(_, extents)| *extents).collect::<Vec<_>>())?;
    let mut times: Vec<(u64, f64)> = Vec::new();
    for (turn, (size, split_extents)) in visits.into_iter().enumerate() {
        bench.require_time(1.0)?;
        let both = bench.write_all(&split_extents)?;
        if turn >= places.len() && both.len() == split_extents.len() {
            times.push((size, both.iter().sum()));
        }
    }
    let typical = |size: u64| {
        let of_size = times.iter().filter(|(s, _)| *s == size).map(|(_, t)| *t);
        Some((size, median(&of_size.collect::<Vec<_>>())?))
    };
    Ok(LOG_KIB.iter().filter_map(|kib| typical(kib * KIB)).collect())
}
