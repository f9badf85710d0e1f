//! A run and its figures in the one shape that importers, archive, comparison and report share, whoever measured.
//!
//! What the engine measures in more detail ([`crate::result`]) becomes such a run when it is stored. `mb_s` is MB/s
//! (10^6) whatever a tool printed; what it printed stands beside it.

use crate::condition::Condition;
use crate::result::{self, ToolPrints};
use crate::setting::Setting;
use crate::test_name::{AccessPattern, TestName, TestOp};
use crate::with_defaults;
use serde::{Deserialize, Serialize};

/// The fastest that is taken for a speed, in MB/s (10^6): a petabyte a second, a thousand times what any memory does.
/// Squares of it summed over any number of runs stay numbers.
pub const MOST_MB_S: f64 = 1e9;

with_defaults! {
    /// One run: each test once, under one condition.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Run {
        /// Counts from 1.
        pub run: u32 = 0,
        /// False where the run is not part of the summary; a log has none such.
        #[serde(skip, default = "yes")]
        pub counted: bool = true,
        /// Size of the test file or area in bytes.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pub size_bytes: Option<u64> = None,
        /// Loops in it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pub loops: Option<u32> = None,
        /// What was true of this run and not of all beside it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pub condition: Option<Condition> = None,
        /// What it measured.
        pub results: Vec<TestFigure> = Vec::new(),
    }
}

/// What one test gave in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestFigure {
    /// The pattern.
    pub test: AccessPattern,
    /// Read, write or mix.
    pub op: TestOp,
    /// Where a recipe or log has the same test twice: `re-read`, `direct`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Speed in MB/s (10^6), as exact as it is known.
    pub mb_s: f64,
    /// I/Os per second, where known; a log that prints 0 for less than one does not say.
    pub iops: Option<f64>,
    /// Mean latency in microseconds, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency_us: Option<f64>,
    /// Longest latency in microseconds, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_latency_us: Option<f64>,
    /// Latencies in microseconds below which half, 99 % and 99.9 % of all I/Os are, where known.
    #[serde(skip_serializing_if = "LatencyPercentiles::is_unknown", default)]
    pub percentiles_us: LatencyPercentiles,
    /// The figure and its unit as the tool prints it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub as_printed: Option<ToolPrints>,
}

/// Latencies below which a share of all I/Os is, in microseconds; `None` where the source does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyPercentiles {
    /// Half of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p50: Option<f64>,
    /// 99 %.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p99: Option<f64>,
    /// 99.9 %.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub p999: Option<f64>,
}

impl LatencyPercentiles {
    /// True where none is known.
    pub fn is_unknown(&self) -> bool {
        *self == LatencyPercentiles::default()
    }

    /// All of them, from the lowest.
    pub fn all_mut(&mut self) -> [&mut Option<f64>; 3] {
        [&mut self.p50, &mut self.p99, &mut self.p999]
    }
}

/// A run of a card, with all that decides what it may be compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct CardRun {
    /// Its session, by name.
    pub session: String,
    /// Its card, by its name in the archive.
    pub card_id: String,
    /// The unit, where it could be told from others.
    pub unit: Option<String>,
    /// How it was measured.
    pub setting: Setting,
    /// When: UTC for what was measured here, the log's own date for a log; `None` where nobody knows.
    pub at: Option<String>,
    /// The file it is from.
    pub source: Option<String>,
    /// What it measured.
    pub run: Run,
}

const fn yes() -> bool {
    true
}

impl TestFigure {
    /// A figure of which nothing but its speed is known.
    pub fn of(name: TestName, mb_s: f64) -> Self {
        TestFigure {
            test: name.pattern,
            op: name.op,
            step: None,
            mb_s,
            iops: None,
            latency_us: None,
            max_latency_us: None,
            percentiles_us: LatencyPercentiles::default(),
            as_printed: None,
        }
    }

    /// Pattern and operation together.
    pub fn name(&self) -> TestName {
        TestName { pattern: self.test, op: self.op }
    }

    /// What the tool printed; the speed where no tool printed anything.
    pub fn printed(&self) -> ToolPrints {
        self.as_printed.clone().unwrap_or(ToolPrints { value: self.mb_s, unit: "MB/s".to_owned() })
    }

    /// False for what no card can have done: bad input has NaN, infinity, negative speeds and 1e308 MB/s.
    pub fn is_speed(&self) -> bool {
        (0.0..=MOST_MB_S).contains(&self.mb_s)
    }

    /// The figure without the details that are no numbers, or are beyond what can be summed up over many runs.
    fn sane(mut self) -> Self {
        // The fastest speed in the least unit.
        let is_countable = |value: &f64| value.abs() <= MOST_MB_S * 1e6;
        let latencies = [&mut self.latency_us, &mut self.max_latency_us];
        for detail in latencies.into_iter().chain(self.percentiles_us.all_mut()).chain([&mut self.iops]) {
            *detail = detail.filter(is_countable);
        }
        self.as_printed = self.as_printed.filter(|printed| is_countable(&printed.value));
        self
    }
}

impl From<&result::RunResult> for Run {
    /// What was measured here, without its details, and without what failed I/Os touched: that is no card's figure.
    fn from(run: &result::RunResult) -> Self {
        let figure = |r: &result::TestResult| TestFigure {
            step: r.step.clone(),
            iops: Some(r.iops),
            latency_us: Some(r.latency_us.mean),
            max_latency_us: Some(r.latency_us.max),
            percentiles_us: LatencyPercentiles {
                p50: Some(r.latency_us.p50),
                p99: Some(r.latency_us.p99),
                p999: Some(r.latency_us.p999),
            },
            as_printed: r.tool_prints.clone(),
            ..TestFigure::of(r.name(), r.mb_s)
        };
        let loops = run.results.iter().map(|r| r.loops.len() as u32).max();
        let results = run.results.iter().filter(|result| !result.met_failed_ios()).map(figure).collect();
        Run { run: run.run, counted: run.counted, loops, results, ..Run::default() }
    }
}

impl Run {
    /// The figures that can be stored and compared; what is no speed is left out.
    pub fn speeds(&self) -> Vec<TestFigure> {
        self.results.iter().filter(|figure| figure.is_speed()).cloned().map(TestFigure::sane).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caveat::Caveat;
    use crate::result::{RunResult, TestResult};

    #[test]
    fn what_failed_ios_touched_is_left_out() {
        let clean = TestResult::of("SEQ1M Q1T1 read".parse().unwrap(), 12.5);
        let caveats = vec![Caveat::FailedIos { failed_once: 1, failed_twice: 0 }];
        let failed = TestResult { caveats, ..TestResult::of("SEQ1M Q1T1 write".parse().unwrap(), 9.0) };
        let run = Run::from(&RunResult { results: vec![failed, clean], ..RunResult::default() });
        assert_eq!(run.results.iter().map(|figure| figure.mb_s).collect::<Vec<_>>(), [12.5]);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let mut figure = TestFigure::of("SEQ1M Q1T1 read".parse().unwrap(), 12.5);
        (figure.iops, figure.latency_us) = (Some(f64::NAN), Some(-1e308));
        let mut run = Run { run: 1, results: vec![figure], ..Run::default() };
        assert_eq!((run.speeds()[0].iops, run.speeds()[0].latency_us), (None, None));
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1.1 * MOST_MB_S, 1.7e308] {
            run.results[0].mb_s = wrong;
            assert_eq!(run.speeds(), []);
        }
    }
}
