//! Run and figures in the common form of importers, archive, comparison and report.
//!
//! Detailed results of the engine ([`crate::result`]) are converted to this form for storage. `mb_s` is MB/s (10^6)
//! whatever a tool printed; the printed figure is kept with it.

use crate::condition::Condition;
use crate::result::{self, LatencyUs, ToolPrints};
use crate::setting::Setting;
use crate::test_name::{AccessPattern, TestName, TestOp};
use serde::{Deserialize, Serialize};

/// Greatest accepted speed in MB/s (10^6): a petabyte per second, a thousand times any memory. Sums of its squares
/// over any number of runs stay finite.
pub const MAX_MB_S: f64 = 1e9;

with_defaults! {
    /// Run with each test once, under one condition.
    #[serde_with::skip_serializing_none]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Run {
        pub run: u32 = 0,
        /// False if the run is not part of the summary; always true for logs.
        #[serde(skip, default = "yes")]
        pub counted: bool = true,
        pub size_bytes: Option<u64> = None,
        pub loops: Option<u32> = None,
        pub condition: Option<Condition> = None,
        pub results: Vec<TestFigure> = Vec::new(),
    }
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestFigure {
    pub test: AccessPattern,
    pub op: TestOp,
    /// Distinguishes tests of one name in a recipe or log: `re-read`, `direct`.
    pub step: Option<String>,
    pub mb_s: f64,
    /// I/Os per second. None for logs that print 0 for less than one.
    #[serialize_always]
    pub iops: Option<f64>,
    pub latency_us: Option<f64>,
    pub max_latency_us: Option<f64>,
    #[serde(skip_serializing_if = "LatencyPercentiles::is_unknown", default)]
    pub percentiles_us: LatencyPercentiles,
    pub as_printed: Option<ToolPrints>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyPercentiles {
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub p999: Option<f64>,
}

impl LatencyPercentiles {
    pub fn is_unknown(&self) -> bool {
        *self == LatencyPercentiles::default()
    }

    pub fn all_mut(&mut self) -> [&mut Option<f64>; 3] {
        [&mut self.p50, &mut self.p99, &mut self.p999]
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct CardRun {
    pub session: String,
    pub card_id: String,
    pub unit: Option<String>,
    pub setting: Setting,
    /// Time of measurement: UTC for Cardscope's own, local for logs; None if unknown.
    pub measured_at: Option<String>,
    pub source: Option<String>,
    pub run: Run,
}

const fn yes() -> bool {
    true
}

impl TestFigure {
    pub fn from_speed(name: TestName, mb_s: f64) -> Self {
        TestFigure { test: name.pattern, op: name.op, mb_s, ..TestFigure::default() }
    }

    pub fn name(&self) -> TestName {
        TestName { pattern: self.test, op: self.op }
    }

    pub fn printed_or_speed(&self) -> ToolPrints {
        self.as_printed.clone().unwrap_or(ToolPrints { value: self.mb_s, unit: "MB/s".to_owned() })
    }

    /// False for impossible speeds in bad input: NaN, infinity, negative values, 1e308 MB/s.
    pub fn is_speed(&self) -> bool {
        (0.0..=MAX_MB_S).contains(&self.mb_s)
    }

    /// Removes details that are not finite or too large to be summed over many runs.
    fn without_invalid_details(mut self) -> Self {
        // Largest speed in the smallest unit.
        let is_countable = |value: &f64| value.abs() <= MAX_MB_S * 1e6;
        let latencies = [&mut self.latency_us, &mut self.max_latency_us];
        for detail in latencies.into_iter().chain(self.percentiles_us.all_mut()).chain([&mut self.iops]) {
            *detail = detail.filter(is_countable);
        }
        self.as_printed = self.as_printed.filter(|printed| is_countable(&printed.value));
        self
    }
}

impl From<&result::RunResult> for Run {
    /// Omits results with failed I/Os, which do not reflect the card.
    fn from(run: &result::RunResult) -> Self {
        let figure = |r: &result::TestResult| {
            let LatencyUs { mean, p50, p99, p999, max } = r.latency_us;
            TestFigure {
                step: r.step.clone(),
                iops: Some(r.iops),
                latency_us: Some(mean),
                max_latency_us: Some(max),
                percentiles_us: LatencyPercentiles { p50: Some(p50), p99: Some(p99), p999: Some(p999) },
                as_printed: r.tool_prints.clone(),
                ..TestFigure::from_speed(r.name(), r.mb_s)
            }
        };
        let loops = run.results.iter().map(|r| r.loops.len() as u32).max();
        let results = run.results.iter().filter(|result| !result.has_failed_ios()).map(figure).collect();
        Run { run: run.run, counted: run.counted, loops, results, ..Run::default() }
    }
}

impl Run {
    /// Returns the figures that can be stored and compared.
    pub fn valid_figures(&self) -> Vec<TestFigure> {
        let speeds = self.results.iter().filter(|figure| figure.is_speed()).cloned();
        speeds.map(TestFigure::without_invalid_details).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caveat::Caveat;
    use crate::result::{RunResult, TestResult};

    #[test]
    fn results_with_failed_ios_are_omitted() {
        let clean = TestResult::from_speed("SEQ1M Q1T1 read".parse().unwrap(), 12.5);
        let caveats = vec![Caveat::FailedIos { failed_once: 1, failed_twice: 0 }];
        let failed =
            TestResult { caveats, ..TestResult::from_speed("SEQ1M Q1T1 write".parse().unwrap(), 9.0) };
        let run = Run::from(&RunResult { results: vec![failed, clean], ..RunResult::default() });
        assert_eq!(run.results.iter().map(|figure| figure.mb_s).collect::<Vec<_>>(), [12.5]);
    }

    #[test]
    fn non_finite_figures_and_details_are_omitted() {
        let mut figure = TestFigure::from_speed("SEQ1M Q1T1 read".parse().unwrap(), 12.5);
        (figure.iops, figure.latency_us) = (Some(f64::NAN), Some(-1e308));
        let mut run = Run { run: 1, results: vec![figure], ..Run::default() };
        assert_eq!((run.valid_figures()[0].iops, run.valid_figures()[0].latency_us), (None, None));
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1.1 * MAX_MB_S, 1.7e308] {
            run.results[0].mb_s = wrong;
            assert_eq!(run.valid_figures(), []);
        }
    }
}
