//! What `bench --json` prints and the archive keeps: results of tests, runs, and their summary.
//!
//! In every output `mb_s * 1e6 = iops * block` holds, because all of them come from the same bytes and seconds.

use crate::caveat::Caveat;
use crate::histogram::LatencyHistogram;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::series::TimeSeries;
use crate::test_name::{AccessPattern, TestName, TestOp};
use crate::units::{NANOS_PER_S, Nanos, mb_per_s, measured};
use serde::{Deserialize, Serialize};

/// Latency in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyUs {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 % are below.
    pub p99: f64,
    /// 99.9 % are below.
    pub p999: f64,
    /// Longest.
    pub max: f64,
}

impl From<&LatencyHistogram> for LatencyUs {
    fn from(h: &LatencyHistogram) -> Self {
        let us = |n: Nanos| n as f64 / 1e3;
        LatencyUs {
            mean: measured(h.mean() / 1e3),
            p50: us(h.quantile(0.5)),
            p99: us(h.quantile(0.99)),
            p999: us(h.quantile(0.999)),
            max: us(h.max()),
        }
    }
}

/// Temperature in °C over a test; `None` where nobody can tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TemperatureC {
    /// At its start.
    pub start: Option<f64>,
    /// At its end.
    pub end: Option<f64>,
    /// Highest in between.
    pub max: Option<f64>,
}

/// One loop of a test, as measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoopSample {
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os done.
    pub ios: u64,
    /// Nanoseconds of the target's clock, with the flush where the recipe times it.
    pub nanos: Nanos,
    /// Latencies.
    pub histogram: LatencyHistogram,
    /// The series over time.
    pub series: TimeSeries,
    /// Temperatures.
    pub temperature_c: TemperatureC,
    /// False for a loop that the recipe discards.
    pub counted: bool,
}

impl LoopSample {
    /// Speed in MB/s.
    pub fn mb_s(&self) -> f64 {
        mb_per_s(self.bytes, self.nanos as f64 / NANOS_PER_S as f64)
    }
}

/// One loop, in figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopResult {
    /// False for a loop that the recipe discards.
    pub counted: bool,
    /// Speed in MB/s.
    pub mb_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds of the target's clock.
    pub seconds: f64,
    /// Mean latency in microseconds.
    pub mean_latency_us: f64,
}

/// How well a figure is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Precision {
    /// Half width of the 95 % interval in percent of the mean; `None` where too little was measured to say.
    pub ci95_percent: Option<f64>,
    /// True where it is as narrow as the recipe wants it.
    pub reached: bool,
}

/// What a test measured in one run: all its counted loops together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The pattern: `RND4K Q32T1`.
    pub test: AccessPattern,
    /// Read, write or mix.
    pub op: TestOp,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Speed in MB/s: all bytes of the counted loops over all their seconds.
    pub mb_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Latency over all counted loops.
    pub latency_us: LatencyUs,
    /// Bytes of the counted loops.
    pub bytes: u64,
    /// I/Os of the counted loops.
    pub ios: u64,
    /// Seconds of the counted loops.
    pub seconds: f64,
    /// Temperatures.
    pub temperature_c: TemperatureC,
    /// The value that the recipe reports for this run in MB/s (its aggregate over the loops).
    pub recipe_value: f64,
    /// The same as the original tool prints it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_prints: Option<ToolPrints>,
    /// Share of what the bus can carry, 0 to 1, where the bus is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bus_share: Option<f64>,
    /// How well the speed is known, where the recipe repeats until it is known well enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub precision: Option<Precision>,
    /// The loops.
    pub loops: Vec<LoopResult>,
    /// The series over all counted loops.
    pub series: TimeSeries,
    /// Doubts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caveats: Vec<Caveat>,
}

impl TestResult {
    /// Whether I/Os of it failed, so that its figures are doubtful.
    pub fn met_failed_ios(&self) -> bool {
        self.caveats.iter().any(|caveat| matches!(caveat, Caveat::FailedIos { .. }))
    }

    /// A speed of which nothing else is known.
    pub fn of(name: TestName, mb_s: f64) -> Self {
        TestResult {
            test: name.pattern,
            op: name.op,
            step: None,
            mb_s,
            iops: 0.0,
            latency_us: LatencyUs::default(),
            bytes: 0,
            ios: 0,
            seconds: 0.0,
            temperature_c: TemperatureC::default(),
            recipe_value: mb_s,
            tool_prints: None,
            bus_share: None,
            precision: None,
            loops: Vec::new(),
            series: TimeSeries::default(),
            caveats: Vec::new(),
        }
    }

    /// Pattern and operation together.
    pub fn name(&self) -> TestName {
        TestName { pattern: self.test, op: self.op }
    }

    /// The word by which demands and scores name this result.
    pub fn key(&self) -> String {
        self.step.clone().unwrap_or_else(|| self.name().to_string())
    }
}

/// A number as the original tool prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolPrints {
    /// The number.
    pub value: f64,
    /// Its unit as the tool writes it.
    pub unit: String,
}

/// Why a test was not measured for which no time was left.
pub const TIME_IS_UP: &str = "the time limit (--budget) was reached";

/// A test that a recipe lists and that could not be measured here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotMeasured {
    /// The pattern.
    pub test: AccessPattern,
    /// Read, write or mix.
    pub op: TestOp,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Why.
    pub reason: String,
}

/// What one pass of a recipe measured: all its tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Counts from 1.
    pub run: u32,
    /// False where the run is not part of the summary.
    pub counted: bool,
    /// The seed of its random places and data.
    pub seed: u64,
    /// What was measured, in order.
    pub results: Vec<TestResult>,
    /// What could not be.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_measured: Vec<NotMeasured>,
    /// What the original tool would score, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scores: Vec<(String, f64)>,
    /// Whether the run met the recipe's demands; `None` where it has none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub passed: Option<bool>,
}

/// A test over all counted runs, in MB/s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The pattern.
    pub test: AccessPattern,
    /// Read, write or mix.
    pub op: TestOp,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Counted runs.
    pub n: u32,
    /// Mean.
    pub mean: f64,
    /// Fastest run.
    pub best: f64,
    /// Slowest run.
    pub worst: f64,
    /// Median.
    pub median: f64,
    /// 95 % interval of the mean; `None` for one run.
    pub ci95: Option<[f64; 2]>,
    /// The recipe's own figure over the runs, in MB/s.
    pub recipe_value: f64,
    /// What the original tool would print for it.
    pub tool_prints: Option<ToolPrints>,
}

/// What the engine itself costs on this machine, measured on a target that answers at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EngineCost {
    /// Nanoseconds for each I/O, one at a time.
    pub q1_ns: f64,
    /// Nanoseconds for each I/O, 32 in flight.
    pub q32_ns: f64,
}

/// A session: several runs of a recipe on a target under one condition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// The recipe's name.
    pub recipe: String,
    /// Version and hash of the recipe's text, so that two results can be told to be comparable.
    pub recipe_version: String,
    /// What the bus can carry in MB/s, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bus_ceiling_mb_s: Option<f64>,
    /// What the engine itself costs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub engine_cost: Option<EngineCost>,
    /// The runs.
    pub runs: Vec<RunResult>,
    /// Over all counted runs.
    pub summary: Vec<Summary>,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
}

/// The document of `bench`.
pub type BenchReport = Report<BenchResult>;

impl BenchResult {
    /// True where no test of a counted run has a figure.
    pub fn is_untested(&self) -> bool {
        !self.runs.iter().any(|run| run.counted && !run.results.is_empty())
    }
}

impl ReportBody for BenchResult {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.is_untested())
    }

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
