//! From loops to results: what a test measured in one run, the summary over runs, scores and demands.
//!
//! How loops become one value is the recipe's business (`aggregate = "max"` for CrystalDiskMark, `"mean"` for
//! KDiskMark, `"total"` for fio's loops); speeds and rates always come from the same bytes and seconds, so that
//! `mb_s * 1e6 = iops * block` holds whatever the original tool prints.

mod judge;

pub use judge::{demand_findings, demands_met, scores, summarise};

use crate::histogram::LatencyHistogram;
use crate::recipe::{LoopAggregate, RecipeTest};
use crate::result::{LatencyUs, LoopResult, LoopSample, TemperatureC, TestResult, ToolPrints};
use crate::series::TimeSeries;
use crate::statistics;
use crate::units::{MB, mb_per_s, measured, seconds};

/// What one test measured in one run. `None` where no loop counts, because the run ended before the first did.
///
/// Bus share and caveats are left empty: they come from what is known of the rig.
pub fn aggregate(test: &RecipeTest, samples: &[LoopSample]) -> Option<TestResult> {
    let counted: Vec<&LoopSample> = samples.iter().filter(|s| s.counted).collect();
    if counted.is_empty() {
        return None;
    }
    let block = test.name.pattern.block;
    let bytes = counted.iter().map(|s| s.bytes).sum();
    let time = seconds(counted.iter().map(|s| s.nanos).sum());
    let mut histogram = LatencyHistogram::default();
    counted.iter().for_each(|s| histogram.merge(&s.histogram));
    let loops: Vec<LoopResult> = samples.iter().map(|s| loop_result(s, block)).collect();
    let mb_s = mb_per_s(bytes, time);
    let mut result = TestResult {
        step: test.step.clone(),
        iops: iops(mb_s, block),
        latency_us: LatencyUs::from(&histogram),
        bytes,
        ios: counted.iter().map(|s| s.ios).sum(),
        seconds: time,
        temperature_c: temperature(samples),
        recipe_value: combine(test.aggregate, &speeds(&loops), mb_s),
        loops,
        series: joined_series(samples),
        ..TestResult::of(test.name, mb_s)
    };
    result.tool_prints = tool_prints(test, result.recipe_value, mean_latency_s(test.aggregate, &result));
    Some(result)
}

/// I/Os per second, from the speed: an I/O is one block, so this is their count over the same seconds.
fn iops(mb_s: f64, block: u64) -> f64 {
    measured(mb_s * MB / block as f64)
}

fn loop_result(sample: &LoopSample, block: u64) -> LoopResult {
    let mb_s = sample.mb_s();
    LoopResult {
        counted: sample.counted,
        mb_s,
        iops: iops(mb_s, block),
        bytes: sample.bytes,
        seconds: seconds(sample.nanos),
        mean_latency_us: measured(sample.histogram.mean() / 1e3),
    }
}

fn speeds(loops: &[LoopResult]) -> Vec<f64> {
    loops.iter().filter(|l| l.counted).map(|l| l.mb_s).collect()
}

/// One value from the loops' values, of which there is at least one; `total` is that of all loops together.
fn combine(aggregate: LoopAggregate, values: &[f64], total: f64) -> f64 {
    measured(match aggregate {
        LoopAggregate::Max => values.iter().copied().fold(f64::MIN, f64::max),
        LoopAggregate::Mean => statistics::mean(values).unwrap_or(f64::NAN),
        LoopAggregate::Median => statistics::median(values).unwrap_or(f64::NAN),
        LoopAggregate::Total => total,
    })
}

/// The mean latency that belongs to the recipe's value. CrystalDiskMark takes the least of all runs on its own,
/// which need not be that of the fastest.
fn mean_latency_s(aggregate: LoopAggregate, result: &TestResult) -> f64 {
    let of_loops: Vec<f64> = result.loops.iter().filter(|l| l.counted).map(|l| l.mean_latency_us).collect();
    let us = match aggregate {
        LoopAggregate::Max => of_loops.iter().copied().fold(f64::MAX, f64::min),
        other => combine(other, &of_loops, result.latency_us.mean),
    };
    us / 1e6
}

fn tool_prints(test: &RecipeTest, recipe_value: f64, latency_s: f64) -> Option<ToolPrints> {
    let prints = test.prints.as_ref()?;
    let rate = iops(recipe_value, test.name.pattern.block);
    Some(ToolPrints { value: prints.figure(recipe_value * MB, rate, latency_s), unit: prints.unit.clone() })
}

/// From the first loop's start to the last one's end; discarded loops heat the card like any other.
fn temperature(samples: &[LoopSample]) -> TemperatureC {
    let each = || samples.iter().map(|s| s.temperature_c);
    TemperatureC {
        start: each().find_map(|t| t.start),
        end: each().rev().find_map(|t| t.end),
        max: each().filter_map(|t| t.max).reduce(f64::max),
    }
}

/// The series of the counted loops one after the other; each begins in the second after the last one of the loop before.
pub fn joined_series<'a>(samples: impl IntoIterator<Item = &'a LoopSample>) -> TimeSeries {
    let mut all = TimeSeries::default();
    samples.into_iter().filter(|s| s.counted).for_each(|s| all.append(&s.series));
    all
}

#[cfg(test)]
mod tests;
