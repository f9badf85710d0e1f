//! The page as writes show it, and writes so small that the card puts them into a log of their own (flash-behaviour
//! 3.2).

use super::bench::Bench;
use crate::card::Piece;
use crate::trouble::Stop;
use cardscope_analysis::bend::{Bend, SizeTime, page};
use cardscope_analysis::quantile::{median, median_deviation};
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::{Cost, Evidence, Property, Status};

const KIB: u64 = 1 << 10;

/// Sizes tried, in KiB.
const SIZES_KIB: [u64; 11] = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96];

/// Writes of one size: enough for its median to be known to 2 % with 6 % of scatter.
const WRITES: u64 = 24;

/// From this size on half as many are enough.
const LARGE: u64 = 48 * KIB;

/// A size that takes so many times one twice as large is treated in a way of its own (21 against 3 ms on real cards);
/// less is what writes below a page cost.
const DEARER: f64 = 4.0;

/// Beyond the limit of open blocks, small writes that take less than this share of larger ones go elsewhere.
const ELSEWHERE: f64 = 0.4;

/// Sizes that may go to a log of small writes (4 and 8 KiB on real cards), and larger ones, in KiB.
const LOG_KIB: [u64; 4] = [4, 8, 16, 32];

/// Writes out of order of each of those.
const LOG_WRITES: usize = 6;

/// Finds page and small-write log.
pub(super) fn measure(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let before = bench.site.spent();
    let times = by_size(bench)?;
    let cost = bench.site.cost_since(before);
    let of = |bytes: f64| times.iter().find(|t| t.bytes == bytes).map(|t| t.seconds);
    let is_dear = |t: &&SizeTime| of(2.0 * t.bytes).is_some_and(|twice| t.seconds > DEARER * twice);
    let threshold = times.iter().rev().find(is_dear).map(|t| t.bytes);
    let usable: Vec<SizeTime> =
        times.iter().copied().filter(|t| threshold.is_none_or(|bytes| t.bytes > bytes)).collect();
    if let Some(bend) = page(&usable) {
        fuse(bench, bend, &times, cost);
    }
    small_log(bench, &times, threshold)
}

/// Times of writes in order by size, two blocks in turn where the card keeps two open: so nothing is joined in memory.
fn by_size(bench: &mut Bench<'_, '_, '_>) -> Result<Vec<SizeTime>, Stop> {
    let sector = u64::from(bench.site.sector());
    let mut sizes: Vec<u64> = SIZES_KIB.iter().map(|kib| kib * KIB).filter(|size| *size >= sector).collect();
    for i in (1..sizes.len()).rev() {
        sizes.swap(i, bench.site.random.below(i as u64 + 1) as usize);
    }
    let open = bench.into.open_blocks.linear.value.unwrap_or(2);
    let blocks = if open >= 2 { 2 } else { 1 };
    let mut found = Vec::new();
    for size in sizes {
        bench.afford(0.2)?;
        let Some(places) = bench.places(blocks) else { break };
        let rounds = if size < LARGE { WRITES } else { WRITES / 2 } / blocks as u64;
        let at =
            |round: u64| places.iter().map(move |p| Piece { offset: p + round * size, len: size as u32 });
        bench.write_all(&at(0).collect::<Vec<_>>())?;
        let times = bench.write_all(&(1..=rounds).flat_map(at).collect::<Vec<_>>())?;
        let Some(seconds) = median(&times) else { continue };
        let spread = 1.4826 * median_deviation(&times, seconds).unwrap_or(0.0);
        let error = 1.2533 * spread / (times.len() as f64).sqrt();
        found.push(SizeTime { bytes: size as f64, seconds, error });
    }
    found.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    Ok(found)
}

/// Joins what writes say with what reads said: where both speak of the same page they are surer together, else the
/// surer one holds.
fn fuse(bench: &mut Bench<'_, '_, '_>, bend: Bend, times: &[SizeTime], cost: Cost) {
    let evidence = evidence(times, bend).cost(cost);
    let read = &mut bench.into.page_bytes;
    let odds = |p: f64| (p.clamp(1e-4, 1.0 - 1e-4) / (1.0 - p.clamp(1e-4, 1.0 - 1e-4))).ln();
    let confidence = |odds: f64| (1.0 / (1.0 + (-odds).exp())).min(0.995);
    let Some(page) = bend.page.map(|page| page as u64) else {
        if read.status == Status::NotTested {
            *read = Property::none(bend.confidence, evidence);
        }
        return;
    };
    match read.value {
        Some(value) if value == page => {
            read.confidence = confidence(odds(read.confidence) + odds(bend.confidence));
            read.evidence.numbers.extend(evidence.numbers);
        }
        Some(value) if odds(read.confidence) >= odds(bend.confidence) => {
            // Two opinions: the surer one, and no surer than the other leaves it.
            read.confidence = confidence(odds(read.confidence) - odds(bend.confidence)).max(0.5);
            let said = format!("page as writes show it, against {value} bytes as reads do");
            read.evidence = std::mem::take(&mut read.evidence).number(&said, page as f64, "bytes");
        }
        _ => *read = Property::measured(page, bend.confidence, evidence),
    }
}

fn evidence(times: &[SizeTime], bend: Bend) -> Evidence {
    let plot = Plot {
        title: "time of a write by its size".to_owned(),
        x: Axis::new("size of a write", "bytes", Scale::Log2),
        y: Axis::new("median", "µs", Scale::Log10),
        series: vec![Series {
            name: "in order".to_owned(),
            points: times.iter().map(|t| (t.bytes, t.seconds * 1e6)).collect(),
        }],
        marks: bend.page.map(|page| (page, format!("page of {} KiB", page / 1024.0))).into_iter().collect(),
    };
    Evidence::by("writes of 1 to 96 KiB in order in two fresh blocks in turn: those below a page, or cutting one, cost extra")
        .number("extra of a write below the page", bend.extra * 1e6, "µs")
        .plot(plot)
}

/// A size below which writes cost more than larger ones has been seen already; else they are tried beyond the limit of
/// open blocks, where all others pay for a closing.
fn small_log(bench: &mut Bench<'_, '_, '_>, times: &[SizeTime], threshold: Option<f64>) -> Result<(), Stop> {
    if let Some(bytes) = threshold {
        let at = |wanted: f64| times.iter().find(|t| t.bytes >= wanted).map_or(0.0, |t| t.seconds * 1e3);
        let evidence =
            Evidence::by("writes of 1 to 96 KiB in order: the small ones cost more than larger ones")
                .number("write of that size", at(bytes), "ms")
                .number("next larger one", at(bytes + 1.0), "ms");
        bench.into.small_write_log_bytes = Property::measured(bytes as u64, 0.9, evidence);
        return Ok(());
    }
    let Some(limit) = bench.into.open_blocks.linear.value else {
        bench.into.small_write_log_bytes =
            Property::not_tested("without a limit of open blocks such a log would not show");
        return Ok(());
    };
    let before = bench.site.spent();
    let mut found: Vec<(u64, f64)> = Vec::new();
    for kib in LOG_KIB {
        bench.afford(1.0)?;
        found.extend(beyond(bench, limit, kib * KIB)?.map(|t| (kib * KIB, t)));
    }
    let Some((_, large)) = found.last().copied() else { return Ok(()) };
    let evidence = found
        .iter()
        .fold(
            Evidence::by("writes out of order in more blocks than the card keeps open, by size"),
            |e, (b, t)| e.number(&format!("write of {} KiB", b / KIB), t * 1e3, "ms"),
        )
        .cost(bench.site.cost_since(before));
    let small = found.iter().rev().find(|(_, t)| *t < ELSEWHERE * large).map(|(bytes, _)| *bytes);
    bench.into.small_write_log_bytes = match small {
        Some(bytes) => Property::measured(bytes, 0.9, evidence),
        None => Property::none(0.9, evidence),
    };
    Ok(())
}

/// Median of visits to more blocks than may be open, each of two writes out of order: the first may only open the block.
fn beyond(bench: &mut Bench<'_, '_, '_>, limit: u32, size: u64) -> Result<Option<f64>, Stop> {
    let Some(places) = bench.places(limit as usize + 1) else { return Ok(None) };
    // Steps of 13 in 23 places of 32 KiB: none follows another.
    let position = |turn: usize| (13 * (turn as u64 + 1)) % 23 * 32 * KIB;
    let piece = |visit: usize, i: usize| Piece {
        offset: places[visit % places.len()] + position(2 * (visit / places.len()) + i),
        len: size as u32,
    };
    // The first round only opens the blocks.
    let all: Vec<Piece> =
        (0..places.len() + LOG_WRITES).flat_map(|visit| [piece(visit, 0), piece(visit, 1)]).collect();
    let times = bench.write_all(&all)?;
    let visits: Vec<f64> = times.chunks_exact(2).map(|visit| visit.iter().sum()).collect();
    Ok(visits.get(places.len()..).and_then(median))
}
