//! Single loop of a test: its threads drive one lane of the target each, or a single lane if the target has only one
//! (virtual time).

use super::drive::{LaneContext, LaneLimits, LaneShared, drive_lane};
use super::failures::IoFailures;
use super::meter::LaneMeter;
use super::recorder::{RunnerSettings, StopRule};
use super::stream::{IoStream, StreamPlan, data_content};
use crate::target::{LanePlan, Target, TargetError, TargetRegion, TargetResult};
use cardscope_model::random::mix_bits;
use cardscope_model::recipe::{FlushMode, RecipeTest, SpanSharing};
use cardscope_model::result::LoopSample;
use cardscope_model::units;
use std::sync::Barrier;
use std::sync::atomic::Ordering;

type LaneOutcome = TargetResult<LaneMeter>;

pub(super) struct LoopPlan<'a> {
    pub(super) test: &'a RecipeTest,
    pub(super) region: TargetRegion,
    pub(super) seed: u64,
    pub(super) counted: bool,
    pub(super) settings: &'a RunnerSettings<'a>,
}

impl LoopPlan<'_> {
    /// Runs the loop to its end; `shared` records what cut it short.
    pub(super) fn run_loop(
        &self,
        target: &mut dyn Target,
        shared: &LaneShared,
        stop_rule: Option<Box<dyn StopRule>>,
        tick: &mut dyn FnMut(u64),
    ) -> TargetResult<LoopSample> {
        let mut lanes = self.make_lanes(target)?;
        let per_lane = self.test.name.pattern.threads / (lanes.len() as u32 + 1);
        self.plan_lane(target, per_lane)?;
        for lane in &mut lanes {
            self.plan_lane(lane.as_mut(), per_lane)?;
        }
        let start = target.now();
        let watch = LaneContext { tick: Some(tick), stop_rule, ..self.lane_context(shared) };
        let meter = self.drive_all(target, lanes, watch)?;
        let flush = self.test.flush;
        if flush == FlushMode::Timed && self.test.name.op.writes() {
            flush_and_count(target, shared)?;
        }
        let end = if flush == FlushMode::Timed { target.now() } else { start };
        let sample = meter.finish(end, target.temperature(), self.counted);
        if flush == FlushMode::Untimed {
            flush_and_count(target, shared)?;
        }
        Ok(sample)
    }

    fn lane_context<'s>(&'s self, shared: &'s LaneShared) -> LaneContext<'s> {
        let (test, pattern) = (self.test, self.test.name.pattern);
        LaneContext {
            interrupt: self.settings.interrupt,
            shared,
            tick: None,
            stop_rule: None,
            limits: LaneLimits {
                warmup: units::seconds_to_nanos(test.warmup_s),
                time: test.limit.seconds.map(units::seconds_to_nanos),
                whole_passes: test.limit.whole_passes,
                deadline: self.settings.deadline,
            },
            queue: pattern.queue,
            block: pattern.block,
        }
    }

    /// Creates lanes for all threads but the first; none if the target must be driven from one thread.
    fn make_lanes(&self, target: &mut dyn Target) -> TargetResult<Vec<Box<dyn Target>>> {
        let mut lanes = Vec::new();
        for _ in 1..self.test.name.pattern.threads {
            match target.lane()? {
                Some(lane) => lanes.push(lane),
                None => return Ok(Vec::new()),
            }
        }
        Ok(lanes)
    }

    fn plan_lane(&self, lane: &mut dyn Target, threads: u32) -> TargetResult {
        let pattern = self.test.name.pattern;
        lane.plan(&LanePlan {
            depth: pattern.queue * threads,
            block: pattern.block,
            path: self.test.path,
            sync_each: self.test.sync_each,
            own_buffers: false,
        })
    }

    fn drive_all(
        &self,
        target: &mut dyn Target,
        lanes: Vec<Box<dyn Target>>,
        watch: LaneContext<'_>,
    ) -> LaneOutcome {
        let shared = watch.shared;
        let per_lane = self.test.name.pattern.threads as usize / (lanes.len() + 1);
        // The barrier lets all lanes start at the same time.
        let barrier = &Barrier::new(lanes.len() + 1);
        std::thread::scope(|scope| {
            let mut others = Vec::new();
            for (index, mut lane) in (1..).zip(lanes) {
                // The lane moves into its thread, since the kernel accepts no other thread for its ring.
                let mut streams = self.make_streams(index * per_lane, per_lane);
                others.push(scope.spawn(move || {
                    barrier.wait();
                    drive_or_stop(lane.as_mut(), &mut streams, self.lane_context(shared))
                }));
            }
            let mut streams = self.make_streams(0, per_lane);
            barrier.wait();
            let mut outcome = drive_or_stop(target, &mut streams, watch);
            for other in others {
                let theirs = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = merge_outcomes(outcome, theirs);
            }
            outcome
        })
    }

    fn make_streams(&self, first: usize, count: usize) -> Vec<IoStream> {
        (first..first + count).map(|thread| IoStream::new(self.stream_plan(thread as u64))).collect()
    }

    fn stream_plan(&self, thread: u64) -> StreamPlan {
        let test = self.test;
        let block = test.name.pattern.block;
        let region = self.thread_region(thread);
        let in_a_pass = region.len / block;
        let by_passes = test.limit.passes.map(|passes| u64::from(passes) * in_a_pass);
        let by_bytes = test.limit.bytes.map(|bytes| bytes.div_ceil(block));
        StreamPlan {
            region,
            block: block as u32,
            order: test.name.pattern.order,
            draw: test.random,
            op: test.name.op,
            content: data_content(test.data),
            ios: [by_passes, by_bytes].into_iter().flatten().min(),
            seed: mix_bits(self.seed ^ thread),
        }
    }

    /// Part of the region for one thread, in whole blocks.
    fn thread_region(&self, thread: u64) -> TargetRegion {
        let pattern = self.test.name.pattern;
        let TargetRegion { start, len } = self.region;
        let whole_blocks = |bytes: u64| bytes / pattern.block * pattern.block;
        match self.test.sharing {
            SpanSharing::Same => TargetRegion { start, len: whole_blocks(len) },
            SpanSharing::Slices => {
                let len = whole_blocks(len / u64::from(pattern.threads));
                TargetRegion { start: start + thread * len, len }
            }
        }
    }
}

/// Drives a lane. If it fails, all others stop.
fn drive_or_stop(lane: &mut dyn Target, streams: &mut [IoStream], watch: LaneContext<'_>) -> LaneOutcome {
    let shared = watch.shared;
    let outcome = drive_lane(lane, streams, watch);
    if outcome.is_err() {
        shared.stop.store(true, Ordering::Relaxed);
    }
    outcome
}

fn flush_and_count(target: &mut dyn Target, shared: &LaneShared) -> TargetResult {
    let mut failures = IoFailures::default();
    let flushed = failures.flush(target);
    shared.failures().add_all(failures);
    flushed
}

/// A card that is gone explains more than a neighbouring lane's interrupt.
fn merge_outcomes(a: LaneOutcome, b: LaneOutcome) -> LaneOutcome {
    match (a, b) {
        (Ok(mut mine), Ok(theirs)) => {
            mine.merge(theirs);
            Ok(mine)
        }
        (Err(TargetError::Interrupted), Err(other)) | (Err(other), _) | (Ok(_), Err(other)) => Err(other),
    }
}
