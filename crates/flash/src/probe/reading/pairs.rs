//! Pairs of reads at growing distances.
//!
//! What the controller fetches for one read: a second read inside a unit just read needs no flash, and is much faster
//! where the controller still holds the unit (47 µs below 4 KiB in docs/reference/reports.md#lexar-review).
//!
//! Planes or chips that share the work: of two reads in the queue the second waits for the first where both lie on one
//! plane, and overlaps with it where they do not (Chen, Koufaty and Zhang, SIGMETRICS 2009: read pairs at growing
//! strides).

use super::reads::ReadTester;
use super::stages;
use crate::probe::unmeasured::UnmeasuredReason;
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::statistics::median;
use cardscope_probing::context::ProbeContext;

/// Every unit and every stripe that is tried divides it: 3·2^k KiB.
const ALIGN: u64 = 3 << 20;

/// The largest unit that is tried.
const MOST: u64 = 256 << 10;

/// Strides that are tried for planes; what lies nearer may come from what the controller just read.
const STRIDES: std::ops::RangeInclusive<u64> = (4 << 10)..=(1 << 20);

/// Pairs of reads a distance for the unit of a read, and for planes.
const PAIRS: usize = 12;
const PLANE_PAIRS: usize = 24;

/// A second read that takes less than this share of the first came from the controller's memory.
const HELD: f64 = 0.75;

/// Pairs that overlap take at most this share of the time of those that wait: with four commands at a time it would
/// be 0.63, with two 0.75.
const OVERLAP: f64 = 0.87;

/// A card that takes one command at a time needs twice the time of a read for two; host overlap saves 12 % of that.
const ONE_AT_A_TIME: f64 = 1.7;

/// Looks for what one read fetches.
pub(super) fn read_unit(reads: &mut ReadTester<'_, '_, '_>) -> Result<Property<u64>, UnmeasuredReason> {
    let seconds = reads.allowance(&[1.0])?;
    reads.context.stage(stages::READ_UNIT);
    let (before, len) = (reads.context.spent(), reads.two_sectors());
    let distances: Vec<u64> =
        (0..20).flat_map(|k| [len << k, (len << k) / 2 * 3]).filter(|d| *d <= MOST).collect();
    // The later place first: a controller that reads ahead must not look like one that holds a unit.
    let shares = pairs(reads, &distances, (PAIRS, 1), seconds, |context, near, far| {
        let (first, second) = (context.read(far)?, context.read(near)?);
        Ok(first.zip(second).map(|(first, second)| second / first))
    })?;
    let medians: Vec<(u64, f64)> =
        distances.iter().zip(&shares).filter_map(|(d, s)| Some((*d, median(s)?))).collect();
    let evidence = evidence_of_unit(&medians).cost(reads.context.cost_since(before));
    let (nearest, first) = *medians.first().ok_or("no pair of reads succeeded")?;
    if first > HELD {
        return Ok(Property::none(0.95, evidence.number("nearest distance tried", nearest as f64, "bytes")));
    }
    let Some((unit, after)) = medians.iter().find(|(_, share)| *share > HELD) else {
        return Ok(Property::at_least(MOST, 0.9, evidence));
    };
    let held = medians.iter().take_while(|(d, _)| d < unit).map(|(_, s)| *s).fold(0.0, f64::max);
    // Between 0.5, where the two kinds nearly touch, and 1.
    let confidence = (0.5 + (after - held)).clamp(0.5, 0.99);
    Ok(Property::measured(*unit, confidence, evidence))
}

fn evidence_of_unit(medians: &[(u64, f64)]) -> PropertyEvidence {
    let method = "two sectors read at a distance after a boundary of 3 MiB, then two at the boundary; \
                  within one unit, the second read comes from the controller's memory";
    let (x, y) = (
        PlotAxis::new("distance", "bytes", AxisScale::Log2),
        PlotAxis::new("second read", "% of the first", AxisScale::Linear),
    );
    let plot = Plot::new("Second read against the first, by distance", x, y)
        .line("second read", medians.iter().map(|(d, s)| (*d as f64, s * 100.0)));
    let nearest = medians.first().map(|(_, share)| share * 100.0);
    PropertyEvidence::by(method)
        .number("pairs a distance", PAIRS as f64, "")
        .numbers(nearest.map(|share| ("second read at the nearest distance", share, "% of the first")))
        .plot(plot)
}

/// Looks for planes.
pub(super) fn planes(reads: &mut ReadTester<'_, '_, '_>) -> Result<Property<u64>, UnmeasuredReason> {
    let seconds = reads.allowance(&[2.0])?;
    reads.context.stage(stages::PLANES);
    let (before, len) = (reads.context.spent(), reads.two_sectors());
    let mut strides: Vec<u64> =
        (0..30).flat_map(|k| [1u64 << k, 3u64 << k]).filter(|s| STRIDES.contains(s) && *s > len).collect();
    strides.sort_unstable();
    let mut alone = Vec::new();
    let pairs = pairs(reads, &strides, (PLANE_PAIRS, 2), seconds, |context, first, second| {
        let mut ends = Vec::new();
        context.read_stream([first, second], |_, at| ends.push(at))?;
        let [one, two] = ends[..] else { return Ok(None) };
        alone.push(one);
        Ok(Some(two))
    })?;
    let alone = median(&alone).ok_or("no pair of reads succeeded")?;
    let times: Vec<(u64, f64)> =
        strides.iter().zip(&pairs).filter_map(|(s, p)| Some((*s, median(p)? / alone))).collect();
    let evidence = evidence_of_planes(&times, alone).cost(reads.context.cost_since(before));
    let waiting = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let overlaps = |time: f64| time < OVERLAP * waiting && time < ONE_AT_A_TIME;
    let first = times.iter().find(|(_, time)| overlaps(*time));
    let waits_nearby = times.first().is_some_and(|(_, time)| !overlaps(*time));
    let Some((plane, _)) = first.filter(|_| waits_nearby) else {
        return Ok(Property::none(0.95, evidence));
    };
    let again = times.iter().find(|(s, time)| s > plane && !overlaps(*time));
    let count = again.map_or(0.0, |(stride, _)| *stride as f64 / *plane as f64);
    let sure = if again.is_some() { 0.97 } else { 0.85 };
    Ok(Property::measured(*plane, sure, evidence.number("planes, as far as strides show", count, "")))
}

fn evidence_of_planes(times: &[(u64, f64)], alone: f64) -> PropertyEvidence {
    let method = "two reads in flight, the second a stride after the first; it waits if both are on one \
                  plane";
    let least = times.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let most = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let (x, y) = (
        PlotAxis::new("stride", "bytes", AxisScale::Log2),
        PlotAxis::new("time of two", "times that of one", AxisScale::Linear),
    );
    let plot = Plot::new("Two reads together against one, by their distance", x, y)
        .line("pair", times.iter().map(|(s, t)| (*s as f64, *t)));
    PropertyEvidence::by(method)
        .number("first read of a pair", alone * 1e6, "µs")
        .number("fastest pair", least, "times one read")
        .number("slowest pair", most, "times one read")
        .plot(plot)
}

/// What `time` gives of `count` pairs of reads at each distance, in random order and `depth` in flight, by distance; they
/// should take so many seconds.
fn pairs(
    reads: &mut ReadTester<'_, '_, '_>,
    distances: &[u64],
    (count, depth): (usize, u32),
    seconds: f64,
    mut time: impl FnMut(&mut ProbeContext<'_, '_>, CardExtent, CardExtent) -> Result<Option<f64>, ProbeStop>,
) -> Result<Vec<Vec<f64>>, UnmeasuredReason> {
    let (end, len) = (reads.end_of_patience(seconds), reads.two_sectors());
    reads.context.shape(len as u32, depth)?;
    let mut order: Vec<usize> = (0..distances.len()).flat_map(|d| std::iter::repeat_n(d, count)).collect();
    reads.context.random.shuffle(&mut order);
    let (mut found, wanted) = (vec![Vec::new(); distances.len()], order.len());
    for which in order {
        if end.is_there(reads.context) {
            break;
        }
        let near = reads.somewhere(ALIGN, ALIGN, len);
        let far = CardExtent { offset: near.offset + distances[which], ..near };
        found[which].extend(time(reads.context, near, far)?);
    }
    end.enough(reads.context, found.iter().map(Vec::len).sum(), wanted, "pairs of reads")?;
    Ok(found)
}
