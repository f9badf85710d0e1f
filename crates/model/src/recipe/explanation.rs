//! Explanation of a recipe for users: its tests, and an estimate of bytes and time of one run.

use super::{LoopAggregate, LoopLimit, Recipe, RecipeTest, SpanSharing, TestSpan};
use crate::test_name::TestOp;
use crate::units::{GIB, MB};
use serde::{Deserialize, Serialize};

/// Speed of the assumed card in MB/s (10^6 bytes): a slow card that is still sold.
const SLOW_CARD_MB_S: f64 = 20.0;

const CARD_BYTES: u64 = 64 * GIB;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedRecipe {
    pub name: String,
    pub title: String,
    pub version: u32,
    pub fingerprint: String,
    pub source: String,
    pub tool: Option<String>,
    pub area_bytes: u64,
    /// True if anything is written, including the preparation of the area.
    pub writes: bool,
    pub requires_state: Option<String>,
    pub tests: Vec<ExplainedTest>,
    pub estimate: TimeEstimate,
}

/// Explanation of a test. A loop ends at the first of its limits.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedTest {
    pub test: String,
    pub step: Option<String>,
    /// Bytes of the tested range; None is the whole card.
    #[serialize_always]
    pub size_bytes: Option<u64>,
    pub loops: u32,
    pub aggregate: LoopAggregate,
    pub seconds: Option<f64>,
    pub passes: Option<u32>,
    pub bytes: Option<u64>,
    /// Half width of the 95 % interval, in percent of the mean, that ends the test.
    pub until_percent: Option<f64>,
}

/// Upper estimate of one run on a card of a given speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeEstimate {
    pub card_mb_s: f64,
    pub seconds: f64,
    pub bytes_written: u64,
    pub bytes_read: u64,
}

impl Recipe {
    pub fn explain_recipe(&self) -> ExplainedRecipe {
        let planned = self.estimate_run(SLOW_CARD_MB_S, CARD_BYTES);
        ExplainedRecipe {
            name: self.name.clone(),
            title: self.title.clone(),
            version: self.version,
            fingerprint: self.fingerprint.clone(),
            source: self.source.clone(),
            tool: self.tool.clone(),
            area_bytes: self.area,
            writes: self.writes() || self.prepares(),
            requires_state: self.requires_state.clone(),
            tests: self.tests.iter().map(explain_test).collect(),
            estimate: TimeEstimate {
                card_mb_s: SLOW_CARD_MB_S,
                seconds: planned.seconds.round(),
                bytes_written: planned.bytes_written as u64,
                bytes_read: planned.bytes_read as u64,
            },
        }
    }

    /// Estimates one run on a card of `card_bytes` with the speed `mb_s` in both directions and at every block size.
    pub fn estimate_run(&self, mb_s: f64, card_bytes: u64) -> PlannedRun {
        let mut sum = PlannedRun::default();
        let speed = mb_s.max(1e-6) * MB;
        if self.prepare.is_some() {
            sum.add_write(self.area as f64, speed);
            sum.seconds += self.rest_after_prepare_s;
        }
        for (index, test) in self.tests.iter().enumerate() {
            sum.add_test(test, speed, card_bytes);
            if index + 1 < self.tests.len() {
                sum.seconds += test.rest_s;
            }
        }
        sum
    }
}

fn explain_test(test: &RecipeTest) -> ExplainedTest {
    ExplainedTest {
        test: test.name.to_string(),
        step: test.step.clone(),
        size_bytes: Some(test.size).filter(|size| *size != u64::MAX),
        loops: test.loops,
        aggregate: test.aggregate,
        seconds: test.limit.seconds.or(test.until.map(|until| until.max_s)),
        passes: test.limit.passes,
        bytes: test.limit.bytes,
        until_percent: test.until.map(|until| until.ci95_percent),
    }
}

/// Upper estimate of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlannedRun {
    pub bytes_written: f64,
    pub bytes_read: f64,
    pub seconds: f64,
}

impl PlannedRun {
    fn add_write(&mut self, bytes: f64, speed: f64) {
        self.bytes_written += bytes;
        self.seconds += bytes / speed;
    }

    fn add_test(&mut self, test: &RecipeTest, speed: f64, card_bytes: u64) {
        let range = if test.span == TestSpan::Device { test.size.min(card_bytes) } else { test.size };
        if test.prepare.is_some() {
            self.add_write(range as f64, speed);
        }
        let (bytes, seconds) = estimate_loop(test, range, speed);
        let loops = f64::from(test.loops) + f64::from(test.discard_loops);
        let read_share = match test.name.op {
            TestOp::Read => 1.0,
            TestOp::Write => 0.0,
            TestOp::Mix(percent) => f64::from(percent) / 100.0,
        };
        self.bytes_read += bytes * loops * read_share;
        self.bytes_written += bytes * loops * (1.0 - read_share);
        self.seconds += seconds * loops;
    }
}

fn estimate_loop(test: &RecipeTest, range: u64, speed: f64) -> (f64, f64) {
    let threads = f64::from(test.name.pattern.threads);
    let pass = if test.sharing == SpanSharing::Same { range as f64 * threads } else { range as f64 };
    let LoopLimit { passes, bytes, seconds, whole_passes } = test.limit;
    let by_time = seconds
        .or(test.until.map(|u| u.max_s))
        .map(|s| s * speed)
        .map(|b| if whole_passes { (b / pass).ceil() * pass } else { b });
    let by_passes = passes.map(|p| f64::from(p) * pass);
    let by_bytes = bytes.map(|b| b as f64 * threads);
    let measured = [by_time, by_passes, by_bytes].into_iter().flatten().fold(f64::INFINITY, f64::min);
    let all = measured + test.warmup_s * speed;
    (all, all / speed)
}
