//! Result over all tests: the geometric mean of the ratios of usual speeds, as SPEC computes it, over the tests that every
//! entry has. Tests of one run are correlated, as heat and a full cache slow all of them, so each run counts once, with the
//! mean of its logarithms, instead of each test as if it were independent.

use super::areas::{area_bytes, columns_by_card, combine_columns};
use super::columns::{
    ComparedColumn, OtherDifferences, PairBasis, TestKey, TestRuns, find_differences, test_keys,
};
use cardscope_model::comparison::OverallFactor;
use cardscope_model::statistics::{distinct_values, mean};
use cardscope_statistics::priors::{NormalMixture, SpreadKind, SpreadTable, UsualSpeed};
use cardscope_statistics::significance::{RankedValue, probabilities_of_best};

/// Correlation of the errors of two tests of one card whose runs cannot be paired: heat and caches move most of them the
/// same way (0.74 to 0.94 on SD Express, docs/reference/flash.md#sd-express-runs; 0 where the host decides).
const TEST_CORRELATION: f64 = 0.5;

/// Result of every entry over the tests that all have, best first. If the settings of the cards share no test, each test of
/// a card is taken from the setting with the largest area. Empty for a single entry, or without a common test.
pub(super) fn overall_results(columns: &[ComparedColumn], asked: PairBasis) -> Vec<OverallFactor> {
    if let Some(largest) = largest_area_columns(columns).filter(|_| !asked.by.contains(&"size")) {
        return compare_entries(&largest, PairBasis { differs: &find_differences(&largest), ..asked });
    }
    let found = compare_entries(columns, asked);
    let cards = distinct_values(columns.iter().map(|column| column.entry.card_id.as_str()));
    if !found.is_empty() || cards.len() == columns.len() || cards.len() < 2 {
        return found;
    }
    let joined = columns_by_card(columns);
    let joined: Vec<ComparedColumn> = joined.iter().filter_map(|own| combine_columns(own)).collect();
    compare_entries(&joined, PairBasis { differs: &find_differences(&joined), ..asked })
}

/// Columns over the largest area, if several cards were measured over it and some of them also over smaller ones, which may
/// have measured a buffer. `None` if a test would be lost.
fn largest_area_columns(columns: &[ComparedColumn]) -> Option<Vec<ComparedColumn>> {
    let cards = columns_by_card(columns);
    let largest = columns.iter().map(area_bytes).max()?;
    let all_have_it = cards.iter().all(|own| own.iter().any(|c| area_bytes(c) == largest));
    let found: Vec<ComparedColumn> = columns.iter().filter(|c| area_bytes(c) == largest).cloned().collect();
    let has = |card: &str, key: &TestKey| {
        found.iter().any(|column| column.entry.card_id == card && column.test_runs(key).is_some())
    };
    let lost = columns.iter().any(|c| c.tests.iter().any(|(key, _)| !has(&c.entry.card_id, key)));
    (!lost && cards.len() > 1 && largest > 0 && all_have_it && found.len() < columns.len()).then_some(found)
}

fn compare_entries(columns: &[ComparedColumn], asked: PairBasis) -> Vec<OverallFactor> {
    let mut shared = test_keys(columns.iter());
    shared.retain(|key| columns.iter().all(|c| c.test_runs(key).is_some()));
    if columns.len() < 2 || shared.is_empty() {
        return Vec::new();
    }
    let besides: Vec<(Vec<&str>, f64)> =
        (0..columns.len()).map(|entry| entry_confounders(columns, asked, entry)).collect();
    let contender = |(column, (_, variance)): (&ComparedColumn, &(Vec<&str>, f64))| {
        let found = build_contender(column, &shared, asked.table)?;
        // Each of two entries gets half of the variance between them.
        Some(RankedValue { known: found.known.widened(variance / 2.0), ..found })
    };
    let known: Option<Vec<RankedValue>> = columns.iter().zip(&besides).map(contender).collect();
    let Some(known) = known else { return Vec::new() };
    let chances = probabilities_of_best(&known);
    let wins = count_wins(columns, &shared);
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by(|a, b| known[*b].value.total_cmp(&known[*a].value));
    // Of equal entries the last counts as first.
    let Some(first) = (0..known.len()).max_by(|a, b| known[*a].value.total_cmp(&known[*b].value)) else {
        return Vec::new();
    };
    let of = |entry: usize| {
        let log = known[entry].value - known[first].value;
        let [low, high] = known[entry].known.difference(&known[first].known).central95();
        let ci95 = if entry == first { [1.0, 1.0] } else { [low.min(log).exp(), high.max(log).exp()] };
        OverallFactor {
            name: columns[entry].entry.name.clone(),
            factor_to_best: log.exp(),
            ci95,
            wins: wins[entry],
            tests: shared.len() as u32,
            probability_best: chances[entry],
            confounded_by: besides[entry].0.iter().map(|word| (*word).to_owned()).collect(),
        }
    };
    order.into_iter().map(of).collect()
}

/// Words of rig, tool, size and cooling in which an entry differs from any other, and the largest variance they add.
fn entry_confounders<'a>(all: &[ComparedColumn], asked: PairBasis<'a>, entry: usize) -> (Vec<&'a str>, f64) {
    let others = (0..all.len()).filter(|other| *other != entry);
    let between = others.map(|other| OtherDifferences::new(all, asked.differs, (entry, other), asked.by));
    let between: Vec<OtherDifferences> = between.collect();
    let most = between.iter().map(|besides| besides.added_variance(asked.table)).fold(0.0, f64::max);
    (distinct_values(between.iter().flat_map(OtherDifferences::confounders)), most)
}

/// Estimate of an entry's logarithm over these tests.
fn build_contender(column: &ComparedColumn, shared: &[&TestKey], table: &SpreadTable) -> Option<RankedValue> {
    let tests: Vec<&TestRuns> = shared.iter().filter_map(|key| column.test_runs(key)).collect();
    if let Some(runs) = run_mean_logs(&tests) {
        let kind = match shared {
            [key] => column.series_kind(key),
            _ => SpreadKind::over_all(&column.entry.card, column.entry.settings.first()),
        };
        let usual = UsualSpeed::from_logs(&runs, table.spread_of_kind(kind))?;
        return Some(RankedValue { value: usual.geometric_mean().ln(), known: usual.log_speed().clone() });
    }
    let usual = |(values, key): (&&TestRuns, &&TestKey)| {
        UsualSpeed::from_runs(&values.mb_s, table.spread_of_kind(column.series_kind(key)))
    };
    let each: Vec<UsualSpeed> = tests.iter().zip(shared).map(usual).collect::<Option<_>>()?;
    let count = each.len() as f64;
    let of = |figure: fn(&UsualSpeed) -> f64| each.iter().map(figure).sum::<f64>();
    let alone = of(|usual| usual.log_speed().variance());
    let together = of(|usual| usual.log_speed().variance().sqrt()).powi(2);
    let variance = ((1.0 - TEST_CORRELATION) * alone + TEST_CORRELATION * together) / (count * count);
    let known = NormalMixture::single(of(|usual| usual.log_speed().mean()) / count, variance);
    Some(RankedValue { known, value: of(|usual| usual.geometric_mean().ln()) / count })
}

/// Mean logarithm of each run; `None` if tests have different numbers of runs, or a speed is 0.
fn run_mean_logs(tests: &[&TestRuns]) -> Option<Vec<f64>> {
    let count = tests.first()?.mb_s.len();
    let whole =
        tests.iter().all(|t| t.mb_s.len() == count && t.mb_s.iter().all(|v| v.is_finite() && *v > 0.0));
    let mean = |run: usize| tests.iter().map(|t| t.mb_s[run].ln()).sum::<f64>() / tests.len() as f64;
    whole.then(|| (0..count).map(mean).collect())
}

/// Number of tests in which each entry has the highest mean.
fn count_wins(columns: &[ComparedColumn], shared: &[&TestKey]) -> Vec<u32> {
    let mut wins = vec![0; columns.len()];
    for key in shared {
        let means = columns.iter().map(|column| mean(&column.test_runs(key)?.mb_s));
        let means: Vec<f64> = means.map(Option::unwrap_or_default).collect();
        let fastest = (0..means.len()).rev().max_by(|a, b| means[*a].total_cmp(&means[*b]));
        fastest.into_iter().for_each(|entry| wins[entry] += 1);
    }
    wins
}
