//! Scores that tools compute from their results, and demands that a run must meet.

use crate::finding::{Finding, Weight};
use crate::recipe::{Demand, Recipe, Rounding, Score, TermFigure};
use crate::result::{Run, TestResult};
use crate::units::{KIB, MB};

/// The scores of a run, by name. A score is left out where one of its steps was not measured.
#[must_use]
pub fn scores(run: &Run, recipe: &Recipe) -> Vec<(String, f64)> {
    recipe.scores.iter().filter_map(|s| score(run, s).map(|value| (s.name.clone(), value))).collect()
}

fn score(run: &Run, score: &Score) -> Option<f64> {
    let mut sum = 0.0;
    for term in &score.terms {
        let result = find(run, &term.step)?;
        let figure = match (term.figure, &result.tool_prints) {
            (TermFigure::Printed, Some(printed)) => printed.value,
            (TermFigure::Printed, None) => result.recipe_value,
            (TermFigure::Iops, _) => result.iops,
        };
        sum += figure * term.weight;
    }
    let value = sum / score.divide;
    Some(match score.rounding {
        // 17.8 * 1024 is not exact in binary: a sum that is whole in decimals must not lose a point to the floor.
        Rounding::Floor => (value + value.abs() * 1e-12).floor(),
        Rounding::Nearest => value.round(),
    })
}

/// Whether a run meets the recipe's demands. `None` where there are none, or where one that is not measured could
/// still fail.
#[must_use]
pub fn demands_met(run: &Run, recipe: &Recipe) -> Option<bool> {
    let verdicts: Vec<Option<bool>> =
        recipe.demands.iter().map(|d| find(run, &d.step).map(|result| meets(result, d))).collect();
    if verdicts.contains(&Some(false)) {
        return Some(false);
    }
    (!verdicts.is_empty() && !verdicts.contains(&None)).then_some(true)
}

fn meets(result: &TestResult, demand: &Demand) -> bool {
    let bytes_per_s = result.recipe_value * MB;
    let iops = bytes_per_s / result.test.block as f64;
    demand.iops.is_none_or(|least| iops >= least)
        && demand.bytes_per_s.is_none_or(|least| bytes_per_s >= least)
}

/// The run by which a recipe with demands is judged: the first counted one that meets them, else the last.
pub(super) fn verdict_run<'a>(runs: &'a [Run], recipe: &Recipe) -> Option<&'a Run> {
    let counted = || runs.iter().filter(|run| run.counted);
    counted().find(|run| demands_met(run, recipe) == Some(true)).or_else(|| counted().next_back())
}

/// What follows from a recipe's demands: a bad finding where every try failed, a note where one succeeded, nothing
/// where the recipe has none or a run was cut short.
#[must_use]
pub fn demand_findings(runs: &[Run], recipe: &Recipe) -> Vec<Finding> {
    let verdicts: Vec<bool> =
        runs.iter().filter(|run| run.counted).filter_map(|run| demands_met(run, recipe)).collect();
    let Some(deciding) = verdict_run(runs, recipe).filter(|_| !verdicts.is_empty()) else {
        return Vec::new();
    };
    let name = &recipe.name;
    let finding = match verdicts.iter().position(|met| *met) {
        Some(0) => {
            Finding::new(CLAIM, Weight::Note, 0.95, format!("{name}: all demands are met at the first try"))
        }
        Some(n) => Finding::new(
            CLAIM,
            Weight::Note,
            0.8,
            format!("{name}: all demands are met, but only at try {}", n + 1),
        ),
        None => Finding::new(CLAIM, Weight::Bad, 0.95, failed(name, verdicts.len())).advise(ADVICE),
    };
    vec![recipe.demands.iter().fold(finding, |finding, demand| with_evidence(finding, deciding, demand))]
}

const CLAIM: &str = "recipe-demands";
const ADVICE: &str =
    "try the card in another reader or slot before blaming it: a slow bus fails the same demands";

fn failed(name: &str, tries: usize) -> String {
    let tries = if tries == 1 { "the one try".to_owned() } else { format!("any of {tries} tries") };
    format!("{name}: the demands were not met in {tries}")
}

fn with_evidence(mut finding: Finding, run: &Run, demand: &Demand) -> Finding {
    let Some(result) = find(run, &demand.step) else { return finding };
    let bytes_per_s = result.recipe_value * MB;
    if let Some(least) = demand.iops {
        let iops = bytes_per_s / result.test.block as f64;
        finding = finding.because(&demand.step, format!("{iops:.0} IOPS, at least {least:.0} demanded"));
    }
    if let Some(least) = demand.bytes_per_s {
        let wanted = least / MB;
        let kib = least / KIB as f64;
        finding = finding.because(
            &demand.step,
            format!("{:.2} MB/s, at least {wanted:.2} MB/s ({kib:.0} KiB/s) demanded", result.recipe_value),
        );
    }
    finding
}

fn find<'a>(run: &'a Run, step: &str) -> Option<&'a TestResult> {
    run.results.iter().find(|r| r.key() == step)
}
