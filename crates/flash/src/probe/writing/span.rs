//! The span of small random writes up to which they keep their speed, and whether a queue helps them
//! (docs/reference/flash.md#span-of-random-writes, docs/reference/flash.md#queues).

use super::bench::WriteTester;
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::units::MIB;
use cardscope_statistics::estimate::estimate;

/// A small write.
pub(super) const SMALL: u32 = 4096;

/// Spans beyond that of one erase block: 64 MiB against 1 GiB (docs/reference/reports.md#microsd-speed-comparison), and
/// steps of four around them.
const SPANS: [u64; 4] = [16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB];

/// Writes over one span: merges of 0.1 to 0.3 s come once in some hundred, and a mean that must tell 1.6 times needs
/// ten or so of them.
const WRITES: usize = 600;

/// One span ends after so many seconds, where each write closes a block.
const MOST_SECONDS: f64 = 3.0;

/// Writes saved in one go: few at first, and where each takes long.
const BATCH: usize = 32;
const FIRST_BATCH: usize = 8;

/// Seconds of a write that takes long: a batch of those would take longer than a span may.
const SLOW_WRITE: f64 = 0.05;

/// A span over which writes take so many times as long on the mean does not keep their speed.
const SLOWER: f64 = 1.6;

/// A small write at random that takes so many times one in order is slow over any span.
const SLOW_ANYWHERE: f64 = 12.0;

/// Mean of small writes over one span.
#[derive(Debug, Clone, Copy)]
struct SpanSpeed {
    bytes: u64,
    mean_s: f64,
    low_s: f64,
}

/// Measures the spans from small to large.
pub(super) fn measure(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let before = bench.context.spent();
    let smallest = bench.slots.unit().min(4 * MIB);
    let mut found: Vec<SpanSpeed> = Vec::new();
    let most = bench.slots.bytes();
    for bytes in [smallest].into_iter().chain(SPANS).filter(|bytes| *bytes <= most) {
        bench.afford(1.0)?;
        found.extend(over(bench, bytes)?);
        // A wider span is no faster again.
        if slow_anywhere(&found, in_order(bench)) || found.iter().any(|s| is_slower(s, &found[0])) {
            break;
        }
    }
    let evidence = evidence(&found).cost(bench.context.cost_since(before));
    bench.into.random_write_span_bytes = conclude(&found, in_order(bench), evidence);
    Ok(())
}

/// Seconds of a small write in order, where the curve has it.
fn in_order(bench: &WriteTester<'_, '_, '_>) -> Option<f64> {
    let curve = &bench.into.curves.sequential_write;
    curve.iter().find(|p| p.bytes == u64::from(SMALL)).map(|p| p.p50_us / 1e6)
}

fn over(bench: &mut WriteTester<'_, '_, '_>, bytes: u64) -> Result<Option<SpanSpeed>, ProbeStop> {
    let Some(start) = bench.slots.span(bytes, &mut bench.context.random) else { return Ok(None) };
    let began = bench.context.seconds();
    let mut times = Vec::with_capacity(WRITES);
    while times.len() < WRITES && bench.context.seconds() - began < MOST_SECONDS {
        let slow = times.is_empty() || bench.context.seconds() - began > SLOW_WRITE * times.len() as f64;
        let extents = places(bench, start, bytes, if slow { FIRST_BATCH } else { BATCH });
        let found = bench.write_all(&extents)?;
        let mostly_failed = 2 * found.len() < extents.len();
        times.extend(found);
        if mostly_failed {
            break;
        }
    }
    // What was there before takes its time to leave the card's log: the first third is not counted.
    let settled = &times[times.len() / 3..];
    Ok(estimate(settled).map(|e| SpanSpeed {
        bytes,
        mean_s: e.mean,
        low_s: e.ci95.map_or(e.mean, |ci| ci[0]),
    }))
}

/// Places of small writes in a span.
pub(super) fn places(
    bench: &mut WriteTester<'_, '_, '_>,
    start: u64,
    bytes: u64,
    n: usize,
) -> Vec<CardExtent> {
    let blocks = bytes / u64::from(SMALL);
    (0..n)
        .map(|_| CardExtent {
            offset: start + bench.context.random.below(blocks) * u64::from(SMALL),
            len: SMALL,
        })
        .collect()
}

/// Whether even the smallest span is slow.
fn slow_anywhere(found: &[SpanSpeed], in_order: Option<f64>) -> bool {
    found.first().zip(in_order).is_some_and(|(first, t)| first.mean_s > SLOW_ANYWHERE * t)
}

fn is_slower(s: &SpanSpeed, first: &SpanSpeed) -> bool {
    s.mean_s > SLOWER * first.mean_s && s.low_s > first.mean_s
}

fn conclude(found: &[SpanSpeed], in_order: Option<f64>, evidence: PropertyEvidence) -> Property<u64> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else {
        // The smallest span is never larger than what may be written to: a bench has room for eight erase blocks.
        return Property::not_tested("no write of it succeeded");
    };
    if slow_anywhere(found, in_order) {
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
    let evidence = PropertyEvidence::by(method).numbers(rates);
    let (x, y) = (
        PlotAxis::new("span", "bytes", AxisScale::Log2),
        PlotAxis::new("4 KiB random write", "IOPS", AxisScale::Log10),
    );
    let points = found.iter().map(|s| (s.bytes as f64, 1.0 / s.mean_s));
    evidence.plot(Plot::new("small random writes by their span", x, y).line("4 KiB", points))
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
    fn the_span_is_the_last_before_the_writes_get_slower() {
        let said = conclude(&spans(&[1.0, 1.0, 1.1, 2.0, 4.0]), Some(1.0), PropertyEvidence::default());
        assert_eq!(said.value, Some(64 * MIB));
        let said = conclude(&spans(&[1.0, 1.0, 1.1, 1.2, 1.3]), Some(1.0), PropertyEvidence::default());
        assert_eq!((said.value, said.bound), (None, Some(1024 * MIB)));
        let said = conclude(&spans(&[40.0, 41.0, 40.0]), Some(1.0), PropertyEvidence::default());
        assert_eq!(said.status, cardscope_model::card_map::property::PropertyStatus::None);
    }
}
