//! Gain of a queue for small writes, and detection of fake queues that nearly halt the card
//! (docs/reference/flash.md#queues).

use super::span::{SMALL_BYTES, random_extents};
use super::write_tester::{MAX_WRITE, WriteTester};
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::target::IoDirection;
use cardscope_model::card_map::property::{Property, PropertyEvidence, PropertyStatus};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_statistics::estimate::estimate_values;

const DEPTH: u32 = 32;

/// Writes of a slice with a queue; during the first and last [`DEPTH`] the queue is not full.
const SLICE: usize = 128;

const PAIRS: usize = 4;

/// Fewest pairs if the time ends early.
const MIN_PAIRS: usize = 2;

/// Writes of a slice without a queue.
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
pub(super) fn measure_queues(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let result = measure_write_queue(bench).and_then(|()| measure_fresh_reads(bench));
    bench.context.set_queue(MAX_WRITE, 1)?;
    result
}

/// Replaces the gain of queued reads by one of newly written data. Reads from a fast cache gain less than those
/// from flash, and benchmarks read data that they just wrote.
fn measure_fresh_reads(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let is_queue = bench.into.queue_depth_effective.value.is_some();
    let Some(start) = bench.slots.random_span(FRESH_BYTES, &mut bench.context.random).filter(|_| is_queue)
    else {
        return Ok(());
    };
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
    let numbers = [
        ("gain, data just written", gain.value, "times"),
        ("read of it, one at a time", 1e6 / gain.one, "µs"),
    ];
    old.evidence = std::mem::take(&mut old.evidence).with_numbers(numbers);
    old.value = Some((gain.value * 100.0).round() / 100.0);
    old.confidence = old.confidence.min(gain.confidence());
    Ok(())
}

/// Random reads per second of the new data, with `depth` in flight.
fn fresh_rate(bench: &mut WriteTester<'_, '_, '_>, start: u64, depth: u32) -> Result<Option<f64>, ProbeStop> {
    bench.context.set_queue(SMALL_BYTES, depth)?;
    let mut next = random_extents(bench, start, FRESH_BYTES, MAX_READS).into_iter();
    let (mut reads, mut seconds) = (0, 0.0);
    bench.context.stream_for(IoDirection::Read, FRESH_SECONDS, &mut next, |_, end| {
        reads += 1;
        seconds = end;
    })?;
    Ok((reads > depth && seconds > 0.0).then(|| f64::from(reads) / seconds))
}

fn measure_write_queue(bench: &mut WriteTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let before = bench.context.total_cost();
    let known = &bench.into.random_write_span_bytes;
    let span = match known.status {
        PropertyStatus::Measured | PropertyStatus::AtLeast => {
            known.value.or(known.bound).unwrap_or(SPAN).min(SPAN)
        }
        // Within one erase block every card reaches its best speed.
        PropertyStatus::None | PropertyStatus::NotTested => bench.slots.unit().min(ONE_BLOCK),
    };
    let span = span.min(bench.slots.bytes());
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
fn time_slice_pairs(
    bench: &mut WriteTester<'_, '_, '_>,
    area: (u64, u64),
) -> Result<Option<RatePairs>, ProbeStop> {
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
                let slow = first.seconds > SLICE_SECONDS;
                return if slow {
                    Ok(Some((alone.group_rates(), first.group_rates())))
                } else {
                    Err(ProbeStop::Limit)
                };
            }
            // Complete pairs are valid even if the time ends.
            if !bench.has_time(expected) {
                one.truncate(many.len());
                many.truncate(one.len());
                return Ok(Some((one, many)));
            }
            let rate = write_slice(bench, area, depth)?.map(|s| s.rate(s.ends.len() > 2 * DEPTH as usize));
            if depth == 1 {
                one.extend(rate)
            } else {
                many.extend(rate)
            };
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
fn write_slice(
    bench: &mut WriteTester<'_, '_, '_>,
    (start, span): (u64, u64),
    depth: u32,
) -> Result<Option<WriteSlice>, ProbeStop> {
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
        Some(WriteQueueGain {
            value: e.mean.exp(),
            ci: e.ci95.map(|ci| ci.map(f64::exp)),
            one: level(one),
            many: level(many),
        })
    }

    /// True for a fake queue. A single pair has no interval, so it is no proof.
    fn is_fake(&self) -> bool {
        self.value < FAKE_GAIN && self.ci.is_some_and(|ci| ci[1] < FAKE_UPPER_BOUND)
    }

    /// Confidence from the width of the interval.
    fn confidence(&self) -> f64 {
        let width = self.ci.map_or(f64::INFINITY, |[low, high]| (high / low).ln().abs());
        (1.0 - width / 2.0).clamp(0.5, 0.99)
    }

    fn evidence(&self) -> PropertyEvidence {
        let rates = [("one at a time", self.one, "IOPS"), ("32 in flight", self.many, "IOPS")];
        let ends = |[low, high]: [f64; 2]| {
            [("gain, lower end of 95 %", low, ""), ("gain, upper end of 95 %", high, "")]
        };
        PropertyEvidence::from_method(METHOD)
            .with_numbers(rates)
            .with_numbers(self.ci.map(ends).into_iter().flatten())
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
