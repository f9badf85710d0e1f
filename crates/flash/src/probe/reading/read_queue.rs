//! Gain of a queue for reads: random 4 KiB reads with 1 to 32 in flight, the depths in shuffled rounds. By Little's
//! law the gain over one at a time is the number of commands that the card works on in parallel.

use super::reads::{ReadDeadline, ReadTester};
use super::stages;
use crate::probe::unmeasured::{UnmeasuredReason, no_time_reason};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_engine::target::IoDirection;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::random::SeededRandom;
use cardscope_model::statistics::median;
use cardscope_statistics::estimate_values;
use std::cell::Cell;

const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];

const BLOCK: u64 = 4096;

/// Rounds over all depths, most first.
const ROUNDS: [usize; 2] = [4, 3];

/// A run at one depth ends after this many seconds …
const RUN_S: f64 = 0.3;

/// … or this many reads …
const MAX_RUN_READS: u64 = 4000;

/// … or this many failed reads beyond those in flight. No run follows, since a card that fails more reads than its
/// deepest queue holds says nothing about queues.
const MAX_RUN_FAILURES: u64 = 32;

/// Gains below this come from overlap in the host alone (up to 1.12 on SD cards).
const HOST_GAIN: f64 = 1.15;

/// Gains from this on are from parallelism in the card.
const REAL_GAIN: f64 = 1.6;

/// Longest gap between two completions that counts, in times of a single read, so that one hiccup does not decide.
const LONGEST_GAP: f64 = 3.0;

/// A deep queue that slows reads below this share is reported.
const SLOW_QUEUE_SHARE: f64 = 0.85;

/// Reads per second, a list of runs per depth.
type DepthRates = Vec<Vec<f64>>;

pub(super) fn measure_read_queue(
    reads: &mut ReadTester<'_, '_, '_>,
) -> Result<Property<f64>, UnmeasuredReason> {
    let visit_s = DEPTHS.len() as f64 * RUN_S;
    let visits = ROUNDS.into_iter().find(|v| reads.context.has_time(*v as f64 * visit_s));
    let visits = visits.ok_or_else(|| no_time_reason(ROUNDS[0] as f64 * visit_s))?;
    reads.context.begin_stage(stages::QUEUE);
    let (before, end) = (reads.context.total_cost(), reads.generous_deadline(visits as f64 * visit_s));
    let single =
        single_read_s(reads, end)?.ok_or_else(|| end.reason(reads.context).unwrap_or("no read succeeded"))?;
    let rates = time_depths(reads, visits, single, end)?;
    let cost = reads.context.cost_since(before);
    let gain = ReadQueueGain::from_rates(&rates);
    let gain = gain.ok_or_else(|| end.reason(reads.context).unwrap_or("too few reads succeeded"))?;
    reads.into.findings.extend(slow_queue_finding(&rates));
    Ok(gain.property(evidence(&rates, &gain, single).with_cost(cost)))
}

fn time_depths(
    reads: &mut ReadTester<'_, '_, '_>,
    visits: usize,
    single: f64,
    end: ReadDeadline,
) -> Result<DepthRates, ProbeStop> {
    let mut rates: DepthRates = vec![Vec::new(); DEPTHS.len()];
    for _ in 0..visits {
        let mut order: Vec<usize> = (0..DEPTHS.len()).collect();
        reads.context.random.shuffle(&mut order);
        for which in order {
            if end.is_reached(reads.context) {
                return Ok(rates);
            }
            let visit = run_depth(reads, DEPTHS[which])?;
            if visit.failed >= MAX_RUN_FAILURES || visit.ends.is_empty() {
                return Ok(rates);
            }
            rates[which].extend(visit.rate(DEPTHS[which], single));
        }
    }
    Ok(rates)
}

fn single_read_s(reads: &mut ReadTester<'_, '_, '_>, end: ReadDeadline) -> Result<Option<f64>, ProbeStop> {
    reads.context.set_queue(BLOCK as u32, 1)?;
    let mut times = Vec::new();
    for _ in 0..48 {
        if end.is_reached(reads.context) {
            break;
        }
        let extent = reads.random_extent(BLOCK, BLOCK, BLOCK);
        times.extend(reads.context.time_read(extent)?);
    }
    Ok(median(&times))
}

struct DepthRun {
    /// Completion times of successful reads, in seconds since the run began.
    ends: Vec<f64>,
    failed: u64,
}

fn run_depth(reads: &mut ReadTester<'_, '_, '_>, depth: u32) -> Result<DepthRun, ProbeStop> {
    reads.context.set_queue(BLOCK as u32, depth)?;
    let mut random = SeededRandom::new(reads.context.random.next_u64());
    let (start, len) = (reads.start, reads.len);
    let (sent, ended) = (Cell::new(0), Cell::new(0));
    let mut extents = std::iter::from_fn(|| {
        // Reads that were sent and not completed are in flight or have failed.
        let failed = sent.get() - ended.get() >= u64::from(depth) + MAX_RUN_FAILURES;
        if failed || sent.get() >= MAX_RUN_READS {
            return None;
        }
        sent.set(sent.get() + 1);
        let places = len / BLOCK;
        let offset = start.next_multiple_of(BLOCK) + random.below(places.saturating_sub(1).max(1)) * BLOCK;
        Some(CardExtent { offset, len: BLOCK as u32 })
    });
    let mut ends = Vec::new();
    reads.context.stream_for(IoDirection::Read, RUN_S, &mut extents, |_, at| {
        ends.push(at);
        ended.set(ended.get() + 1);
    })?;
    Ok(DepthRun { ends, failed: sent.get() - ended.get() })
}

impl DepthRun {
    /// Reads per second; `None` with too few reads to fill the queue.
    fn rate(&self, depth: u32, single: f64) -> Option<f64> {
        let mut last = 0.0;
        let gaps = self.ends.iter().map(|at| {
            let gap: f64 = at - last;
            last = *at;
            gap.clamp(0.0, LONGEST_GAP * single)
        });
        let seconds: f64 = gaps.sum();
        (self.ends.len() > depth as usize && seconds > 0.0).then(|| self.ends.len() as f64 / seconds)
    }
}

/// Gain of the best depth over one read at a time, with its 95 % interval.
struct ReadQueueGain {
    depth: u32,
    gain: f64,
    low: f64,
    high: f64,
}

impl ReadQueueGain {
    fn from_rates(rates: &DepthRates) -> Option<ReadQueueGain> {
        let one = median(&rates[0])?;
        let best = (1..DEPTHS.len())
            .filter_map(|which| Some((which, median(&rates[which])?)))
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let logs: Vec<f64> =
            rates[best.0].iter().zip(&rates[0]).map(|(many, one)| (many / one).ln()).collect();
        let [low, high] = estimate_values(&logs)?.ci95?;
        Some(ReadQueueGain { depth: DEPTHS[best.0], gain: best.1 / one, low: low.exp(), high: high.exp() })
    }

    fn verdict(&self) -> &'static str {
        match self.gain {
            g if g < HOST_GAIN => "none",
            g if g < REAL_GAIN => "weak",
            _ => "real",
        }
    }

    fn property(&self, evidence: PropertyEvidence) -> Property<f64> {
        // Distance to the nearest limit of the verdict, in half widths of the interval.
        let half = (self.high / self.low).ln() / 2.0;
        let away = [HOST_GAIN, REAL_GAIN].map(|border| (self.gain / border).ln().abs());
        let away = away.into_iter().fold(f64::INFINITY, f64::min) / half.max(1e-6);
        let sure = (0.5 + 0.475 * away).min(0.99);
        match self.verdict() {
            "none" => Property::none(sure, evidence),
            _ => Property::measured((self.gain * 100.0).round() / 100.0, sure, evidence),
        }
    }
}

fn evidence(rates: &DepthRates, gain: &ReadQueueGain, single: f64) -> PropertyEvidence {
    let points: Vec<(f64, f64)> =
        DEPTHS.iter().zip(rates).filter_map(|(d, r)| Some((f64::from(*d), median(r)?))).collect();
    let method = format!(
        "random 4 KiB reads with 1 to 32 in flight, {} rounds each in random order; gain over one at a \
         time: {} (none below 1.15, weak below 1.6, else real)",
        rates.first().map_or(0, Vec::len),
        gain.verdict()
    );
    let evidence = PropertyEvidence::from_method(method)
        .with_number("gain", gain.gain, "times")
        .with_number("best depth", f64::from(gain.depth), "")
        .with_number("one read at a time", single * 1e6, "µs")
        .with_number("gain, 95 % interval, low", gain.low, "times")
        .with_number("gain, 95 % interval, high", gain.high, "times")
        .with_numbers(points.iter().map(|(depth, rate)| (format!("reads at depth {depth}"), *rate, "IOPS")));
    let (x, y) = (
        PlotAxis::new("commands in flight", "", AxisScale::Log2),
        PlotAxis::new("reads", "IOPS", AxisScale::Log10),
    );
    evidence.with_plot(Plot::new("Random 4 KiB reads by commands in flight", x, y).with_line("reads", points))
}

fn slow_queue_finding(rates: &DepthRates) -> Option<Finding> {
    let (one, deep) = (median(rates.first()?)?, median(rates.last()?)?);
    (deep < SLOW_QUEUE_SHARE * one).then(|| {
        let verdict =
            format!("The card reads {:.2} × as fast with 32 reads in flight as with one.", deep / one);
        Finding::new("read-queue-slows", FindingWeight::Hint, 0.9, verdict)
            .because("one at a time", format!("{one:.0} IOPS"))
            .because("32 in flight", format!("{deep:.0} IOPS"))
            .with_advice("Keep few reads in flight.")
    })
}
