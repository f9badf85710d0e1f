//! Reads by their size, in order and at random: the curve of seed 004.

use super::patience::End;
use super::span::Span;
use crate::context::Context;
use cardscope_engine::card::{Extent, Stop};
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::{Measured, SizePoint};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::statistics::median;

/// Sizes from 512 bytes to 4 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 9..=22;

/// A point of the curve takes so many seconds, or the least number of reads.
const POINT_S: [f64; 3] = [0.15, 0.08, 0.04];

/// Reads of all points take so many times [`POINT_S`], and the large ones so many seconds more on a card of 20 MB/s.
const POINTS: f64 = 28.0;
const LARGE_S: f64 = 4.0;

/// Reads of a point, at least and at most.
const READS: (usize, usize) = (5, 1000);

/// Measures both curves. Sizes that are too large for the span are absent; those for which no time was left too, and
/// a finding says so.
pub(super) fn measure(context: &mut Context<'_, '_>, span: Span, into: &mut Measured) -> Result<(), Stop> {
    let all_s = |point_s: f64| point_s * POINTS + LARGE_S;
    let Some(point_s) = POINT_S.into_iter().find(|s| context.has_time(all_s(*s))) else { return Ok(()) };
    let end = End::of_patience(context, all_s(point_s));
    context.phase("reads by size");
    let sector = u64::from(context.sector());
    let sizes: Vec<u64> =
        SIZES.map(|bits| 1u64 << bits).filter(|s| *s >= sector && s * 8 <= span.len).collect();
    let Some(largest) = sizes.last() else { return Ok(()) };
    context.shape(*largest as u32, 1)?;
    let mut order: Vec<(u64, bool)> = sizes.iter().flat_map(|s| [(*s, false), (*s, true)]).collect();
    context.random.shuffle(&mut order);
    let (wanted, mut cut) = (order.len(), 0);
    for (size, random) in order {
        let Some(point) = point(context, span, size, random, point_s, end)? else {
            cut += usize::from(end.is_there(context));
            continue;
        };
        let curve = if random { &mut into.curves.random_read } else { &mut into.curves.sequential_read };
        curve.push(point);
    }
    let curves = &mut into.curves;
    curves.random_read.sort_by_key(|p| p.bytes);
    curves.sequential_read.sort_by_key(|p| p.bytes);
    let plot = plot(&curves.sequential_read, &curves.random_read);
    into.plots.push(plot);
    into.findings.extend(end.reason(context).filter(|_| cut > 0).map(|why| cut_short(why, cut, wanted)));
    Ok(())
}

/// That points are missing, and why.
fn cut_short(why: &str, cut: usize, wanted: usize) -> Finding {
    let verdict = format!("Some sizes of reads were not timed: {why}.");
    Finding::new("read-curve-cut", Weight::Note, 1.0, verdict)
        .because("points left out", format!("{cut} of {wanted}"))
}

/// Reads of one size, each timed by itself; the first one, which finds the card elsewhere, is not counted. `None` where
/// too few of them succeeded or the end came before.
fn point(
    context: &mut Context<'_, '_>,
    span: Span,
    size: u64,
    random: bool,
    seconds: f64,
    end: End,
) -> Result<Option<SizePoint>, Stop> {
    if end.is_there(context) {
        return Ok(None);
    }
    let mut next = span.somewhere(context, size, size, size);
    let (mut times, mut spent, mut failed) = (Vec::new(), 0.0, 0);
    context.read(next)?;
    while times.len() < READS.1 && failed < READS.0 && (times.len() < READS.0 || spent < seconds) {
        if end.is_there(context) && times.len() < READS.0 {
            return Ok(None);
        }
        next = if random || next.end() + size > span.start + span.len {
            span.somewhere(context, size, size, size)
        } else {
            Extent { offset: next.end(), ..next }
        };
        match context.read(next)? {
            Some(time) => {
                times.push(time);
                spent += time;
            }
            None => failed += 1,
        }
    }
    let Some(middle) = median(&times).filter(|_| spent > 0.0) else { return Ok(None) };
    let iops = times.len() as f64 / spent;
    let ios = times.len() as u64;
    Ok(Some(SizePoint { bytes: size, mb_s: iops * size as f64 / 1e6, iops, p50_us: middle * 1e6, ios }))
}

fn plot(in_order: &[SizePoint], at_random: &[SizePoint]) -> Plot {
    let series = |name: &str, points: &[SizePoint]| Series {
        name: name.to_owned(),
        points: points.iter().map(|p| (p.bytes as f64, p.mb_s)).collect(),
    };
    Plot {
        title: "Speed of reads by their size".to_owned(),
        x: Axis::new("bytes of a read", "bytes", Scale::Log2),
        y: Axis::new("speed", "MB/s", Scale::Log10),
        series: vec![series("in order", in_order), series("at random", at_random)],
        marks: Vec::new(),
    }
}
