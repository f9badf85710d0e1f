//! Removes duplicate data before a session is stored, and restores it on reading.
//!
//! The series of a test is in its loops, in the results of its run and in the report; the archive stores it once. Rows
//! of earlier versions hold all copies and stay as they are.

use cardscope_model::aggregate;
use cardscope_model::result::{BenchReport, RunResult, TestResult};
use cardscope_model::series::TimeSeries;
use cardscope_model::session_file::SampleRecord;
use cardscope_model::test_name::TestName;
use serde::Deserialize as _;
use serde_json::Value;

/// Test of a run, with its step if a recipe has the same test twice.
pub(crate) type SampledTest = (TestName, Option<String>);

/// Returns a run without the series of tests whose loops are stored.
pub(crate) fn without_series(run: &RunResult, stored: &[SampledTest]) -> RunResult {
    let result = |r: &TestResult| {
        let has_loops = stored.iter().any(|(name, step)| is_result_of(r, *name, step.as_deref()));
        let series = if has_loops { TimeSeries::default() } else { r.series.clone() };
        TestResult { series, ..r.clone() }
    };
    RunResult { results: run.results.iter().map(result).collect(), ..run.clone() }
}

/// Removes from a report the runs that have rows, which are stored as [`without_series`] makes them.
pub(crate) fn remove_stored_runs(report: &mut Value, stored: &[(RunResult, Vec<SampledTest>)]) {
    let is_row = |row: &RunResult, run: &RunResult, tests: &[SampledTest]| {
        row.run == run.run && (row == run || *row == without_series(run, tests))
    };
    let in_a_row = |run: &RunResult| stored.iter().any(|(row, tests)| is_row(row, run, tests));
    if let Some(runs) = report.get_mut("runs").and_then(Value::as_array_mut) {
        runs.retain(|run| !RunResult::deserialize(run).is_ok_and(|run| in_a_row(&run)));
    }
}

/// Restores the series of a run from its loops.
pub(crate) fn restore_series(run: &mut RunResult, samples: &[SampleRecord]) {
    // Rows of earlier versions still have their series.
    for result in run.results.iter_mut().filter(|r| r.series.is_empty()) {
        let own = samples.iter().filter(|s| is_result_of(result, s.test, s.step.as_deref()));
        result.series = aggregate::join_series(own.map(|s| &s.sample));
    }
}

/// Restores the runs of a report from their rows.
pub(crate) fn restore_runs<'a>(report: &mut BenchReport, rows: impl Iterator<Item = &'a RunResult>) {
    for row in rows {
        if !report.body.runs.iter().any(|run| run.run == row.run) {
            report.body.runs.push(row.clone());
        }
    }
    report.body.runs.sort_by_key(|run| run.run);
}

fn is_result_of(result: &TestResult, name: TestName, step: Option<&str>) -> bool {
    result.name() == name && result.step.as_deref() == step
}
