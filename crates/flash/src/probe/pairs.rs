//! Pairs of reads at growing distances, for two properties.
//!
//! Read unit: a second read within the unit that the controller just fetched needs no flash access, so it is much
//! faster (47 µs below 4 KiB in docs/reference/reports.md#lexar-review).
//!
//! Planes or chips: of two queued reads the second waits if both are on one plane, and overlaps if they are not
//! (Chen, Koufaty and Zhang, SIGMETRICS 2009: read pairs at growing strides).

use super::options::{Result, Sought};
use super::read_tester::{ReadTester, stages};
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::card_map::plot::AxisScale::{Linear, Log2};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::statistics::median;
use cardscope_probing::context::ProbeContext;

/// Common multiple of all units and strides that are tried (3·2^k KiB).
const ALIGN: u64 = 3 << 20;

const MAX_UNIT: u64 = 256 << 10;

/// Strides that are tried for planes. Smaller ones may hit the controller's read buffer.
const STRIDES: std::ops::RangeInclusive<u64> = (4 << 10)..=(1 << 20);

/// Pairs per distance, for the read unit and for planes.
const PAIRS: usize = 12;
const PLANE_PAIRS: usize = 24;

/// A second read below this share of the first was served from the controller's memory.
const BUFFERED_SHARE: f64 = 0.75;

/// Overlapping pairs take at most this share of the time of waiting ones: 0.63 with four parallel commands, 0.75
/// with two.
const OVERLAP_SHARE: f64 = 0.87;

/// Two reads take twice as long as one on a card without parallelism, less the 12 % that the host overlaps.
const SERIAL_FACTOR: f64 = 1.7;

pub(super) fn measure_read_unit(reads: &mut ReadTester) -> Sought<Property<u64>> {
    let seconds = reads.available_seconds(&[1.0])?;
    reads.context.begin_stage(stages::READ_UNIT);
    let (before, len) = (reads.context.total_cost(), reads.two_sectors_bytes());
    let distances = (0..20).flat_map(|k| [len << k, (len << k) / 2 * 3]);
    let distances: Vec<u64> = distances.filter(|d| *d <= MAX_UNIT).collect();
    // The higher address first, or read-ahead would look like a read unit.
    let shares = time_pairs(reads, &distances, (PAIRS, 1), seconds, |context, near, far| {
        let (first, second) = (context.time_read(far)?, context.time_read(near)?);
        Ok(first.zip(second).map(|(first, second)| second / first))
    })?;
    let medians = distances.iter().zip(&shares).filter_map(|(d, s)| Some((*d, median(s)?)));
    let medians: Vec<(u64, f64)> = medians.collect();
    let evidence = evidence_of_unit(&medians).with_cost(reads.context.cost_since(before));
    let (nearest, first) = *medians.first().ok_or("no pair of reads succeeded")?;
    if first > BUFFERED_SHARE {
        let evidence = evidence.with_number("nearest distance tried", nearest as f64, "bytes");
        return Ok(Property::none(0.95, evidence));
    }
    let Some((unit, after)) = medians.iter().find(|(_, share)| *share > BUFFERED_SHARE) else {
        return Ok(Property::at_least(MAX_UNIT, 0.9, evidence));
    };
    let held = medians.iter().take_while(|(d, _)| d < unit).map(|(_, s)| *s).fold(0.0, f64::max);
    // 0.5 where the shares of the two kinds nearly touch, up to 1.
    let confidence = (0.5 + (after - held)).clamp(0.5, 0.99);
    Ok(Property::measured(*unit, confidence, evidence))
}

fn evidence_of_unit(medians: &[(u64, f64)]) -> PropertyEvidence {
    let method = "two sectors read at a distance after a boundary of 3 MiB, then two at the boundary; \
                  within one unit, the second read comes from the controller's memory";
    let x = ("distance", "bytes", Log2);
    let y = ("second read", "% of the first", Linear);
    let plot = Plot::new("Second read against the first, by distance", x, y)
        .with_line("second read", medians.iter().map(|(d, s)| (*d as f64, s * 100.0)));
    let nearest = medians.first().map(|(_, share)| share * 100.0);
    PropertyEvidence::from_method(method)
        .with_number("pairs a distance", PAIRS as f64, "")
        .with_numbers(nearest.map(|share| ("second read at the nearest distance", share, "% of the first")))
        .with_plot(plot)
}

pub(super) fn measure_planes(reads: &mut ReadTester) -> Sought<Property<u64>> {
    let seconds = reads.available_seconds(&[2.0])?;
    reads.context.begin_stage(stages::PLANES);
    let (before, len) = (reads.context.total_cost(), reads.two_sectors_bytes());
    let strides = (0..30).flat_map(|k| [1u64 << k, 3u64 << k]);
    let mut strides: Vec<u64> = strides.filter(|s| STRIDES.contains(s) && *s > len).collect();
    strides.sort_unstable();
    let mut alone = Vec::new();
    let pairs = time_pairs(reads, &strides, (PLANE_PAIRS, 2), seconds, |context, first, second| {
        let mut ends = Vec::new();
        context.read_stream([first, second], |_, at| ends.push(at))?;
        let [one, two] = ends[..] else { return Ok(None) };
        alone.push(one);
        Ok(Some(two))
    })?;
    let alone = median(&alone).ok_or("no pair of reads succeeded")?;
    let times = strides.iter().zip(&pairs).filter_map(|(s, p)| Some((*s, median(p)? / alone)));
    let times: Vec<(u64, f64)> = times.collect();
    let evidence = evidence_of_planes(&times, alone).with_cost(reads.context.cost_since(before));
    let waiting = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let overlaps = |time: f64| time < OVERLAP_SHARE * waiting && time < SERIAL_FACTOR;
    let first = times.iter().find(|(_, time)| overlaps(*time));
    // Planes show only if pairs at a smaller stride wait for each other.
    let waits_nearby = times.first().is_some_and(|(_, time)| !overlaps(*time));
    let Some((plane, _)) = first.filter(|_| waits_nearby) else {
        return Ok(Property::none(0.95, evidence));
    };
    let again = times.iter().find(|(s, time)| s > plane && !overlaps(*time));
    let count = again.map_or(0.0, |(stride, _)| *stride as f64 / *plane as f64);
    let sure = if again.is_some() { 0.97 } else { 0.85 };
    Ok(Property::measured(*plane, sure, evidence.with_number("planes, as far as strides show", count, "")))
}

fn evidence_of_planes(times: &[(u64, f64)], alone: f64) -> PropertyEvidence {
    let method =
        "two reads in flight, the second a stride after the first; it waits if both are on one plane";
    let least = times.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let most = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let x = ("stride", "bytes", Log2);
    let y = ("time of two", "times that of one", Linear);
    let plot = Plot::new("Two reads together against one, by their distance", x, y)
        .with_line("pair", times.iter().map(|(s, t)| (*s as f64, *t)));
    PropertyEvidence::from_method(method)
        .with_number("first read of a pair", alone * 1e6, "µs")
        .with_number("fastest pair", least, "times one read")
        .with_number("slowest pair", most, "times one read")
        .with_plot(plot)
}

/// Calls `time` for `count` pairs of reads at each distance, in random order with `depth` in flight, and returns
/// the results by distance. `seconds` is the expected time.
fn time_pairs(
    reads: &mut ReadTester,
    distances: &[u64],
    (count, depth): (usize, u32),
    seconds: f64,
    mut time: impl FnMut(&mut ProbeContext, CardExtent, CardExtent) -> Result<Option<f64>>,
) -> Sought<Vec<Vec<f64>>> {
    let (end, len) = (reads.generous_deadline(seconds), reads.two_sectors_bytes());
    reads.context.set_queue(len as u32, depth)?;
    let mut order: Vec<usize> = (0..distances.len()).flat_map(|d| std::iter::repeat_n(d, count)).collect();
    reads.context.random.shuffle(&mut order);
    let (mut found, wanted) = (vec![Vec::new(); distances.len()], order.len());
    for which in order {
        if end.is_reached(reads.context) {
            break;
        }
        let near = reads.random_extent(ALIGN, ALIGN, len);
        let far = CardExtent { offset: near.offset + distances[which], ..near };
        found[which].extend(time(reads.context, near, far)?);
    }
    end.require_samples(reads.context, found.iter().map(Vec::len).sum(), wanted, "pairs of reads")?;
    Ok(found)
}
