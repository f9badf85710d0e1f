//! Summary over runs, scores that tools compute from results, and demands that a run must meet.

use super::{mean_latency_s, printed_by_tool};
use crate::finding::{Finding, FindingWeight};
use crate::recipe::{PassDemand, Recipe, RecipeTest, ScoreRounding, TermFigure, ToolScore};
use crate::result::{RunResult, Summary, TestResult};
use crate::statistics::{mean, median};
use crate::test_name::TestName;
use crate::units::{KIB, MB, round_measured};

/// Returns the scores of a run by name. Omits a score if one of its steps was not measured.
pub fn tool_scores(run: &RunResult, recipe: &Recipe) -> Vec<(String, f64)> {
    recipe.scores.iter().filter_map(|s| tool_score(run, s).map(|value| (s.name.clone(), value))).collect()
}

fn tool_score(run: &RunResult, score: &ToolScore) -> Option<f64> {
    let mut sum = 0.0;
    for term in &score.terms {
        let result = find_result(run, &term.step)?;
        let figure = match (term.figure, &result.tool_prints) {
            (TermFigure::Printed, Some(printed)) => printed.value,
            (TermFigure::Printed, None) => result.recipe_value,
            (TermFigure::Iops, _) => result.iops,
        };
        sum += figure * term.weight;
    }
    let value = sum / score.divide;
    Some(match score.rounding {
        // 17.8 * 1024 is not exact in binary; a sum that is whole in decimals must not lose a point to the floor.
        ScoreRounding::Floor => (value + value.abs() * 1e-12).floor(),
        ScoreRounding::Nearest => value.round(),
    })
}

/// Returns true if a run meets the recipe's demands, and None if there are none or an unmeasured one may still fail.
pub fn demands_met(run: &RunResult, recipe: &Recipe) -> Option<bool> {
    let met = |demand: &PassDemand| Some(meets_demand(find_result(run, &demand.step)?, demand));
    let verdicts: Vec<Option<bool>> = recipe.demands.iter().map(met).collect();
    if verdicts.contains(&Some(false)) {
        return Some(false);
    }
    (!verdicts.is_empty() && !verdicts.contains(&None)).then_some(true)
}

fn meets_demand(result: &TestResult, demand: &PassDemand) -> bool {
    let bytes_per_s = result.recipe_value * MB;
    let iops = bytes_per_s / result.test.block as f64;
    demand.iops.is_none_or(|least| iops >= least)
        && demand.bytes_per_s.is_none_or(|least| bytes_per_s >= least)
}

/// Returns the run that decides about the demands: the first counted one that meets them, else the last.
fn deciding_run<'a>(runs: &'a [RunResult], recipe: &Recipe) -> Option<&'a RunResult> {
    let counted = || runs.iter().filter(|run| run.counted);
    counted().find(|run| demands_met(run, recipe) == Some(true)).or_else(|| counted().next_back())
}

/// Returns a bad finding if every run failed the demands and a note if one met them. Returns nothing if the recipe
/// has no demands or no run was complete enough.
pub fn demand_findings(runs: &[RunResult], recipe: &Recipe) -> Vec<Finding> {
    let counted = runs.iter().filter(|run| run.counted);
    let verdicts: Vec<bool> = counted.filter_map(|run| demands_met(run, recipe)).collect();
    let Some(deciding) = deciding_run(runs, recipe).filter(|_| !verdicts.is_empty()) else {
        return Vec::new();
    };
    let name = &recipe.name;
    let note = |confidence, text: String| Finding::new(DEMANDS_CLAIM, FindingWeight::Note, confidence, text);
    let finding = match verdicts.iter().position(|met| *met) {
        Some(0) => note(0.95, format!("The card meets all demands of {name} in the first run.")),
        Some(n) => note(0.8, format!("The card meets all demands of {name}, but only in run {}.", n + 1)),
        None => {
            let tries = verdicts.len();
            let tries = if tries == 1 { "the only run".to_owned() } else { format!("all {tries} runs") };
            let text = format!("The card fails the demands of {name} in {tries}.");
            Finding::new(DEMANDS_CLAIM, FindingWeight::Bad, 0.95, text).with_advice(DEMANDS_ADVICE)
        }
    };
    vec![recipe.demands.iter().fold(finding, |finding, demand| add_evidence(finding, deciding, demand))]
}

const DEMANDS_CLAIM: &str = "recipe-demands";
const DEMANDS_ADVICE: &str = "Try another reader or slot: a slow bus fails the same demands.";

fn add_evidence(mut finding: Finding, run: &RunResult, demand: &PassDemand) -> Finding {
    let Some(result) = find_result(run, &demand.step) else { return finding };
    let bytes_per_s = result.recipe_value * MB;
    if let Some(least) = demand.iops {
        let iops = bytes_per_s / result.test.block as f64;
        finding = finding.because(&demand.step, format!("{iops:.0} IOPS (needs {least:.0})"));
    }
    if let Some(least) = demand.bytes_per_s {
        let wanted = least / MB;
        let kib = least / KIB as f64;
        let text = format!("{:.2} MB/s (needs {wanted:.2} MB/s, {kib:.0} KiB/s)", result.recipe_value);
        finding = finding.because(&demand.step, text);
    }
    finding
}

fn find_result<'a>(run: &'a RunResult, step: &str) -> Option<&'a TestResult> {
    run.results.iter().find(|r| r.key() == step)
}

/// Summarizes every test of the recipe that a counted run measured, in the recipe's order, in MB/s.
///
/// `ci95` returns the 95 % interval of a mean from the test and its values, and is called for two or more. The
/// recipe's value is the mean over the runs; with demands it is that of the deciding run.
pub fn summarize_tests(
    runs: &[RunResult],
    recipe: &Recipe,
    ci95: impl Fn(TestName, &[f64]) -> Option<[f64; 2]>,
) -> Vec<Summary> {
    let summarize = |test: &RecipeTest| {
        let results = counted_results(runs, test);
        let decides = deciding_run(runs, recipe).filter(|_| !recipe.demands.is_empty());
        let deciding = decides.map(|run| counted_results(std::slice::from_ref(run), test));
        // A deciding run that was cut short may lack this test; then all counted runs decide.
        let deciding = deciding.filter(|deciding| !deciding.is_empty()).unwrap_or_else(|| results.clone());
        let speeds: Vec<f64> = results.iter().map(|r| r.mb_s).collect();
        let values: Vec<f64> = deciding.iter().map(|r| r.recipe_value).collect();
        let recipe_value = round_measured(mean(&values)?);
        let latencies: Vec<f64> = deciding.iter().map(|r| mean_latency_s(test.aggregate, r)).collect();
        let interval = (speeds.len() > 1).then(|| ci95(test.name, &speeds)).flatten();
        Some(Summary {
            test: test.name.pattern,
            op: test.name.op,
            step: test.step.clone(),
            n: speeds.len() as u32,
            mean: round_measured(mean(&speeds)?),
            best: speeds.iter().copied().fold(f64::MIN, f64::max),
            worst: speeds.iter().copied().fold(f64::MAX, f64::min),
            median: round_measured(median(&speeds)?),
            ci95: interval.map(|ends| ends.map(round_measured)),
            recipe_value,
            tool_prints: printed_by_tool(test, recipe_value, mean(&latencies)?),
        })
    };
    recipe.tests.iter().filter_map(summarize).collect()
}

fn counted_results<'a>(runs: &'a [RunResult], test: &RecipeTest) -> Vec<&'a TestResult> {
    let key = test.key();
    runs.iter().filter(|run| run.counted).flat_map(|run| &run.results).filter(|r| r.key() == key).collect()
}
