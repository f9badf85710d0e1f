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
        pace: Option<Box<dyn StopRule>>,
        tick: &mut dyn FnMut(u64),
    ) -> TargetResult<LoopSample> {
        let mut lanes = self.make_lanes(target)?;
        let threads = self.test.name.pattern.threads;
        let per_lane = threads / (lanes.len() as u32 + 1);
        self.plan_lane(target, per_lane)?;
        for lane in &mut lanes {
            self.plan_lane(lane.as_mut(), per_lane)?;
        }
        let start = target.now();
        let meter = self.drive_all(target, lanes, shared, pace, tick)?;
        if self.test.flush == FlushMode::Timed && self.test.name.op.writes() {
            flush_and_count(target, shared)?;
        }
        let end = if self.test.flush == FlushMode::Timed { target.now() } else { start };
        let temperature = target.temperature();
        let sample = meter.finish(end, temperature, self.counted);
        if self.test.flush == FlushMode::Untimed {
            flush_and_count(target, shared)?;
        }
        Ok(sample)
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
        shared: &LaneShared,
        pace: Option<Box<dyn StopRule>>,
        tick: &mut dyn FnMut(u64),
    ) -> TargetResult<LaneMeter> {
        let threads = self.test.name.pattern.threads as usize;
        let per_lane = threads / (lanes.len() + 1);
        // The barrier lets all lanes start at the same time.
        let barrier = Barrier::new(lanes.len() + 1);
        let interrupt = self.settings.interrupt;
        std::thread::scope(|scope| {
            let others: Vec<_> = lanes
                .into_iter()
                .enumerate()
                .map(|(index, mut lane)| {
                    // The lane moves into its thread, since the kernel accepts no other thread for its ring.
                    let mut streams = self.make_streams((index + 1) * per_lane, per_lane);
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        let watch = LaneContext { interrupt, shared, tick: None, stop_rule: None };
                        self.drive_one(lane.as_mut(), &mut streams, watch)
                    })
                })
                .collect();
            let mut streams = self.make_streams(0, per_lane);
            barrier.wait();
            let watch = LaneContext { interrupt, shared, tick: Some(tick), stop_rule: pace };
            let mut outcome = self.drive_one(target, &mut streams, watch);
            for other in others {
                let theirs = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                outcome = merge_outcomes(outcome, theirs);
            }
            outcome
        })
    }

    fn drive_one(
        &self,
        lane: &mut dyn Target,
        streams: &mut [IoStream],
        watch: LaneContext<'_>,
    ) -> TargetResult<LaneMeter> {
        let shared = watch.shared;
        let pattern = self.test.name.pattern;
        let outcome = drive_lane(lane, streams, pattern.queue, pattern.block as u32, self.limits(), watch);
        if outcome.is_err() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn limits(&self) -> LaneLimits {
        LaneLimits {
            warmup: units::seconds_to_nanos(self.test.warmup_s),
            time: self.test.limit.seconds.map(units::seconds_to_nanos),
            whole_passes: self.test.limit.whole_passes,
            deadline: self.settings.deadline,
        }
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
        let block = self.test.name.pattern.block;
        let len = match self.test.sharing {
            SpanSharing::Same => self.region.len,
            SpanSharing::Slices => self.region.len / u64::from(self.test.name.pattern.threads),
        } / block
            * block;
        let start = match self.test.sharing {
            SpanSharing::Same => self.region.start,
            SpanSharing::Slices => self.region.start + thread * len,
        };
        TargetRegion { start, len }
    }
}

fn flush_and_count(target: &mut dyn Target, shared: &LaneShared) -> TargetResult {
    let mut failures = IoFailures::default();
    let flushed = failures.flush(target);
    shared.failures().add_all(failures);
    flushed
}

/// A card that is gone explains more than a neighbouring lane's interrupt.
fn merge_outcomes(a: TargetResult<LaneMeter>, b: TargetResult<LaneMeter>) -> TargetResult<LaneMeter> {
    match (a, b) {
        (Ok(mut mine), Ok(theirs)) => {
            mine.merge(theirs);
            Ok(mine)
        }
        (Err(TargetError::Interrupted), Err(other)) | (Err(other), _) | (Ok(_), Err(other)) => Err(other),
    }
}
