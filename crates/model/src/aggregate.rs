//! Aggregation of samples: loops to test results, runs to a summary, scores and demands.
//!
//! The recipe determines how loops become one value (`aggregate = "max"` for CrystalDiskMark, `"mean"` for KDiskMark,
//! `"total"` for fio's loops). Speeds and rates always derive from the same bytes and seconds, so that `mb_s * 1e6 =
//! iops * block` holds whatever the original tool prints.

mod summary;

pub use summary::{demand_findings, demands_met, summarize_tests, tool_scores};

use crate::histogram::LatencyHistogram;
use crate::recipe::{LoopAggregate, RecipeTest};
use crate::result::{LatencyUs, LoopResult, LoopSample, TemperatureC, TestResult, ToolPrints};
use crate::series::TimeSeries;
use crate::statistics;
use crate::units::{MB, mb_per_s, nanos_to_seconds, round_measured};

/// Returns the result of a test in one run, or None if no loop counts because the run ended before the first did.
///
/// Bus share and caveats stay empty, because they depend on the rig.
pub fn aggregate_test(test: &RecipeTest, samples: &[LoopSample]) -> Option<TestResult> {
    let counted: Vec<&LoopSample> = samples.iter().filter(|s| s.counted).collect();
    if counted.is_empty() {
        return None;
    }
    let block = test.name.pattern.block;
    let bytes = counted.iter().map(|s| s.bytes).sum();
    let time = nanos_to_seconds(counted.iter().map(|s| s.nanos).sum());
    let mut histogram = LatencyHistogram::default();
    counted.iter().for_each(|s| histogram.merge(&s.histogram));
    let loops: Vec<LoopResult> = samples.iter().map(|s| loop_result(s, block)).collect();
    let speeds: Vec<f64> = loops.iter().filter(|l| l.counted).map(|l| l.mb_s).collect();
    let mb_s = mb_per_s(bytes, time);
    let mut result = TestResult {
        step: test.step.clone(),
        iops: iops_of_speed(mb_s, block),
        latency_us: LatencyUs::from(&histogram),
        bytes,
        ios: counted.iter().map(|s| s.ios).sum(),
        seconds: time,
        temperature_c: temperature_range(samples),
        recipe_value: combine_loops(test.aggregate, &speeds, mb_s),
        loops,
        series: join_series(samples),
        ..TestResult::from_speed(test.name, mb_s)
    };
    result.tool_prints = printed_by_tool(test, result.recipe_value, mean_latency_s(test.aggregate, &result));
    Some(result)
}

/// Derives IOPS from the speed: an I/O is one block, so both come from the same bytes and seconds.
fn iops_of_speed(mb_s: f64, block: u64) -> f64 {
    round_measured(mb_s * MB / block as f64)
}

fn loop_result(sample: &LoopSample, block: u64) -> LoopResult {
    let mb_s = sample.mb_s();
    LoopResult {
        counted: sample.counted,
        mb_s,
        iops: iops_of_speed(mb_s, block),
        bytes: sample.bytes,
        seconds: nanos_to_seconds(sample.nanos),
        mean_latency_us: round_measured(sample.histogram.mean() / 1e3),
    }
}

fn combine_loops(aggregate: LoopAggregate, values: &[f64], total: f64) -> f64 {
    round_measured(match aggregate {
        LoopAggregate::Max => values.iter().copied().fold(f64::MIN, f64::max),
        LoopAggregate::Mean => statistics::mean(values).unwrap_or(f64::NAN),
        LoopAggregate::Median => statistics::median(values).unwrap_or(f64::NAN),
        LoopAggregate::Total => total,
    })
}

/// Returns the latency that belongs to the recipe's value. CrystalDiskMark prints the least latency of all loops,
/// which may be another loop than the fastest.
fn mean_latency_s(aggregate: LoopAggregate, result: &TestResult) -> f64 {
    let of_loops: Vec<f64> = result.loops.iter().filter(|l| l.counted).map(|l| l.mean_latency_us).collect();
    let us = match aggregate {
        LoopAggregate::Max => of_loops.iter().copied().fold(f64::MAX, f64::min),
        other => combine_loops(other, &of_loops, result.latency_us.mean),
    };
    us / 1e6
}

fn printed_by_tool(test: &RecipeTest, recipe_value: f64, latency_s: f64) -> Option<ToolPrints> {
    let prints = test.prints.as_ref()?;
    let rate = iops_of_speed(recipe_value, test.name.pattern.block);
    let value = prints.printed_figure(recipe_value * MB, rate, latency_s);
    Some(ToolPrints { value, unit: prints.unit.clone() })
}

/// Covers all loops, because discarded loops heat the card as well.
fn temperature_range(samples: &[LoopSample]) -> TemperatureC {
    let each = || samples.iter().map(|s| s.temperature_c);
    TemperatureC {
        start: each().find_map(|t| t.start),
        end: each().rev().find_map(|t| t.end),
        max: each().filter_map(|t| t.max).reduce(f64::max),
    }
}

/// Joins the series of the counted loops, each starting in the second after the last one of the loop before.
pub fn join_series<'a>(samples: impl IntoIterator<Item = &'a LoopSample>) -> TimeSeries {
    let mut all = TimeSeries::default();
    samples.into_iter().filter(|s| s.counted).for_each(|s| all.append(&s.series));
    all
}

#[cfg(test)]
mod tests;
