//! Runner of recipes: prepares the test area, runs the loops of each test, and records every sample before the next
//! loop.
//!
//! The caller passes in the storage of samples ([`PassRecorder::sample`]) and the rule when a figure is precise enough
//! ([`StopRule`]).

mod drive;
mod failures;
mod lanes;
mod meter;
mod pass_stages;
mod recorder;
mod stream;

use crate::event::Listener;
use crate::target::{LanePlan, Target, TargetError, TargetRegion, WriteQuota};
use cardscope_model::caveat::Caveat;
use cardscope_model::progress::{ProgressEvent, SpeedFigure};
use cardscope_model::random::mix_bits;
use cardscope_model::recipe::{KernelPath, RandomDraw, RangePreparation, Recipe, RecipeTest, TestSpan};
use cardscope_model::result::TIME_LIMIT_REASON;
use cardscope_model::test_name::{IoOrder, TestOp};
use cardscope_model::units::{NANOS_PER_S, Nanos, mb_per_s, nanos_to_seconds};
use drive::{LaneContext, LaneLimits, LaneShared, drive_lane};
use failures::IoFailures;
use lanes::LoopPlan;
pub use pass_stages::{ends_by_time, planned_stages};
pub use recorder::{PassRecorder, RecorderError, RunError, RunnerSettings, StopChoice, StopRule};
use std::sync::atomic::Ordering;
use std::time::Duration;
use stream::{IoStream, StreamPlan, data_content};

const ALL_FAILED: &str = "all of its I/Os failed";

const NO_MORE_BYTES: &str = "the write limit is reached; give a larger --max-write";

/// Runs one pass of `recipe`. `recorder` stores each sample before the next loop begins, so those stored before an
/// error remain valid. `events` receives the progress.
pub fn run_pass(
    target: &mut dyn Target,
    recipe: &Recipe,
    settings: &RunnerSettings<'_>,
    recorder: &mut dyn PassRecorder,
    events: &mut dyn Listener,
) -> Result<(), RunError> {
    if let Some(test) = recipe.tests.iter().find(|test| test.name.op.writes() && !settings.may_write) {
        return Err(RunError::ReadOnly(test.key()));
    }
    let area = target.area(recipe.area)?;
    let reserved = target.allowance().map_or(0, WriteQuota::reserved);
    let mut pass = RecipePass { target, recipe, area, settings, recorder, events };
    if settings.may_write {
        pass.prepare_area()?;
    }
    for (index, test) in recipe.tests.iter().enumerate() {
        match pass.unmeasurable_reason(test) {
            Some(reason) => pass.recorder.not_measured(index, reason),
            None => pass.run_test(index, test, reserved)?,
        }
        pass.limit_share(reserved, 1);
    }
    Ok(())
}

fn count_writing_loops(tests: &[RecipeTest]) -> u64 {
    let writing = tests.iter().filter(|test| test.name.op.writes());
    writing.map(|test| u64::from(test.discard_loops + test.loops)).sum()
}

/// Bytes moved, and the time for them.
type Moved = (u64, Nanos);
type Ran<T = ()> = Result<T, RunError>;

struct RecipePass<'a> {
    target: &'a mut dyn Target,
    recipe: &'a Recipe,
    area: TargetRegion,
    settings: &'a RunnerSettings<'a>,
    recorder: &'a mut dyn PassRecorder,
    events: &'a mut dyn Listener,
}

impl RecipePass<'_> {
    /// Limits writing for now to one of `shares` of the quota above `reserved`; the rest is set aside for later loops.
    fn limit_share(&mut self, reserved: u64, shares: u64) {
        if let Some(allowance) = self.target.allowance() {
            allowance.reserve(reserved);
            let left = allowance.available();
            allowance.reserve(reserved + left - left / shares.max(1));
        }
    }

    fn lacks_quota(&mut self, bytes: u64) -> bool {
        self.target.allowance().is_some_and(|allowance| allowance.available() < bytes)
    }

    fn is_past_deadline(&mut self) -> bool {
        let now = self.target.now();
        self.settings.deadline.is_some_and(|deadline| now >= deadline)
    }

    fn prepare_area(&mut self) -> Ran {
        if self.recipe.discard
            && let Err(error) = self.target.discard(self.area)
        {
            let text = format!("the discard at the start of the recipe was not possible ({error})");
            self.recorder.add_caveat(0, Caveat::Other { text });
        }
        if let Some(prepare) = self.recipe.prepare {
            let what = pass_stages::preparation_stage(self.settings.label);
            self.events.begin_stage(&what, Some(self.area.len), None);
            self.fill_region(None, self.area, prepare)?;
            self.rest(self.recipe.rest_after_prepare_s)?;
        }
        Ok(())
    }

    /// On a directory a hole would be read at memory speed, and on a card unwritten blocks answer faster than written
    /// ones.
    fn fill_region(&mut self, test: Option<usize>, area: TargetRegion, by: RangePreparation) -> Ran {
        let sector = u64::from(self.target.info().sector);
        let whole = area.len / by.block * by.block;
        let tail = TargetRegion { start: area.start + whole, len: (area.len - whole) / sector * sector };
        // The end of an area that is no multiple of the block is written by one shorter I/O.
        self.drive_writes(test, TargetRegion { start: area.start, len: whole }, by)?;
        self.drive_writes(test, tail, RangePreparation { block: tail.len, ..by })?;
        let mut failures = IoFailures::default();
        let flushed = failures.flush(self.target);
        self.recorder.add_failures(test, failures.counts, &failures.listed);
        Ok(flushed?)
    }

    fn drive_writes(&mut self, test: Option<usize>, region: TargetRegion, by: RangePreparation) -> Ran {
        if region.len == 0 {
            return Ok(());
        }
        let (block, path) = (by.block, KernelPath::Direct);
        self.target.plan(&LanePlan { depth: 1, block, path, sync_each: false, own_buffers: false })?;
        let mut stream = [IoStream::new(StreamPlan {
            region,
            block: block as u32,
            order: IoOrder::Sequential,
            draw: RandomDraw::Permutation,
            op: TestOp::Write,
            content: data_content(by.data),
            ios: Some(region.len / block),
            seed: self.settings.seed,
        })];
        let shared = LaneShared::default();
        let watch = LaneContext {
            interrupt: self.settings.interrupt,
            shared: &shared,
            tick: Some(&mut |bytes| self.events.report_bytes(bytes)),
            stop_rule: None,
            limits: LaneLimits::default(),
            queue: 1,
            block,
        };
        let driven = drive_lane(self.target, &mut stream, watch);
        self.report_moved(test, &shared);
        driven?;
        if shared.write_limit_reached.load(Ordering::Relaxed) {
            return Err(TargetError::WriteLimitReached.into());
        }
        Ok(())
    }

    /// Reports the bytes and failures of a run, however it ended.
    fn report_moved(&mut self, test: Option<usize>, shared: &LaneShared) {
        let [read, written] = shared.moved.each_ref().map(|bytes| bytes.load(Ordering::Relaxed));
        self.recorder.add_moved(read, written);
        let failures = shared.failures();
        self.recorder.add_failures(test, failures.counts, &failures.listed);
    }

    /// Reason why a test cannot be measured on this target.
    fn unmeasurable_reason(&mut self, test: &RecipeTest) -> Option<String> {
        if self.is_past_deadline() {
            return Some(TIME_LIMIT_REASON.to_owned());
        }
        let info = self.target.info();
        if test.span == TestSpan::Device && !info.whole_card {
            return Some("it needs a whole card, and the target is a file or directory".to_owned());
        }
        let wanted = test.filesystem.as_deref()?;
        let there = info.file_system.as_deref().unwrap_or("no file system");
        (info.file_system.as_deref() != Some(wanted))
            .then(|| format!("it needs {wanted}, and the target has {there}"))
    }

    fn run_test(&mut self, index: usize, test: &RecipeTest, reserved: u64) -> Ran {
        let region = match test.span {
            TestSpan::Area => TargetRegion { start: self.area.start, len: test.size.min(self.area.len) },
            TestSpan::Device => TargetRegion { start: 0, len: test.size.min(self.target.info().bytes) },
        };
        let (writes, block) = (test.name.op.writes(), test.name.pattern.block);
        // A loop writes at least its preparation and one block; the quota must have room for both.
        let prepared = if test.prepare.is_some() { region.len } else { 0 };
        if self.lacks_quota(prepared + if writes { block } else { 0 }) {
            self.recorder.not_measured(index, NO_MORE_BYTES.to_owned());
            return Ok(());
        }
        let what = pass_stages::test_stage(test, self.settings.label);
        self.events.begin_stage(&what, None, None);
        if let Some(prepare) = test.prepare
            && self.settings.may_write
        {
            self.events.begin_part(0.0..0.2, "writing its area", Some(region.len), None);
            self.fill_region(Some(index), region, prepare)?;
        }
        let (mut moved, mut nanos) = (0, 0);
        for number in 0..pass_stages::loop_count(test) {
            if number > test.discard_loops && self.is_past_deadline() {
                break;
            }
            if test.drop_caches
                && let Err(error) = self.target.drop_caches()
            {
                self.recorder.add_caveat(index, Caveat::CachesKept { reason: error.to_string() });
            }
            self.begin_loop(test, number, region);
            if writes {
                // A test of fixed length takes what it needs; tests limited by time share the rest of the quota.
                let shares = match (test.limit.passes, test.limit.bytes) {
                    (None, None) => count_writing_loops(&self.recipe.tests[index..]) - u64::from(number),
                    _ => 1,
                };
                self.limit_share(reserved, shares);
                if self.lacks_quota(block) {
                    if number == 0 {
                        self.recorder.not_measured(index, NO_MORE_BYTES.to_owned());
                    }
                    break;
                }
            }
            let Some(counted) = self.run_loop(index, test, number, region)? else { break };
            (moved, nanos) = (moved + counted.0, nanos + counted.1);
        }
        if nanos > 0 {
            let what = pass_stages::test_title(test, self.settings.label);
            let mb_s = mb_per_s(moved, nanos_to_seconds(nanos));
            self.events.event(&ProgressEvent::Figure(SpeedFigure { what, mb_s }));
        }
        self.target.caveats().into_iter().for_each(|caveat| self.recorder.add_caveat(index, caveat));
        let last = index + 1 == self.recipe.tests.len();
        if last && !self.settings.more_follow { Ok(()) } else { self.rest(test.rest_s) }
    }

    /// Runs and records a loop. Returns its bytes and nanoseconds (0 if discarded), or `None` if all I/Os failed.
    fn run_loop(
        &mut self,
        index: usize,
        test: &RecipeTest,
        number: u32,
        at: TargetRegion,
    ) -> Ran<Option<Moved>> {
        let seed = mix_bits(self.settings.seed ^ ((index as u64) << 32) ^ u64::from(number));
        let counted = number >= test.discard_loops;
        let this = LoopPlan { test, region: at, seed, counted, settings: self.settings };
        let stop_rule = test.until.and_then(|_| self.recorder.stop_rule(index));
        let mut tick = |bytes| self.events.report_bytes(bytes);
        let shared = LaneShared::default();
        let ended = this.run_loop(self.target, &shared, stop_rule, &mut tick);
        self.report_moved(Some(index), &shared);
        let sample = ended?;
        if sample.ios == 0 && shared.any_failed() {
            if number == 0 {
                self.recorder.not_measured(index, ALL_FAILED.to_owned());
            }
            return Ok(None);
        }
        let moved = if counted { (sample.bytes, sample.nanos) } else { (0, 0) };
        self.recorder.sample(index, number, sample).map_err(RunError::Recorder)?;
        let limits = [
            (&shared.budget_ended, "the time limit (--budget)"),
            (&shared.write_limit_reached, "the limit of bytes to write (--max-write)"),
        ];
        for (cut, what) in limits {
            if cut.load(Ordering::Relaxed) {
                let text = format!("{what} cut this test short");
                self.recorder.add_caveat(index, Caveat::Other { text });
            }
        }
        Ok(Some(moved))
    }

    fn begin_loop(&mut self, test: &RecipeTest, number: u32, region: TargetRegion) {
        let all = pass_stages::loop_count(test);
        let what = if all > 1 { format!("loop {} of {all}", number + 1) } else { String::new() };
        let share = |loops: u32| f64::from(loops) / f64::from(all);
        let (bytes, seconds) = (pass_stages::fixed_bytes(test, region.len), pass_stages::loop_seconds(test));
        self.events.begin_part(share(number)..share(number + 1), &what, bytes, seconds);
    }

    /// Rests in short portions, so that an interrupt ends it early.
    fn rest(&mut self, rest_s: f64) -> Ran {
        let mut left = Duration::from_secs_f64(rest_s);
        if !left.is_zero() {
            self.events.report_wait(rest_s);
        }
        while !left.is_zero() {
            if self.settings.interrupt.is_raised() {
                return Err(TargetError::Interrupted.into());
            }
            let portion = left.min(Duration::from_nanos(NANOS_PER_S / 10));
            self.target.idle(portion);
            left -= portion;
        }
        Ok(())
    }
}
