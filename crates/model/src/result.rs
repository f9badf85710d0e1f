//! Document of `bench`: results of tests, runs, and their summary.
//!
//! `mb_s * 1e6 = iops * block` holds in every output, because all of them derive from the same bytes and seconds.

use crate::caveat::Caveat;
use crate::histogram::LatencyHistogram;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::series::TimeSeries;
use crate::test_name::{AccessPattern, TestName, TestOp};
use crate::units::{NANOS_PER_S, Nanos, mb_per_s, round_measured};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyUs {
    pub mean: f64,
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl From<&LatencyHistogram> for LatencyUs {
    fn from(h: &LatencyHistogram) -> Self {
        let us = |n: Nanos| n as f64 / 1e3;
        LatencyUs {
            mean: round_measured(h.mean() / 1e3),
            p50: us(h.quantile(0.5)),
            p99: us(h.quantile(0.99)),
            p999: us(h.quantile(0.999)),
            max: us(h.max()),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TemperatureC {
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub max: Option<f64>,
}

/// Raw measurement of one loop of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopSample {
    pub bytes: u64,
    pub ios: u64,
    /// Duration by the target's clock, including the flush if the recipe measures it.
    pub nanos: Nanos,
    pub histogram: LatencyHistogram,
    pub series: TimeSeries,
    pub temperature_c: TemperatureC,
    /// False for a loop that the recipe discards.
    pub counted: bool,
}

impl LoopSample {
    pub fn mb_s(&self) -> f64 {
        mb_per_s(self.bytes, self.nanos as f64 / NANOS_PER_S as f64)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopResult {
    pub counted: bool,
    pub mb_s: f64,
    pub iops: f64,
    pub bytes: u64,
    pub seconds: f64,
    pub mean_latency_us: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    pub ci95_percent: Option<f64>,
    pub reached: bool,
}

/// Result of a test in one run, over all its counted loops.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    pub test: AccessPattern,
    pub op: TestOp,
    /// Step of the recipe, if it has the same test twice.
    pub step: Option<String>,
    /// All bytes of the counted loops over all their seconds.
    pub mb_s: f64,
    pub iops: f64,
    pub latency_us: LatencyUs,
    pub bytes: u64,
    pub ios: u64,
    pub seconds: f64,
    pub temperature_c: TemperatureC,
    /// Value of the recipe in MB/s, by its aggregate over the loops.
    pub recipe_value: f64,
    pub tool_prints: Option<ToolPrints>,
    pub bus_share: Option<f64>,
    pub precision: Option<Precision>,
    pub loops: Vec<LoopResult>,
    pub series: TimeSeries,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caveats: Vec<Caveat>,
}

impl TestResult {
    pub fn has_failed_ios(&self) -> bool {
        self.caveats.iter().any(|caveat| matches!(caveat, Caveat::FailedIos { .. }))
    }

    pub fn from_speed(name: TestName, mb_s: f64) -> Self {
        TestResult { test: name.pattern, op: name.op, mb_s, recipe_value: mb_s, ..TestResult::default() }
    }

    pub fn name(&self) -> TestName {
        TestName { pattern: self.test, op: self.op }
    }

    /// Returns the name in demands and scores: the step, else the test's name.
    pub fn key(&self) -> String {
        self.step.clone().unwrap_or_else(|| self.name().to_string())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolPrints {
    pub value: f64,
    pub unit: String,
}

pub const TIME_LIMIT_REASON: &str = "the time limit (--budget) was reached";

/// Test of the recipe that could not be measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotMeasured {
    pub test: AccessPattern,
    pub op: TestOp,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub reason: String,
}

/// Results of one pass over a recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    pub run: u32,
    /// False if the run is not part of the summary.
    pub counted: bool,
    pub seed: u64,
    pub results: Vec<TestResult>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_measured: Vec<NotMeasured>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scores: Vec<(String, f64)>,
    /// True if the run met the recipe's demands; None if it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passed: Option<bool>,
}

/// Statistics of a test over all counted runs, in MB/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub test: AccessPattern,
    pub op: TestOp,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub n: u32,
    pub mean: f64,
    pub best: f64,
    pub worst: f64,
    pub median: f64,
    pub ci95: Option<[f64; 2]>,
    pub recipe_value: f64,
    pub tool_prints: Option<ToolPrints>,
}

/// Overhead of the I/O engine on this machine, measured with a target that answers at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EngineCost {
    pub q1_ns: f64,
    pub q32_ns: f64,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    pub recipe: String,
    /// Fingerprint of the recipe; results with the same one are comparable.
    pub recipe_version: String,
    pub bus_ceiling_mb_s: Option<f64>,
    pub engine_cost: Option<EngineCost>,
    pub runs: Vec<RunResult>,
    pub summary: Vec<Summary>,
    #[serde(flatten)]
    pub moved: IoTotals,
}

pub type BenchReport = Report<BenchResult>;

impl BenchResult {
    /// True if no counted run has a figure.
    pub fn is_untested(&self) -> bool {
        !self.runs.iter().any(|run| run.counted && !run.results.is_empty())
    }
}

impl ReportBody for BenchResult {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.is_untested())
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
