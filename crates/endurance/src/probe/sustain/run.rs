//! Slices of a run: a quarter of a second of the workload, then small reads, a command without flash access and the
//! temperature; once a second also a long read, the card's counters and a read during writes.
//!
//! Regions of a run: the workload's, and one for test reads that the workload never overwrites, so that changes in their
//! time are not caused by new data.

use super::record::{AnswerWait, EmptySlices, RecordedSlice, RunRecord, transitions};
use super::{MIN_REGION, QUEUE_DEPTH, RANDOM_BLOCK, SEQUENTIAL_BLOCK, SampleRecorder, SustainOptions};
use crate::judge::series::{CompletionGap, SeriesSlice};
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::random::SeededRandom;
use cardscope_model::statistics::median;
use cardscope_model::sustain::{
    EventKind, PlacedTemperature, RunPhase, SustainEvent, SustainSample, WorkloadKind, WorkloadPattern,
};
use cardscope_probing::context::ProbeContext;
use std::time::Duration;

/// Seconds of the workload in a slice (docs/reference/flash.md#causes-of-a-slow-spell).
const SLICE_S: f64 = 0.25;

/// Slices between two measurements that are made once a second.
const SECOND_SLICES: usize = 4;

/// Least time without a completion that is recorded, in seconds.
const MIN_GAP_S: f64 = 0.1;

/// Commands without flash access in a slice.
const PINGS_PER_SLICE: usize = 3;

/// Target duration of a long read in seconds.
const LONG_READ_S: f64 = 0.012;

/// Limits of its bytes: larger than a reader's own memory (32 to 64 KiB), smaller than the region that is only read.
const LONG_READ_LIMITS: (u64, u64) = (256 << 10, 16 << 20);

/// Time for a block in seconds above which the queue depth is reduced, so that slices end in time.
const SLOW_BLOCK_S: f64 = 0.02;

/// Reduced queue depth: one I/O active and one waiting.
const SLOW_DEPTH: u32 = 2;

/// Number of consecutive slices without a success that ends the run: 5 s, enough for a reader to return from a reset.
const MAX_EMPTY_SLICES: u32 = 20;

/// Seconds without a success after which two slices suffice, since each I/O may take long to fail.
const MAX_EMPTY_S: f64 = 60.0;

/// Most latencies that are stored for quantiles.
const MAX_LATENCIES: usize = 200_000;

/// Name of the card's own thermometer.
const CARD_PLACE: &str = "card";

pub(super) struct SustainRun<'s, 't> {
    pub(super) context: ProbeContext<'s, 't>,
    pub(super) options: &'s SustainOptions,
    log: &'s mut dyn SampleRecorder,
    pub(super) regions: RegionParts,
    pub(super) record: RunRecord,
    pub(super) phase: RunPhase,
    began_s: f64,
    sampled_s: f64,
    long_bytes: u64,
    /// Failed reads and failed writes.
    empty_slices: [EmptySlices; 2],
    /// Bytes written before the workload, which do not count as part of it.
    pub(super) prepared_bytes: u64,
    /// True once heat or a card that fails everything ended the run early.
    pub(super) is_over: bool,
}

impl<'s, 't> SustainRun<'s, 't> {
    pub(super) fn new(
        mut context: ProbeContext<'s, 't>,
        options: &'s SustainOptions,
        log: &'s mut dyn SampleRecorder,
    ) -> Self {
        let began_s = context.seconds();
        SustainRun {
            regions: RegionParts::new(options),
            context,
            options,
            log,
            record: RunRecord { queue_depth: QUEUE_DEPTH, ..RunRecord::default() },
            phase: RunPhase::Main,
            began_s,
            sampled_s: 0.0,
            long_bytes: LONG_READ_LIMITS.0,
            empty_slices: [EmptySlices::default(); 2],
            prepared_bytes: 0,
            is_over: false,
        }
    }

    pub(super) fn elapsed_s(&mut self) -> f64 {
        self.context.seconds() - self.began_s
    }

    pub(super) fn seconds_left(&mut self) -> f64 {
        self.options.duration.as_secs_f64() - self.elapsed_s()
    }

    /// Bytes written by the workload, or read if it only reads.
    pub(super) fn workload_bytes(&self) -> u64 {
        if self.options.work == WorkloadKind::Read { self.record.read } else { self.record.written }
    }

    /// Bytes that the workload may still move.
    fn bytes_left(&self) -> u64 {
        let written = self.record.written - self.prepared_bytes;
        let used = match self.options.work {
            WorkloadKind::Read => self.record.read,
            WorkloadKind::Write => written,
            WorkloadKind::Mixed => written + self.record.read,
        };
        self.options.bytes.map_or(u64::MAX, |most| most.saturating_sub(used))
    }

    /// True if `--bytes` leaves no room for another I/O of the workload or, with `in_order`, for another sequential read.
    pub(super) fn is_used_up(&self, in_order: bool) -> bool {
        let one = match self.options.pattern {
            WorkloadPattern::Random if !in_order => RANDOM_BLOCK,
            _ => SEQUENTIAL_BLOCK,
        };
        self.is_limited(in_order) && self.bytes_left() < u64::from(one)
    }

    /// True if `--bytes` limits this I/O. Test reads after a workload of writes are not limited.
    fn is_limited(&self, in_order: bool) -> bool {
        !in_order || self.options.work != WorkloadKind::Write
    }

    /// Measures the size of long reads and the queue depth that fit in a slice.
    pub(super) fn calibrate(&mut self) -> Result<(), ProbeStop> {
        self.context.set_queue(SEQUENTIAL_BLOCK, QUEUE_DEPTH)?;
        if let Some(first) = self.context.health() {
            self.record.health = Some((first.clone(), first));
        }
        let one: Vec<_> = self.regions.long_read(u64::from(SEQUENTIAL_BLOCK)).collect();
        let mut times = Vec::new();
        for extent in one.repeat(3) {
            times.extend(self.context.time_read(extent)?);
        }
        let Some(block_s) = median(&times) else { return Ok(()) };
        let bytes = f64::from(SEQUENTIAL_BLOCK) * LONG_READ_S / block_s.max(1e-6);
        let (least, most) = LONG_READ_LIMITS;
        let block = u64::from(SEQUENTIAL_BLOCK);
        let unit = if bytes < block as f64 { least } else { block };
        self.long_bytes = (bytes as u64).clamp(least, most) / unit * unit;
        if block_s > SLOW_BLOCK_S {
            self.record.queue_depth = SLOW_DEPTH;
            self.context.set_queue(SEQUENTIAL_BLOCK, SLOW_DEPTH)?;
        }
        Ok(())
    }

    /// Measures a slice of the workload or, with `in_order`, of sequential I/O.
    pub(super) fn measure_slice(&mut self, writes: bool, in_order: bool) -> Result<(), ProbeStop> {
        if self.is_used_up(in_order) {
            return Ok(());
        }
        let at_s = self.elapsed_s();
        let at_bytes = if writes { self.record.written } else { self.record.read };
        let mut slice = SeriesSlice { at_s, at_bytes, ..SeriesSlice::default() };
        let ended = self.run_slice(writes, in_order, &mut slice);
        self.count_bytes(writes, slice.bytes);
        ended?;
        if slice.ios == 0 {
            return self.handle_empty_slice(writes, at_s);
        }
        self.empty_slices[usize::from(writes)] = EmptySlices::default();
        self.record_wait(slice.gaps.iter().map(|g| g.seconds).fold(0.0, f64::max));
        self.measure_every_slice(&mut slice)?;
        if self.record.slices.len().is_multiple_of(SECOND_SLICES) {
            self.measure_every_second(writes, &mut slice)?;
        }
        slice.throttles = self.transitions().map(|(t1, t2)| t1.saturating_add(t2));
        self.record.slices.push(RecordedSlice { slice, phase: self.phase, writes });
        self.sample_if_due()
    }

    fn sample_if_due(&mut self) -> Result<(), ProbeStop> {
        if self.elapsed_s() - self.sampled_s >= 1.0 { self.record_sample() } else { Ok(()) }
    }

    /// Handles a slice without a success. It has no speed, and several of them end the run.
    fn handle_empty_slice(&mut self, writes: bool, began_s: f64) -> Result<(), ProbeStop> {
        let took = self.elapsed_s() - began_s;
        self.record_wait(took);
        // The rest of the slice is idle, so that a card that refuses at once is not queried continuously.
        self.context.idle(Duration::from_secs_f64((SLICE_S - took).max(0.0)));
        let empty = &mut self.empty_slices[usize::from(writes)];
        *empty = EmptySlices { slices: empty.slices + 1, seconds: empty.seconds + took.max(SLICE_S) };
        let EmptySlices { slices, seconds } = *empty;
        if slices >= MAX_EMPTY_SLICES || slices >= 2 && seconds >= MAX_EMPTY_S {
            self.end_refused(writes, seconds);
        }
        self.sample_if_due()
    }

    /// Ends the run because the card fails all writes or all reads.
    pub(super) fn end_refused(&mut self, writes: bool, seconds: f64) {
        let (kind, why) = match writes {
            true => (EventKind::NoMoreWrites, "the card accepts no more writes"),
            false => (EventKind::NoMoreReads, "the card answers no more reads"),
        };
        self.end_run(why);
        self.record_event(kind, 0.99, &[("each failed for", format!("{seconds:.0} s"))]);
    }

    /// Records the time without an answer that ends now, if it is the longest.
    fn record_wait(&mut self, seconds: f64) {
        if self.record.longest_wait.is_none_or(|longest| longest.seconds < seconds) {
            let (at_s, at_bytes) = (self.elapsed_s(), self.workload_bytes());
            self.record.longest_wait = Some(AnswerWait { at_s, at_bytes, seconds });
        }
    }

    fn count_bytes(&mut self, writes: bool, bytes: u64) {
        match writes {
            true => self.record.written += bytes,
            false => self.record.read += bytes,
        }
    }

    /// Runs the workload for a quarter of a second.
    fn run_slice(&mut self, writes: bool, in_order: bool, slice: &mut SeriesSlice) -> Result<(), ProbeStop> {
        let direction = if writes { IoDirection::Write } else { IoDirection::Read };
        let mut room = if self.is_limited(in_order) { self.bytes_left() } else { u64::MAX };
        let regions = &mut self.regions;
        let mut next = std::iter::from_fn(|| {
            let extent = if in_order { regions.next_in_order(writes) } else { regions.next_extent(writes) };
            room = room.checked_sub(u64::from(extent.len))?;
            Some(extent)
        });
        let (at_bytes, mut intervals) = (slice.at_bytes, Vec::new());
        let ended = self.context.stream_for(direction, SLICE_S, &mut next, |extent, at| {
            let seconds = at - slice.seconds;
            intervals.push(seconds);
            if seconds >= MIN_GAP_S {
                slice.gaps.push(CompletionGap { at_bytes: at_bytes + slice.bytes, seconds });
            }
            slice.ios += 1;
            slice.bytes += u64::from(extent.len);
            slice.seconds = at;
        });
        slice.interval_s = median(&intervals);
        ended
    }

    /// Measures what is due in each slice.
    fn measure_every_slice(&mut self, slice: &mut SeriesSlice) -> Result<(), ProbeStop> {
        let mut times = Vec::with_capacity(self.regions.small.len());
        for extent in self.regions.small {
            times.extend(self.context.time_read(extent)?);
        }
        if self.record.idle_read_s.len() < MAX_LATENCIES {
            self.record.idle_read_s.extend(&times);
        }
        self.record_wait(times.iter().copied().fold(0.0, f64::max));
        slice.probe_s = median(&times);
        let mut pings = Vec::with_capacity(PINGS_PER_SLICE);
        for _ in 0..PINGS_PER_SLICE {
            pings.extend(self.context.ping()?);
        }
        slice.ping_s = median(&pings);
        slice.celsius = self.context.temperature();
        Ok(())
    }

    /// Measures what is due once a second.
    fn measure_every_second(&mut self, writes: bool, slice: &mut SeriesSlice) -> Result<(), ProbeStop> {
        let (began, mut bytes) = (self.context.seconds(), 0);
        let extents: Vec<_> = self.regions.long_read(self.long_bytes).collect();
        let wanted: u64 = extents.iter().map(|p| u64::from(p.len)).sum();
        self.context.read_stream(extents, |extent, _| bytes += u64::from(extent.len))?;
        let took = self.context.seconds() - began;
        slice.long_read_s = (bytes == wanted).then_some(took);
        let beside = u64::from(self.record.queue_depth) * u64::from(SEQUENTIAL_BLOCK);
        if writes && self.bytes_left() >= beside {
            // An extent that does not fit must not be taken, or the sequential order would have a gap.
            let depth = self.record.queue_depth;
            let others: Vec<_> = (1..depth).map(|_| self.regions.next_extent(true)).collect();
            let before = self.context.total_cost();
            let among = self.context.read_among_writes(&others, self.regions.small[0]);
            let cost = self.context.cost_since(before);
            self.count_bytes(true, cost.written_bytes);
            let among = among?;
            self.record_wait(cost.seconds);
            self.record.busy_read_us = among.map(|s| s * 1e6);
            self.record.busy_read_s.extend(among);
        }
        if let Some((_, last)) = &mut self.record.health
            && let Some(now) = self.context.health()
        {
            *last = now;
        }
        Ok(())
    }

    fn transitions(&self) -> Option<(u32, u32)> {
        self.record.health.as_ref().map(|(_, now)| transitions(now))
    }

    /// Waits without I/O, with a sample each second.
    pub(super) fn wait_idle(&mut self, seconds: f64) -> Result<(), ProbeStop> {
        let until = self.elapsed_s() + seconds;
        loop {
            let left = until - self.elapsed_s();
            if left <= 1e-6 {
                return Ok(());
            }
            self.context.check_interrupt()?;
            self.context.idle(Duration::from_secs_f64(left.min(1.0)));
            self.record_sample()?;
        }
    }

    /// Makes and stores the sample of the time since the last one.
    pub(super) fn record_sample(&mut self) -> Result<(), ProbeStop> {
        let at_s = self.elapsed_s();
        self.sampled_s = at_s;
        let celsius = self.context.temperature();
        let of_card = celsius.map(|celsius| PlacedTemperature { place: CARD_PLACE.to_owned(), celsius });
        let temperatures: Vec<_> = of_card.into_iter().chain(self.log.external_temperatures()).collect();
        self.end_if_too_hot(&temperatures);
        let (t1_transitions, t2_transitions) = self.transitions().unzip();
        let sample = self.record.take_sample(SustainSample {
            at_s,
            phase: self.phase,
            bytes_written: self.record.written,
            bytes_read: self.record.read,
            temperatures,
            t1_transitions,
            t2_transitions,
            ..SustainSample::default()
        });
        self.context.events.report_bytes(self.workload_bytes());
        self.log.sample(&sample)?;
        self.record.samples.push(sample);
        Ok(())
    }

    /// Ends the run if a thermometer of the card reaches the limit.
    fn end_if_too_hot(&mut self, temperatures: &[PlacedTemperature]) {
        let Some(most) = self.options.max_celsius.filter(|_| !self.is_over) else { return };
        let of_card = temperatures.iter().filter(|r| r.is_of_card()).map(|r| r.celsius);
        let Some(hottest) = of_card.reduce(f64::max).filter(|c| *c >= most) else { return };
        self.end_run("--max-temp");
        let text = |celsius: f64| format!("{celsius:.0} °C");
        self.record_event(EventKind::TooHot, 1.0, &[("temperature", text(hottest)), ("limit", text(most))]);
    }

    /// Records an event at the current time.
    pub(super) fn record_event(&mut self, kind: EventKind, confidence: f64, evidence: &[(&str, String)]) {
        let event = SustainEvent::new(kind, self.elapsed_s(), self.workload_bytes(), confidence);
        self.record.events.push(evidence.iter().fold(event, |e, (what, value)| e.because(what, value)));
    }

    /// Ends the run early.
    pub(super) fn end_run(&mut self, why: &str) {
        self.is_over = true;
        self.record.ended_by = why.to_owned();
    }
}

/// Most bytes at the start of the region that are only read.
const MAX_READ_ONLY_BYTES: u64 = 64 << 20;

/// Small reads in a slice (docs/reference/flash.md#causes-of-a-slow-spell).
const SMALL_READS: usize = 8;

#[derive(Debug)]
pub(super) struct RegionParts {
    /// Region that is only read.
    pub(super) reads: TargetRegion,
    /// Region of the workload.
    pub(super) work: TargetRegion,
    /// Small reads of each slice.
    pub(super) small: [CardExtent; SMALL_READS],
    pattern: WorkloadPattern,
    /// Next offsets of sequential writes and reads.
    next: [u64; 2],
    random: SeededRandom,
}

impl RegionParts {
    /// Divides a region of at least [`MIN_REGION`] bytes.
    pub(super) fn new(options: &SustainOptions) -> Self {
        let region = options.limits.region;
        debug_assert!(region.len >= MIN_REGION, "the caller refuses less");
        let block = u64::from(SEQUENTIAL_BLOCK);
        let start = region.start.next_multiple_of(block);
        let end = region.end() / block * block;
        let read_only = MAX_READ_ONLY_BYTES.min((end - start) / 8 / block * block).max(block);
        let reads = TargetRegion { start, len: read_only };
        let work = TargetRegion { start: start + read_only, len: end - start - read_only };
        let mut random = SeededRandom::new(options.limits.seed);
        let units = read_only / u64::from(RANDOM_BLOCK);
        let small = std::array::from_fn(|_| {
            let unit = random.below(units);
            CardExtent { offset: start + unit * u64::from(RANDOM_BLOCK), len: RANDOM_BLOCK }
        });
        RegionParts { reads, work, small, pattern: options.pattern, next: [0, 0], random }
    }

    /// Advances to the next extent of the workload, and starts over at the end of the region.
    pub(super) fn next_extent(&mut self, writes: bool) -> CardExtent {
        if self.pattern == WorkloadPattern::Sequential {
            return self.next_in_order(writes);
        }
        let unit = self.random.below(self.work.len / u64::from(RANDOM_BLOCK));
        CardExtent { offset: self.work.start + unit * u64::from(RANDOM_BLOCK), len: RANDOM_BLOCK }
    }

    /// Next sequential extent, whatever the pattern.
    pub(super) fn next_in_order(&mut self, writes: bool) -> CardExtent {
        let next = &mut self.next[usize::from(!writes)];
        let offset = self.work.start + *next;
        *next = (*next + u64::from(SEQUENTIAL_BLOCK)) % self.work.len;
        CardExtent { offset, len: SEQUENTIAL_BLOCK }
    }

    /// Extents of a long read, always at the same places.
    pub(super) fn long_read(&self, bytes: u64) -> impl Iterator<Item = CardExtent> + use<> {
        let len = bytes.min(u64::from(SEQUENTIAL_BLOCK)) as u32;
        let (start, count) = (self.reads.start, bytes.min(self.reads.len) / u64::from(len));
        (0..count).map(move |i| CardExtent { offset: start + i * u64::from(len), len })
    }
}
