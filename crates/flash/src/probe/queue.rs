//! Gain of a queue for reads: random 4 KiB reads with 1 to 32 in flight, the depths in shuffled rounds. By Little's
//! law the gain over one at a time is the number of commands that the card works on in parallel.

use super::options::{Result, Sought, no_time_reason};
use super::read_tester::{ReadDeadline, ReadTester, stages};
use super::span::{SMALL_BYTES, random_extents};
use super::write_tester::{MAX_WRITE, WriteTester};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_engine::target::IoDirection;
use cardscope_model::card_map::plot::AxisScale::{Log2, Log10};
use cardscope_model::card_map::plot::Plot;
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::random::SeededRandom;
use cardscope_model::statistics::median;
use cardscope_statistics::estimate::estimate_values;
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

pub(super) fn measure_read_queue(reads: &mut ReadTester) -> Sought<Property<f64>> {
    let visit_s = DEPTHS.len() as f64 * RUN_S;
    let visits = ROUNDS.into_iter().find(|v| reads.context.has_time(*v as f64 * visit_s));
    let visits = visits.ok_or_else(|| no_time_reason(ROUNDS[0] as f64 * visit_s))?;
    reads.context.begin_stage(stages::QUEUE);
    let (before, end) = (reads.context.total_cost(), reads.generous_deadline(visits as f64 * visit_s));
    let single = single_read_s(reads, end)?;
    let single = single.ok_or_else(|| end.reason(reads.context).unwrap_or("no read succeeded"))?;
    let rates = time_depths(reads, visits, single, end)?;
    let cost = reads.context.cost_since(before);
    let gain = ReadQueueGain::from_rates(&rates);
    let gain = gain.ok_or_else(|| end.reason(reads.context).unwrap_or("too few reads succeeded"))?;
    reads.into.findings.extend(slow_queue_finding(&rates));
    Ok(gain.property(evidence(&rates, &gain, single).with_cost(cost)))
}

fn time_depths(reads: &mut ReadTester, visits: usize, single: f64, end: ReadDeadline) -> Result<DepthRates> {
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

fn single_read_s(reads: &mut ReadTester, end: ReadDeadline) -> Result<Option<f64>> {
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

fn run_depth(reads: &mut ReadTester, depth: u32) -> Result<DepthRun> {
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
        let medians = (1..DEPTHS.len()).filter_map(|which| Some((which, median(&rates[which])?)));
        let best = medians.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let pairs = rates[best.0].iter().zip(&rates[0]);
        let logs: Vec<f64> = pairs.map(|(many, one)| (many / one).ln()).collect();
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
    let points = DEPTHS.iter().zip(rates).filter_map(|(d, r)| Some((f64::from(*d), median(r)?)));
    let points: Vec<(f64, f64)> = points.collect();
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
    let x = ("commands in flight", "", Log2);
    let y = ("reads", "IOPS", Log10);
    evidence.with_plot(Plot::new("Random 4 KiB reads by commands in flight", x, y).with_line("reads", points))
}

fn slow_queue_finding(rates: &DepthRates) -> Option<Finding> {
    let (one, deep) = (median(rates.first()?)?, median(rates.last()?)?);
    (deep < SLOW_QUEUE_SHARE * one).then(|| {
        let ratio = deep / one;
        let verdict = format!("The card reads {ratio:.2} × as fast with 32 reads in flight as with one.");
        Finding::new("read-queue-slows", FindingWeight::Hint, 0.9, verdict)
            .because("one at a time", format!("{one:.0} IOPS"))
            .because("32 in flight", format!("{deep:.0} IOPS"))
            .with_advice("Keep few reads in flight.")
    })
}

const DEPTH: u32 = 32;

/// Writes of a slice with a queue; during the first and last [`DEPTH`] the queue is not full.
const SLICE: usize = 128;

const PAIRS: usize = 4;

const MIN_PAIRS: usize = 2;

const ONE_SLICE: usize = 64;

/// Seconds after which a slice starts no more writes.
const SLICE_SECONDS: f64 = 2.0;

/// A queue that needs this many times the time of a slice to drain is not filled again.
const HALTED_FACTOR: f64 = 4.0;

/// Gains below this, with an upper bound below [`FAKE_UPPER_BOUND`], mean a fake queue.
const FAKE_GAIN: f64 = 0.5;
const FAKE_UPPER_BOUND: f64 = 0.7;

const METHOD: &str = "random 4 KiB writes with 1 and with 32 in flight, in the order A B B A";

/// Largest range of the writes, and largest one where the random span is unknown.
const SPAN: u64 = 64 << 20;
const ONE_BLOCK: u64 = 4 << 20;

/// Bytes of new data for another comparison of reads, and seconds per run.
const FRESH_BYTES: u64 = 16 << 20;
const FRESH_SECONDS: f64 = 0.3;

const MAX_READS: usize = 4000;

/// Measures the gain of queued writes, and of queued reads of newly written data.
pub(super) fn measure_write_queues(bench: &mut WriteTester) -> Result<()> {
    let result = measure_write_queue(bench).and_then(|()| measure_fresh_reads(bench));
    bench.context.set_queue(MAX_WRITE, 1)?;
    result
}

/// Replaces the gain of queued reads by one of newly written data. Reads from a fast cache gain less than those
/// from flash, and benchmarks read data that they just wrote.
fn measure_fresh_reads(bench: &mut WriteTester) -> Result<()> {
    // Drawn in any case: a seed places later writes the same, whatever was found so far.
    let start = bench.slots.random_span(FRESH_BYTES, &mut bench.context.random);
    let queued = bench.into.queue_depth_effective.value;
    let (Some(start), Some(_)) = (start, queued) else { return Ok(()) };
    bench.require_time(3.0 * FRESH_SECONDS * PAIRS as f64)?;
    bench.context.set_queue(MAX_WRITE, 1)?;
    bench.write_in_order(start, FRESH_BYTES)?;
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        one.extend(fresh_rate(bench, start, 1)?);
        many.extend(fresh_rate(bench, start, DEPTH)?);
    }
    let Some(gain) = WriteQueueGain::from_rates(&one, &many) else { return Ok(()) };
    let old = &mut bench.into.queue_depth_effective;
    old.evidence = std::mem::take(&mut old.evidence)
        .with_number("gain, data just written", gain.value, "times")
        .with_number("read of it, one at a time", 1e6 / gain.one, "µs");
    old.value = Some((gain.value * 100.0).round() / 100.0);
    old.confidence = old.confidence.min(gain.confidence());
    Ok(())
}

/// Random reads per second of the new data, with `depth` in flight.
fn fresh_rate(bench: &mut WriteTester, start: u64, depth: u32) -> Result<Option<f64>> {
    bench.context.set_queue(SMALL_BYTES, depth)?;
    let mut next = random_extents(bench, start, FRESH_BYTES, MAX_READS).into_iter();
    let (mut reads, mut seconds) = (0, 0.0);
    bench.context.stream_for(IoDirection::Read, FRESH_SECONDS, &mut next, |_, end| {
        reads += 1;
        seconds = end;
    })?;
    Ok((reads > depth && seconds > 0.0).then(|| f64::from(reads) / seconds))
}

fn measure_write_queue(bench: &mut WriteTester) -> Result<()> {
    let before = bench.context.total_cost();
    let known = &bench.into.random_write_span_bytes;
    // Within one erase block every card reaches its best speed.
    let one_block = bench.slots.unit().min(ONE_BLOCK);
    let span = known.value.or(known.bound).map_or(one_block, |span| span.min(SPAN)).min(bench.slots.bytes());
    let Some(start) = bench.slots.random_span(span, &mut bench.context.random) else { return Ok(()) };
    let found = time_slice_pairs(bench, (start, span))?;
    let Some(gain) = found.and_then(|(one, many)| WriteQueueGain::from_rates(&one, &many)) else {
        bench.into.write_queue_gain = Property::not_tested("too few writes completed");
        return Ok(());
    };
    let evidence = gain.evidence().with_cost(bench.context.cost_since(before));
    bench.into.write_queue_gain = Property::measured(gain.value, gain.confidence(), evidence);
    if gain.is_fake() {
        bench.into.findings.push(gain.finding());
    }
    Ok(())
}

/// Writes per second of each slice, at depth 1 and at full depth.
type RatePairs = (Vec<f64>, Vec<f64>);

/// Times slices with and without a queue, in pairs. Returns `None` if nothing could be timed.
fn time_slice_pairs(bench: &mut WriteTester, area: (u64, u64)) -> Result<Option<RatePairs>> {
    // Not timed: these writes close the blocks of the part before.
    write_slice(bench, area, 1)?;
    bench.require_time(4.0 * SLICE_SECONDS)?;
    let Some(alone) = write_slice(bench, area, 1)? else { return Ok(None) };
    let Some(first) = write_slice(bench, area, DEPTH)? else { return Ok(None) };
    if first.seconds > HALTED_FACTOR * SLICE_SECONDS {
        return Ok(Some((alone.group_rates(), first.group_rates())));
    }
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        for depth in if pair % 2 == 0 { [1, DEPTH] } else { [DEPTH, 1] } {
            let expected = if depth == 1 { alone.seconds } else { first.seconds };
            if pair < MIN_PAIRS && !bench.has_time(expected) {
                // A single slice of each proves only a queue that was not drained in time: all of its groups are
                // slow then, which no single stall causes.
                return match first.seconds > SLICE_SECONDS {
                    true => Ok(Some((alone.group_rates(), first.group_rates()))),
                    false => Err(ProbeStop::Limit),
                };
            }
            // Complete pairs are valid even if the time ends.
            if !bench.has_time(expected) {
                one.truncate(many.len());
                many.truncate(one.len());
                return Ok(Some((one, many)));
            }
            let rate = write_slice(bench, area, depth)?.map(|s| s.rate(s.ends.len() > 2 * DEPTH as usize));
            let rates = if depth == 1 { &mut one } else { &mut many };
            rates.extend(rate);
        }
    }
    Ok(Some((one, many)))
}

/// Completion times of a slice, in seconds since its start.
struct WriteSlice {
    ends: Vec<f64>,
    seconds: f64,
}

impl WriteSlice {
    /// Writes per second; `full` excludes those before the queue was full.
    fn rate(&self, full: bool) -> f64 {
        let skip = if full { DEPTH as usize } else { 0 };
        let began = if skip == 0 { 0.0 } else { self.ends[skip - 1] };
        (self.ends.len() - skip) as f64 / (self.seconds - began)
    }

    /// Writes per second in [`PAIRS`] consecutive groups. A card that nearly halts takes minutes per filled queue,
    /// so its only slice is compared with one without a queue group by group. The same applies without time for
    /// [`MIN_PAIRS`].
    fn group_rates(&self) -> Vec<f64> {
        let mut last = 0.0;
        let rate = |group: &[f64]| {
            let began = std::mem::replace(&mut last, *group.last()?);
            Some(group.len() as f64 / (last - began))
        };
        let groups = self.ends.chunks_exact(self.ends.len() / PAIRS).take(PAIRS);
        groups.filter_map(rate).filter(|rate| rate.is_finite()).collect()
    }
}

/// Writes with `depth` in flight, until [`SLICE_SECONDS`].
fn write_slice(bench: &mut WriteTester, (start, span): (u64, u64), depth: u32) -> Result<Option<WriteSlice>> {
    bench.context.set_queue(SMALL_BYTES, depth)?;
    let extents = random_extents(bench, start, span, if depth == 1 { ONE_SLICE } else { SLICE });
    bench.context.save_before_write(&extents)?;
    let mut ends: Vec<f64> = Vec::with_capacity(SLICE);
    let mut next = extents.into_iter();
    bench.context.stream_for(IoDirection::Write, SLICE_SECONDS, &mut next, |_, end| ends.push(end))?;
    let seconds = ends.last().copied().unwrap_or(0.0);
    Ok((ends.len() >= PAIRS && seconds > 0.0).then_some(WriteSlice { ends, seconds }))
}

#[derive(Debug, Clone, Copy)]
struct WriteQueueGain {
    value: f64,
    /// 95 % interval; None for a single pair.
    ci: Option<[f64; 2]>,
    one: f64,
    many: f64,
}

impl WriteQueueGain {
    /// Gain from pairs of rates; `None` without a pair.
    fn from_rates(one: &[f64], many: &[f64]) -> Option<WriteQueueGain> {
        let logs: Vec<f64> = one.iter().zip(many).map(|(a, b)| (b / a).ln()).collect();
        let e = estimate_values(&logs)?;
        let level = |rates: &[f64]| estimate_values(rates).map_or(0.0, |e| e.median);
        let ci = e.ci95.map(|ci| ci.map(f64::exp));
        Some(WriteQueueGain { value: e.mean.exp(), ci, one: level(one), many: level(many) })
    }

    /// True for a fake queue. A single pair has no interval, so it is no proof.
    fn is_fake(&self) -> bool {
        self.value < FAKE_GAIN && self.ci.is_some_and(|ci| ci[1] < FAKE_UPPER_BOUND)
    }

    fn confidence(&self) -> f64 {
        let width = self.ci.map_or(f64::INFINITY, |[low, high]| (high / low).ln().abs());
        (1.0 - width / 2.0).clamp(0.5, 0.99)
    }

    fn evidence(&self) -> PropertyEvidence {
        let ends = ["gain, lower end of 95 %", "gain, upper end of 95 %"];
        let ends = self.ci.into_iter().flat_map(|ci| ends.into_iter().zip(ci));
        PropertyEvidence::from_method(METHOD)
            .with_number("one at a time", self.one, "IOPS")
            .with_number("32 in flight", self.many, "IOPS")
            .with_numbers(ends.map(|(end, gain)| (end, gain, "")))
    }

    fn finding(&self) -> Finding {
        let verdict = "The card nearly halts with many writes in flight: its queue is fake.";
        let interval = self.ci.map_or_else(String::new, |[low, high]| format!(" ({low:.2} to {high:.2})"));
        Finding::new("fake-queue", FindingWeight::Hint, self.confidence(), verdict)
            .because("one at a time", format!("{:.0} IOPS", self.one))
            .because("32 in flight", format!("{:.0} IOPS", self.many))
            .because("gain", format!("{:.2}{interval}", self.value))
            .with_advice("Keep few writes in flight, or use another card for a system disk.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends of `n` writes, one every `step` seconds.
    fn slice(n: usize, step: f64) -> WriteSlice {
        let ends: Vec<f64> = (1..=n).map(|i| i as f64 * step).collect();
        WriteSlice { seconds: ends[n - 1], ends }
    }

    #[test]
    fn one_slice_detects_a_halting_queue_only() {
        let alone = slice(64, 0.001);
        let gain = |many: &WriteSlice| {
            WriteQueueGain::from_rates(&alone.group_rates(), &many.group_rates()).unwrap()
        };
        assert!(gain(&slice(40, 1.0)).is_fake());
        assert!(!gain(&slice(128, 0.0005)).is_fake());
    }

    #[test]
    fn single_pair_has_no_interval_and_finite_numbers() {
        let gain = WriteQueueGain::from_rates(&[1000.0], &[10.0]).unwrap();
        assert!(gain.evidence().numbers.iter().all(|n| n.value.is_finite()));
        assert!(!gain.is_fake() && gain.confidence() == 0.5);
    }
}
