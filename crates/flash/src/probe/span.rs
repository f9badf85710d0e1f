//! Span within which small random writes keep their speed (docs/reference/flash.md#span-of-random-writes); the
//! queue test uses the result (docs/reference/flash.md#queues).

use super::options::Result;
use super::write_tester::WriteTester;
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::plot::AxisScale::{Log2, Log10};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::units::MIB;
use cardscope_statistics::estimate::{Estimate, estimate_values};

pub(super) const SMALL_BYTES: u32 = 4096;

/// Spans above one erase block: 64 MiB and 1 GiB (docs/reference/reports.md#microsd-speed-comparison), and steps of
/// four around them.
const SPANS: [u64; 4] = [16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB];

/// Writes per span. Merges of 0.1 to 0.3 s occur once in some hundred writes, and about ten are needed to detect a
/// factor of 1.6.
const WRITES: usize = 600;

/// Longest time per span, for cards that close a block at each write.
const MAX_SPAN_S: f64 = 3.0;

/// Writes saved at once; fewer at the start and if writes are slow.
const BATCH: usize = 32;
const FIRST_BATCH: usize = 8;

/// Seconds from which a write is slow: [`BATCH`] of them would exceed the time of a span.
const SLOW_WRITE: f64 = 0.05;

/// Least factor of the mean time at which a span counts as slower.
const SLOWER_FACTOR: f64 = 1.6;

/// Factor over a sequential write from which random writes are slow at any span.
const SLOW_ANYWHERE: f64 = 12.0;

/// Mean time of small writes within one span, with the lower end of its 95 % interval.
#[derive(Debug, Clone, Copy)]
struct SpanSpeed {
    bytes: u64,
    mean_s: f64,
    low_s: f64,
}

pub(super) fn measure_span(bench: &mut WriteTester) -> Result<()> {
    let before = bench.context.total_cost();
    let smallest = bench.slots.unit().min(4 * MIB);
    let mut found: Vec<SpanSpeed> = Vec::new();
    let most = bench.slots.bytes();
    for bytes in [smallest].into_iter().chain(SPANS).filter(|bytes| *bytes <= most) {
        bench.require_time(1.0)?;
        found.extend(time_span(bench, bytes)?);
        // Wider spans are not faster again, so the search ends.
        let slow = is_slow_anywhere(&found, sequential_write_s(bench));
        if slow || found.iter().any(|s| is_slower(s, &found[0])) {
            break;
        }
    }
    let evidence = evidence(&found).with_cost(bench.context.cost_since(before));
    bench.into.random_write_span_bytes = span_property(&found, sequential_write_s(bench), evidence);
    Ok(())
}

fn sequential_write_s(bench: &WriteTester) -> Option<f64> {
    let curve = &bench.into.curves.sequential_write;
    curve.iter().find(|p| p.bytes == u64::from(SMALL_BYTES)).map(|p| p.p50_us / 1e6)
}

fn time_span(bench: &mut WriteTester, bytes: u64) -> Result<Option<SpanSpeed>> {
    let Some(start) = bench.slots.random_span(bytes, &mut bench.context.random) else { return Ok(None) };
    let began = bench.context.seconds();
    let mut times = Vec::with_capacity(WRITES);
    while times.len() < WRITES && bench.context.seconds() - began < MAX_SPAN_S {
        let slow = times.is_empty() || bench.context.seconds() - began > SLOW_WRITE * times.len() as f64;
        let extents = random_extents(bench, start, bytes, if slow { FIRST_BATCH } else { BATCH });
        let found = bench.write_all(&extents)?;
        let mostly_failed = 2 * found.len() < extents.len();
        times.extend(found);
        if mostly_failed {
            break;
        }
    }
    // The first third is excluded, since data of earlier tests leaves the card's log slowly.
    let settled = &times[times.len() / 3..];
    let low = |e: &Estimate| e.ci95.map_or(e.mean, |ci| ci[0]);
    Ok(estimate_values(settled).map(|e| SpanSpeed { bytes, mean_s: e.mean, low_s: low(&e) }))
}

pub(super) fn random_extents(bench: &mut WriteTester, start: u64, bytes: u64, n: usize) -> Vec<CardExtent> {
    let blocks = bytes / u64::from(SMALL_BYTES);
    let mut offset = || start + bench.context.random.below(blocks) * u64::from(SMALL_BYTES);
    (0..n).map(|_| CardExtent { offset: offset(), len: SMALL_BYTES }).collect()
}

fn is_slow_anywhere(found: &[SpanSpeed], in_order: Option<f64>) -> bool {
    found.first().zip(in_order).is_some_and(|(first, t)| first.mean_s > SLOW_ANYWHERE * t)
}

fn is_slower(s: &SpanSpeed, first: &SpanSpeed) -> bool {
    s.mean_s > SLOWER_FACTOR * first.mean_s && s.low_s > first.mean_s
}

fn span_property(found: &[SpanSpeed], in_order: Option<f64>, evidence: PropertyEvidence) -> Property<u64> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        // The smallest span always fits, as a write region has at least eight erase blocks, so its writes must have
        // failed.
        return Property::not_tested("no write of it succeeded");
    };
    if is_slow_anywhere(found, in_order) {
        return Property::none(0.9, evidence);
    }
    match found.iter().position(|s| is_slower(s, first)) {
        Some(i) => Property::measured(found[i - 1].bytes, 0.9, evidence),
        None => Property::at_least(last.bytes, 0.9, evidence),
    }
}

fn evidence(found: &[SpanSpeed]) -> PropertyEvidence {
    let method = "random 4 KiB writes, one at a time, over growing spans; mean time after the first third";
    let rates = found.iter().map(|s| (format!("over {} MiB", s.bytes / MIB), 1.0 / s.mean_s, "IOPS"));
    let evidence = PropertyEvidence::from_method(method).with_numbers(rates);
    let points = found.iter().map(|s| (s.bytes as f64, 1.0 / s.mean_s));
    let x = ("span", "bytes", Log2);
    let y = ("4 KiB random write", "IOPS", Log10);
    evidence.with_plot(Plot::new("small random writes by their span", x, y).with_line("4 KiB", points))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(means: &[f64]) -> Vec<SpanSpeed> {
        let sizes = [4, 16, 64, 256, 1024];
        let point =
            |(mib, mean_s): (u64, &f64)| SpanSpeed { bytes: mib * MIB, mean_s: *mean_s, low_s: mean_s * 0.9 };
        sizes.into_iter().zip(means).map(point).collect()
    }

    #[test]
    fn span_ends_before_writes_get_slower() {
        let said = span_property(&spans(&[1.0, 1.0, 1.1, 2.0, 4.0]), Some(1.0), PropertyEvidence::default());
        assert_eq!(said.value, Some(64 * MIB));
        let said = span_property(&spans(&[1.0, 1.0, 1.1, 1.2, 1.3]), Some(1.0), PropertyEvidence::default());
        assert_eq!((said.value, said.bound), (None, Some(1024 * MIB)));
        let said = span_property(&spans(&[40.0, 41.0, 40.0]), Some(1.0), PropertyEvidence::default());
        assert_eq!(said.status, cardscope_model::card_map::property::PropertyStatus::None);
    }
}
