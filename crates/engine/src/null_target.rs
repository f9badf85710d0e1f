//! Target that completes every I/O at once, to measure the overhead of the engine itself, which each session reports.

use crate::content::{ContentMatch, IoContent};
use crate::event::Silent;
use crate::interrupt::InterruptFlag;
use crate::runner::{PassRecorder, RecorderError, RunnerSettings, StopRule, run_pass};
use crate::target::{
    IoCompletion, IoRequest, LanePlan, Target, TargetError, TargetInfo, TargetRegion, TargetResult,
    place_area,
};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe;
use cardscope_model::result::{EngineCost, LoopSample};
use cardscope_model::units::Nanos;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct NullTarget {
    info: TargetInfo,
    epoch: Instant,
    waiting: Vec<u32>,
}

impl NullTarget {
    pub fn new(bytes: u64) -> Self {
        let (name, io_path) = ("null".to_owned(), "null");
        let info = TargetInfo { name, bytes, sector: 512, io_path, file_system: None, whole_card: true };
        NullTarget { info, epoch: Instant::now(), waiting: Vec::new() }
    }

    fn no_content_error() -> TargetError {
        TargetError::Unsupported("the null target has no content".to_owned())
    }
}

impl Target for NullTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }
    fn now(&mut self) -> Nanos {
        self.epoch.elapsed().as_nanos() as Nanos
    }
    fn plan(&mut self, plan: &LanePlan) -> TargetResult {
        self.waiting.clear();
        self.waiting.reserve(plan.depth as usize);
        Ok(())
    }
    #[inline]
    fn submit(&mut self, io: &IoRequest) -> TargetResult {
        self.waiting.push(io.slot);
        Ok(())
    }
    #[inline]
    fn complete(&mut self, _at_least: usize, done: &mut Vec<IoCompletion>) -> TargetResult {
        let at = self.now();
        done.extend(self.waiting.drain(..).map(|slot| IoCompletion { slot, at, result: Ok(()) }));
        Ok(())
    }
    fn flush(&mut self) -> TargetResult {
        Ok(())
    }
    fn discard(&mut self, _range: TargetRegion) -> TargetResult {
        Ok(())
    }
    fn idle(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
    fn area(&mut self, bytes: u64) -> TargetResult<TargetRegion> {
        place_area(self.info.bytes, bytes)
    }
    fn reopen(&mut self) -> TargetResult {
        Ok(())
    }
    fn buffer(&mut self, _slot: u32) -> TargetResult<&mut [u8]> {
        Err(Self::no_content_error())
    }
    fn compare(&mut self, _slot: u32, _expected: IoContent) -> TargetResult<ContentMatch> {
        Err(Self::no_content_error())
    }
}

/// Runs for about 3 ms: long enough for a steady figure, short enough to go unnoticed.
const RECIPE: &str = r#"
name = "overhead"
title = "the engine against a target that answers at once"
version = 1
source = "own"
[area]
size = "64MiB"
prepare = false
[[test]]
test = "RND4K Q1T1 read"
passes = 1
[[test]]
test = "RND4K Q32T1 read"
passes = 1
"#;

#[derive(Default)]
struct RecordCollector(Vec<f64>);

impl PassRecorder for RecordCollector {
    fn sample(&mut self, _test: usize, _index: u32, sample: LoopSample) -> Result<(), RecorderError> {
        self.0.push(sample.nanos as f64 / sample.ios as f64);
        Ok(())
    }
    fn not_measured(&mut self, _test: usize, _reason: String) {}
    fn add_caveat(&mut self, _test: usize, _caveat: Caveat) {}
    fn stop_rule(&mut self, _test: usize) -> Option<Box<dyn StopRule>> {
        None
    }
}

/// Measures the engine's own cost per I/O on this machine.
pub fn engine_cost() -> Option<EngineCost> {
    let recipe = recipe::parse(RECIPE, None).ok()?;
    let settings = RunnerSettings {
        label: "",
        seed: 1,
        may_write: false,
        interrupt: &InterruptFlag::default(),
        deadline: None,
        more_follow: false,
    };
    let mut collect = RecordCollector::default();
    run_pass(&mut NullTarget::new(1 << 30), &recipe, &settings, &mut collect, &mut Silent).ok()?;
    match collect.0[..] {
        [q1_ns, q32_ns] => Some(EngineCost { q1_ns, q32_ns }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn engine_cost_is_measured() {
        let overhead = super::engine_cost().expect("the built-in recipe runs");
        assert!(overhead.q1_ns > 0.0 && overhead.q32_ns > 0.0, "{overhead:?}");
    }
}
