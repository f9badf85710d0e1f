//! Planes or chips that share the work: of two reads in the queue the second waits for the first where both lie on
//! one plane, and overlaps with it where they do not (Chen, Koufaty and Zhang, SIGMETRICS 2009: read pairs at growing
//! strides).

use super::patience::{End, allowance, no_time};
use super::span::{Span, two_sectors};
use crate::context::Context;
use cardscope_engine::card::{Extent, Stop};
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::{Evidence, Property};
use cardscope_model::statistics::median;

/// Every stripe that is tried divides it.
const ALIGN: u64 = 3 << 20;

/// Strides that are tried; what lies nearer may come from what the controller just read.
const STRIDES: std::ops::RangeInclusive<u64> = (4 << 10)..=(1 << 20);

/// Pairs a stride.
const PAIRS: usize = 24;

/// Pairs that overlap take at most this share of the time of those that wait: with four commands at a time it would
/// be 0.63, with two 0.75.
const OVERLAP: f64 = 0.87;

/// A card that takes one command at a time needs twice the time of a read for two; host overlap saves 12 % of that.
const ONE_AT_A_TIME: f64 = 1.7;

/// Looks for them.
pub(super) fn measure(context: &mut Context<'_, '_>, span: Span, into: &mut Measured) -> Result<(), Stop> {
    if allowance(context, &[2.0]).is_none() {
        into.plane_bytes = no_time(2.0);
        return Ok(());
    }
    context.phase("planes");
    let (before, end) = (context.spent(), End::of_patience(context, 2.0));
    let len = two_sectors(context);
    context.shape(len as u32, 2)?;
    let mut strides: Vec<u64> =
        (0..30).flat_map(|k| [1u64 << k, 3u64 << k]).filter(|s| STRIDES.contains(s) && *s > len).collect();
    strides.sort_unstable();
    let mut order: Vec<usize> = (0..strides.len()).flat_map(|s| [s; PAIRS]).collect();
    context.random.shuffle(&mut order);
    let (mut pairs, mut alone) = (vec![Vec::new(); strides.len()], Vec::new());
    let wanted = order.len();
    for which in order {
        if end.is_there(context) {
            break;
        }
        let first = span.somewhere(context, ALIGN, ALIGN, len);
        let second = Extent { offset: first.offset + strides[which], ..first };
        let mut ends = Vec::new();
        context.read_stream([first, second], |_, at| ends.push(at))?;
        if let [one, two] = ends[..] {
            alone.push(one);
            pairs[which].push(two);
        }
    }
    if let Some(why) = end.too_little(context, alone.len(), wanted, "pairs of reads") {
        into.plane_bytes = Property::not_tested(why);
        return Ok(());
    }
    let Some(alone) = median(&alone) else {
        into.plane_bytes = Property::not_tested("no pair of reads succeeded");
        return Ok(());
    };
    let times: Vec<(u64, f64)> =
        strides.iter().zip(&pairs).filter_map(|(s, p)| Some((*s, median(p)? / alone))).collect();
    let evidence = evidence(&times, alone).cost(context.cost_since(before));
    into.plane_bytes = property(&times, evidence);
    Ok(())
}

fn property(times: &[(u64, f64)], evidence: Evidence) -> Property<u64> {
    let waiting = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let overlaps = |time: f64| time < OVERLAP * waiting && time < ONE_AT_A_TIME;
    let first = times.iter().find(|(_, time)| overlaps(*time));
    let waits_nearby = times.first().is_some_and(|(_, time)| !overlaps(*time));
    match first.filter(|_| waits_nearby) {
        Some((plane, _)) => {
            let again = times.iter().find(|(s, time)| s > plane && !overlaps(*time));
            let count = again.map_or(0.0, |(stride, _)| *stride as f64 / *plane as f64);
            let sure = if again.is_some() { 0.97 } else { 0.85 };
            Property::measured(*plane, sure, evidence.number("planes, as far as strides show", count, ""))
        }
        None => Property::none(0.95, evidence),
    }
}

fn evidence(times: &[(u64, f64)], alone: f64) -> Evidence {
    let method = "pairs of reads in flight together, the second one a stride behind the first: it waits where both \
                  lie on one plane";
    let least = times.iter().map(|t| t.1).fold(f64::INFINITY, f64::min);
    let most = times.iter().map(|t| t.1).fold(0.0, f64::max);
    let points = times.iter().map(|(s, t)| (*s as f64, *t)).collect();
    let plot = Plot {
        title: "Two reads together against one, by their distance".to_owned(),
        x: Axis::new("stride", "bytes", Scale::Log2),
        y: Axis::new("time of two", "times that of one", Scale::Linear),
        series: vec![Series { name: "pair".to_owned(), points }],
        marks: Vec::new(),
    };
    Evidence::by(method)
        .number("first read of a pair", alone * 1e6, "µs")
        .number("fastest pair", least, "times one read")
        .number("slowest pair", most, "times one read")
        .plot(plot)
}
