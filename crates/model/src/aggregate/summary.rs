//! A session in a few lines: each test over all counted runs.

use super::judge::verdict_run;
use super::{mean_latency_s, tool_prints};
use crate::recipe::{Recipe, Test};
use crate::result::{Run, Summary, TestResult};
use crate::statistics::{mean, median};

/// Summary of every test of the recipe that was measured in a counted run, in the recipe's order, in MB/s.
///
/// `ci95` gives the 95 % interval of a mean from the values of the runs; it is not asked about a single one. The
/// recipe's own value over the runs is the mean of its values; where a recipe has demands, that of the run that
/// decides (the first to meet them, else the last).
#[must_use]
pub fn summarise(runs: &[Run], recipe: &Recipe, ci95: impl Fn(&[f64]) -> Option<[f64; 2]>) -> Vec<Summary> {
    recipe.tests.iter().filter_map(|test| summary(runs, recipe, test, &ci95)).collect()
}

fn summary(
    runs: &[Run],
    recipe: &Recipe,
    test: &Test,
    ci95: &impl Fn(&[f64]) -> Option<[f64; 2]>,
) -> Option<Summary> {
    let results = in_counted_runs(runs, test);
    let deciding = if recipe.demands.is_empty() {
        results.clone()
    } else {
        verdict_run(runs, recipe)
            .map(|run| in_counted_runs(std::slice::from_ref(run), test))
            .unwrap_or_default()
    };
    let deciding = if deciding.is_empty() { &results } else { &deciding };
    let speeds: Vec<f64> = results.iter().map(|r| r.mb_s).collect();
    let mean_speed = mean(&speeds)?;
    let recipe_value = mean(&deciding.iter().map(|r| r.recipe_value).collect::<Vec<_>>())?;
    let latency_s = mean(&deciding.iter().map(|r| mean_latency_s(test.aggregate, r)).collect::<Vec<_>>())?;
    Some(Summary {
        test: test.name.pattern,
        op: test.name.op,
        step: test.step.clone(),
        n: speeds.len() as u32,
        mean: mean_speed,
        best: speeds.iter().copied().fold(f64::MIN, f64::max),
        worst: speeds.iter().copied().fold(f64::MAX, f64::min),
        median: median(&speeds)?,
        ci95: if speeds.len() > 1 { ci95(&speeds) } else { None },
        recipe_value,
        tool_prints: tool_prints(test, recipe_value, latency_s),
    })
}

fn in_counted_runs<'a>(runs: &'a [Run], test: &Test) -> Vec<&'a TestResult> {
    let key = test.key();
    runs.iter().filter(|run| run.counted).flat_map(|run| &run.results).filter(|r| r.key() == key).collect()
}
