//! Whether many small writes at a time are faster than one, or whether the queue is a fake that all but halts the card
//! (flash-behaviour 3.9; seed 001, "at Q32, writing basically comes to a halt").

use super::bench::{Bench, LARGEST};
use super::span::{SMALL, places};
use crate::trouble::Stop;
use cardscope_analysis::estimate::estimate;
use cardscope_model::card_map::property::{Evidence, Property, Status};
use cardscope_model::finding::{Finding, Weight};

/// Depth of the queue that is tried.
const DEPTH: u32 = 32;

/// Writes of one slice with a queue: the first and last DEPTH of them do not see it full.
const SLICE: usize = 128;

/// Pairs of slices, in the order A B B A.
const PAIRS: usize = 4;

/// Slices of a card that takes longer than this for one are shortened.
const SLICE_SECONDS: f64 = 2.0;

/// Below this gain, and surely below [`FAKE_FOR_SURE`], the queue is a fake.
const FAKE: f64 = 0.5;
const FAKE_FOR_SURE: f64 = 0.7;

/// Over this span, where the card keeps its speed over so much; else inside so much at most.
const SPAN: u64 = 64 << 20;
const ONE_BLOCK: u64 = 4 << 20;

/// Measures writes with and without a queue.
pub(super) fn measure(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let result = compare(bench);
    bench.site.shape(LARGEST, 1)?;
    result
}

fn compare(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let before = bench.site.spent();
    let known = &bench.into.random_write_span_bytes;
    let span = match known.status {
        Status::Measured | Status::AtLeast => known.value.or(known.bound).unwrap_or(SPAN).min(SPAN),
        // Inside one erase block, where every card is as fast as it gets.
        Status::None | Status::NotTested => bench.ground.unit().min(ONE_BLOCK),
    };
    let span = span.min(bench.ground.bytes());
    let Some(start) = bench.ground.span(span, &mut bench.site.random) else { return Ok(()) };
    let area = (start, span);
    // The first writes pay for what the span before left open.
    slice(bench, area, 1, 8)?;
    let Some(alone) = slice(bench, area, 1, 16)? else { return Ok(()) };
    bench.afford(4.0 * SLICE_SECONDS)?;
    let Some(few) = slice(bench, area, DEPTH, 2 * DEPTH as usize)? else { return Ok(()) };
    let n = |rate: f64, least: usize| ((rate * SLICE_SECONDS) as usize).clamp(least, SLICE);
    let (n_one, n_many) = (n(alone, 8), n(few, 2 * DEPTH as usize));
    let pairs = if few * 20.0 < f64::from(DEPTH) { 2 } else { PAIRS };
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for pair in 0..pairs {
        for first in [true, false] {
            // A B, then B A: what drifts meets both alike.
            if first == (pair % 2 == 0) {
                one.extend(slice(bench, area, 1, n_one)?);
            } else {
                many.extend(slice(bench, area, DEPTH, n_many)?);
            }
        }
    }
    let logs: Vec<f64> = one.iter().zip(&many).map(|(a, b)| (b / a).ln()).collect();
    let Some(e) = estimate(&logs) else { return Ok(()) };
    let ci = e.ci95.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]).map(f64::exp);
    let level = |rates: &[f64]| estimate(rates).map_or(0.0, |e| e.median);
    let gain = Gain { value: e.mean.exp(), ci, one: level(&one), many: level(&many) };
    let evidence = gain.evidence().cost(bench.site.cost_since(before));
    bench.into.write_queue_gain = Property::measured(gain.value, gain.confidence(), evidence);
    if gain.is_fake() {
        bench.into.findings.push(gain.finding());
    }
    Ok(())
}

/// Writes per second of `n` writes with `depth` in flight; of those with a queue only while it was full.
fn slice(
    bench: &mut Bench<'_, '_, '_>,
    (start, span): (u64, u64),
    depth: u32,
    n: usize,
) -> Result<Option<f64>, Stop> {
    bench.site.shape(SMALL, depth)?;
    let pieces = places(bench, start, span, n);
    bench.site.prepare(&pieces)?;
    let mut ends: Vec<f64> = Vec::with_capacity(n);
    bench.site.write_course(pieces, |_, end| ends.push(end))?;
    let skip = if depth > 1 { ends.len().min(depth as usize) } else { 0 };
    let began = if skip == 0 { 0.0 } else { ends[skip - 1] };
    let (count, last) = (ends.len() - skip, ends.last().copied().unwrap_or(0.0));
    Ok((count > 0 && last > began).then(|| count as f64 / (last - began)))
}

/// What a queue gains.
#[derive(Debug, Clone, Copy)]
struct Gain {
    value: f64,
    ci: [f64; 2],
    one: f64,
    many: f64,
}

impl Gain {
    fn is_fake(&self) -> bool {
        self.value < FAKE && self.ci[1] < FAKE_FOR_SURE
    }

    /// How far the interval stays on its side of the boundary between a help and a harm.
    fn confidence(&self) -> f64 {
        let width = (self.ci[1] / self.ci[0]).ln().abs();
        (1.0 - width / 2.0).clamp(0.5, 0.99)
    }

    fn evidence(&self) -> Evidence {
        Evidence::by("random writes of 4 KiB with 1 and with 32 in flight, slices in the order A B B A")
            .number("one at a time", self.one, "IOPS")
            .number("32 in flight", self.many, "IOPS")
            .number("gain, lower end of 95 %", self.ci[0], "")
            .number("gain, upper end of 95 %", self.ci[1], "")
    }

    fn finding(&self) -> Finding {
        Finding::new(
            "fake-queue",
            Weight::Hint,
            self.confidence(),
            "The card takes many writes at a time, but then all but halts: its queue is a fake.",
        )
        .because("one at a time", format!("{:.0} IOPS", self.one))
        .because("32 in flight", format!("{:.0} IOPS", self.many))
        .because("gain", format!("{:.2} ({:.2} to {:.2})", self.value, self.ci[0], self.ci[1]))
        .advise("Keep few writes in flight: a system that queues many small writes will wait for minutes.")
    }
}
