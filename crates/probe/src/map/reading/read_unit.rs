//! What the controller fetches for one read: a second read inside a unit just read needs no flash, and is much
//! faster where the controller still holds the unit (seed 004's `-a` falls to 47 µs below 4 KiB).

use super::patience::{End, allowance, no_time};
use super::span::{Span, two_sectors};
use crate::context::Context;
use cardscope_engine::card::{Extent, Stop};
use cardscope_model::card_map::Measured;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::{Evidence, Property};
use cardscope_model::statistics::median;

/// Every unit that is tried divides it: 3·2^k KiB.
const ALIGN: u64 = 3 << 20;

/// The largest unit that is tried.
const MOST: u64 = 256 << 10;

/// Pairs of reads a distance.
const PAIRS: usize = 12;

/// A second read that takes less than this share of the first came from the controller's memory.
const HELD: f64 = 0.75;

/// Looks for it.
pub(super) fn measure(context: &mut Context<'_, '_>, span: Span, into: &mut Measured) -> Result<(), Stop> {
    if allowance(context, &[1.0]).is_none() {
        into.read_unit_bytes = no_time(1.0);
        return Ok(());
    }
    context.phase("what one read fetches");
    let (before, end) = (context.spent(), End::of_patience(context, 1.0));
    let len = two_sectors(context);
    context.shape(len as u32, 1)?;
    let distances: Vec<u64> =
        (0..20).flat_map(|k| [len << k, (len << k) / 2 * 3]).filter(|d| *d <= MOST).collect();
    let mut order: Vec<usize> = (0..distances.len()).flat_map(|d| [d; PAIRS]).collect();
    context.random.shuffle(&mut order);
    let mut shares = vec![Vec::new(); distances.len()];
    let wanted = order.len();
    for which in order {
        if end.is_there(context) {
            break;
        }
        // The later place first: a controller that reads ahead must not look like one that holds a unit.
        let near = span.somewhere(context, ALIGN, ALIGN, len);
        let far = Extent { offset: near.offset + distances[which], ..near };
        if let (Some(first), Some(second)) = (context.read(far)?, context.read(near)?) {
            shares[which].push(second / first);
        }
    }
    let pairs = shares.iter().map(Vec::len).sum();
    if let Some(why) = end.too_little(context, pairs, wanted, "pairs of reads") {
        into.read_unit_bytes = Property::not_tested(why);
        return Ok(());
    }
    let medians: Vec<(u64, f64)> =
        distances.iter().zip(&shares).filter_map(|(d, s)| Some((*d, median(s)?))).collect();
    let evidence = evidence(&medians).cost(context.cost_since(before));
    into.read_unit_bytes = property(&medians, evidence);
    Ok(())
}

fn property(medians: &[(u64, f64)], evidence: Evidence) -> Property<u64> {
    let Some((nearest, first)) = medians.first() else {
        return Property::not_tested("no pair of reads succeeded");
    };
    if *first > HELD {
        return Property::none(0.95, evidence.number("nearest distance tried", *nearest as f64, "bytes"));
    }
    match medians.iter().find(|(_, share)| *share > HELD) {
        Some((unit, after)) => {
            let held = medians.iter().take_while(|(d, _)| d < unit).map(|(_, s)| *s).fold(0.0, f64::max);
            // Between 0.5, where the two kinds nearly touch, and 1.
            let confidence = (0.5 + (after - held)).clamp(0.5, 0.99);
            Property::measured(*unit, confidence, evidence)
        }
        None => Property::at_least(MOST, 0.9, evidence),
    }
}

fn evidence(medians: &[(u64, f64)]) -> Evidence {
    let method = "two sectors read a distance behind a boundary of 3 MiB, then two at the boundary: as long as both \
                  lie in one unit, the second read comes from the controller's memory";
    let points = medians.iter().map(|(d, s)| (*d as f64, s * 100.0)).collect();
    let plot = Plot {
        title: "Second read against the first, by distance".to_owned(),
        x: Axis::new("distance", "bytes", Scale::Log2),
        y: Axis::new("second read", "% of the first", Scale::Linear),
        series: vec![Series { name: "second read".to_owned(), points }],
        marks: Vec::new(),
    };
    let mut evidence = Evidence::by(method).number("pairs a distance", PAIRS as f64, "").plot(plot);
    if let Some((_, share)) = medians.first() {
        evidence = evidence.number("second read at the nearest distance", share * 100.0, "% of the first");
    }
    evidence
}
