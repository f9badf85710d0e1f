//! I/O loop of one lane: keeps its queue full, counts completions, and stops at limits.
//!
//! The end of an I/O is also the start of the next one in the same slot, so timing needs at most one clock reading per
//! I/O.

use super::failures::{IoFailures, IoRetries};
use super::meter::LaneMeter;
use super::recorder::{StopChoice, StopRule};
use super::stream::IoStream;
use crate::interrupt::InterruptFlag;
use crate::io_counters;
use crate::target::{IoRequest, IoRound, RoundIo, Target, TargetError, TargetResult};
use cardscope_model::units::{MIB, NANOS_PER_S, Nanos, nanos_to_seconds};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PROGRESS_INTERVAL: Nanos = NANOS_PER_S / 4;

/// Limits of a lane in addition to the end of its streams.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LaneLimits {
    /// Unmeasured time at the start.
    pub(super) warmup: Nanos,
    pub(super) time: Option<Nanos>,
    /// True if the time limit applies only between passes.
    pub(super) whole_passes: bool,
    /// End of the session's budget on the target's clock.
    pub(super) deadline: Option<Nanos>,
}

#[derive(Debug, Default)]
pub(super) struct LaneShared {
    /// Raised when a lane fails or the required precision is reached: all others stop.
    pub(super) stop: AtomicBool,
    pub(super) bytes: AtomicU64,
    pub(super) budget_ended: AtomicBool,
    pub(super) write_limit_reached: AtomicBool,
    /// Bytes read and written, warm-up included; each lane adds its bytes when it ends, successful or not.
    pub(super) moved: [AtomicU64; 2],
    /// Each lane adds its failures when it ends.
    failures: Mutex<IoFailures>,
}

impl LaneShared {
    pub(super) fn failures(&self) -> MutexGuard<'_, IoFailures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn any_failed(&self) -> bool {
        self.failures().counts.failed() > 0
    }
}

pub(super) struct LaneContext<'a> {
    pub(super) interrupt: &'a InterruptFlag,
    pub(super) shared: &'a LaneShared,
    /// Receives the bytes of all lanes; only the first lane has it.
    pub(super) tick: Option<&'a mut dyn FnMut(u64)>,
    pub(super) stop_rule: Option<Box<dyn StopRule>>,
    pub(super) limits: LaneLimits,
    /// I/Os in flight of each stream.
    pub(super) queue: u32,
    pub(super) block: u64,
}

struct DriveLane<'a, 'w> {
    target: &'a mut dyn Target,
    watch: LaneContext<'w>,
    meter: LaneMeter,
    ready: Vec<IoRequest>,
    submitted: Vec<Nanos>,
    in_flight: usize,
    stopping: bool,
    warming: bool,
    measured_from: Nanos,
    next_tick: Nanos,
    clock: io_counters::ClockReading,
    reported: u64,
    slice: StopSlice,
    ios: u64,
    /// Bytes read and written.
    moved: [u64; 2],
    retries: IoRetries,
}

/// Portion of work passed to the stop rule: up to 16 I/Os or 1 MiB, at least one I/O.
struct StopSlice {
    size: u64,
    ios: u64,
    from: Nanos,
}

/// Drives `streams` on one lane, each with `watch.queue` I/Os in flight, until they end or a limit is reached.
pub(super) fn drive_lane(
    target: &mut dyn Target,
    streams: &mut [IoStream],
    watch: LaneContext<'_>,
) -> TargetResult<LaneMeter> {
    let (start, slots) = (target.now(), streams.len() * watch.queue as usize);
    let slice = StopSlice { size: (MIB / watch.block).clamp(1, 16), ios: 0, from: start };
    let mut lane = DriveLane {
        meter: LaneMeter::new(start),
        ready: Vec::with_capacity(slots),
        submitted: vec![start; slots],
        in_flight: 0,
        stopping: false,
        warming: watch.limits.warmup > 0,
        measured_from: start,
        next_tick: start + PROGRESS_INTERVAL,
        clock: io_counters::ClockReading::new(start),
        reported: 0,
        slice,
        ios: 0,
        moved: [0; 2],
        retries: IoRetries::default(),
        target,
        watch,
    };
    let temperature = lane.target.temperature();
    io_counters::set_temperature(temperature);
    lane.meter.note_temperature(temperature);
    let ended = lane.run_streams(streams);
    for (sum, bytes) in lane.watch.shared.moved.iter().zip(lane.moved) {
        sum.fetch_add(bytes, Ordering::Relaxed);
    }
    lane.watch.shared.failures().add_all(std::mem::take(&mut lane.retries).finish(lane.ios));
    ended.map(|()| lane.meter)
}

impl DriveLane<'_, '_> {
    fn run_streams(&mut self, streams: &mut [IoStream]) -> TargetResult {
        let LaneContext { queue, block, .. } = self.watch;
        // A division per I/O would be a large part of the cost of a simulated one.
        let alone = streams.len() == 1;
        let of = |slot: u32| if alone { 0 } else { (slot / queue) as usize };
        for slot in 0..self.submitted.len() as u32 {
            self.ready.extend(streams[of(slot)].next(slot));
        }
        let mut round = IoRound::default();
        while self.in_flight > 0 || !self.ready.is_empty() {
            self.run_round(&mut round)?;
            let nothing = round.ended.is_empty() && round.failed.is_empty();
            if self.in_flight == 0 && nothing {
                break;
            }
            if nothing || self.watch.interrupt.is_raised() {
                return Err(TargetError::Interrupted);
            }
            self.stopping |= self.watch.shared.stop.load(Ordering::Relaxed);
            for &RoundIo { slot, at } in &round.ended {
                if self.retries.on_success(slot) {
                    self.in_flight -= 1;
                } else {
                    self.count_io(slot, at, block);
                }
                self.queue_next(&mut streams[of(slot)], slot, at);
            }
            for (RoundIo { slot, at }, error) in round.failed.drain(..) {
                self.in_flight -= 1;
                let stream = &mut streams[of(slot)];
                if let Some(again) = self.retries.on_failure(slot, error, stream.content())? {
                    self.ready.push(again);
                    self.ios -= 1;
                } else {
                    self.stopping |= self.retries.has_too_many();
                    self.queue_next(stream, slot, at);
                }
            }
        }
        Ok(())
    }

    /// Queues the next I/O of a slot, unless the lane is stopping.
    #[inline]
    fn queue_next(&mut self, stream: &mut IoStream, slot: u32, at: Nanos) {
        self.stopping |= self.time_is_up(stream, at);
        if !self.stopping {
            self.submitted[slot as usize] = at;
            self.ready.extend(stream.next(slot));
        }
    }

    #[inline]
    fn run_round(&mut self, round: &mut IoRound) -> TargetResult {
        let outcome = self.target.round(&self.ready, round);
        self.in_flight += round.submitted;
        self.ios += round.submitted as u64;
        for io in &self.ready[..round.submitted] {
            self.moved[io.direction as usize] += u64::from(io.len);
        }
        self.ready.clear();
        match outcome {
            Err(TargetError::WriteLimitReached) => {
                self.watch.shared.write_limit_reached.store(true, Ordering::Relaxed);
                self.stopping = true;
                if self.in_flight == 0 { Ok(()) } else { self.target.round(&[], round) }
            }
            outcome => outcome,
        }
    }

    #[inline]
    fn count_io(&mut self, slot: u32, at: Nanos, block: u64) {
        self.in_flight -= 1;
        if self.meter.second_is_over(at) {
            let temperature = self.target.temperature();
            io_counters::set_temperature(temperature);
            self.meter.close_seconds(at, temperature);
        }
        self.meter.count(at, at.saturating_sub(self.submitted[slot as usize]), block);
        if at >= self.next_tick {
            self.report_progress(at);
        }
        if self.watch.stop_rule.is_some() {
            self.feed_stop_rule(at);
        }
    }

    #[inline]
    fn time_is_up(&mut self, stream: &IoStream, at: Nanos) -> bool {
        if self.warming && at >= self.measured_from + self.watch.limits.warmup {
            self.warming = false;
            self.measured_from = at;
            self.meter.restart(at);
        }
        if self.watch.limits.deadline.is_some_and(|d| at >= d) {
            self.watch.shared.budget_ended.store(true, Ordering::Relaxed);
            return true;
        }
        let over = !self.warming && self.watch.limits.time.is_some_and(|t| at >= self.measured_from + t);
        over && (!self.watch.limits.whole_passes || stream.at_pass_end())
    }

    fn report_progress(&mut self, at: Nanos) {
        let mine = self.meter.bytes();
        let new = mine.saturating_sub(self.reported);
        let all = self.watch.shared.bytes.fetch_add(new, Ordering::Relaxed) + new;
        self.reported = mine;
        self.next_tick = at + PROGRESS_INTERVAL;
        io_counters::add_bytes(new);
        if let Some(tick) = &mut self.watch.tick {
            self.clock.advance_to(at);
            tick(all);
        }
    }

    fn feed_stop_rule(&mut self, at: Nanos) {
        self.slice.ios += 1;
        if self.slice.ios < self.slice.size {
            return;
        }
        let (took, ios) = (nanos_to_seconds(at - self.slice.from), self.slice.ios);
        (self.slice.ios, self.slice.from) = (0, at);
        if let Some(pace) = &mut self.watch.stop_rule
            && pace.add_work(took, ios) == StopChoice::Stop
        {
            self.watch.shared.stop.store(true, Ordering::Relaxed);
            self.stopping = true;
        }
    }
}
