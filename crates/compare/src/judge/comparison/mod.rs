//! Builds the document of `compare` from runs: `columns` divides them and lists other differences, `findings` adds sentences,
//! and this module compares the columns' speeds, pair by pair.

mod areas;
mod changes;
mod columns;
mod findings;
mod overall;
mod remarks;
#[cfg(test)]
mod tests;

pub use columns::{AGE, ComparedColumn, RunDivision, TestRuns, divide_runs};

use cardscope_model::comparison::{
    ComparedPair, ComparedTest, Comparison, LevelPair, PrintedSpread, Spread, iops_at_speed,
};
use cardscope_model::result::ToolPrints;
use cardscope_model::statistics::median;
use cardscope_statistics::estimate::estimate_values;
use cardscope_statistics::priors::{SpreadTable, UsualSpeed};
use cardscope_statistics::significance::{self, CardDifference, compare_speeds};
use columns::{OtherDifferences, PairBasis, TestKey, find_differences, test_keys};

/// Builds the document of columns that were divided this way; `table` has the usual spread of series.
pub fn build_comparison(all: Vec<ComparedColumn>, division: &RunDivision, table: &SpreadTable) -> Comparison {
    let differs = find_differences(&all);
    let by = division.requested_words();
    let asked = PairBasis { differs: &differs, by, table };
    let tests = compare_tests(&all, asked);
    let mut findings = findings::comparison_findings(&all, &tests, &differs, by);
    if *division == RunDivision::ByAge {
        findings.extend(findings::ageing_findings(&all));
    }
    Comparison {
        by: division.name(),
        overall: overall::overall_results(&all, asked),
        remarks: remarks::card_remarks(&all),
        apart: areas::speed_differences(&all),
        areas: areas::area_effects(&all),
        cooling: changes::cooling_gains(&all, table),
        changes: changes::find_changes(&all, by),
        latencies: columns::compared_latencies(&all),
        entries: all.into_iter().map(|column| column.entry).collect(),
        tests,
        differs,
        findings,
        // Registers and geometry come from the archive.
        ..Comparison::default()
    }
}

/// Every test of any column, with speeds and pairs. p values are corrected over all tests of the same two columns, since a
/// comparison of two cards asks all these questions at once. The order of many cards is a question for `rank`.
fn compare_tests(columns: &[ComparedColumn], asked: PairBasis) -> Vec<ComparedTest> {
    let keys = test_keys(columns.iter()).into_iter();
    let (mut found, differences): (Vec<ComparedTest>, Vec<Vec<CardDifference>>) =
        keys.map(|key| compare_test(columns, key, asked)).unzip();
    let pairs = found.iter_mut().flat_map(|test| &mut test.pairs).zip(differences.into_iter().flatten());
    let mut pairs: Vec<(&mut ComparedPair, CardDifference)> = pairs.collect();
    // Pairs of the same two columns become neighbours, as `chunk_by_mut` needs them.
    pairs.sort_by_key(|(pair, _)| (pair.first, pair.second));
    for same in pairs.chunk_by_mut(|a, b| (a.0.first, a.0.second) == (b.0.first, b.0.second)) {
        let all: Vec<f64> = same.iter().filter_map(|(_, d)| d.p).collect();
        let known = same.iter_mut().filter(|(_, d)| d.p.is_some());
        for ((pair, difference), p) in known.zip(significance::correct_by_holm(&all)) {
            let corrected = difference.clone().with_corrected_p(p);
            (pair.p, pair.verdict, pair.more_runs) = (corrected.p, corrected.verdict, corrected.more_runs);
        }
    }
    found
}

/// Speeds and pairs of a test, and the difference of each pair.
fn compare_test(all: &[ComparedColumn], key: &TestKey, on: PairBasis) -> (ComparedTest, Vec<CardDifference>) {
    let (test, step) = key.clone();
    let block_bytes = test.pattern.block;
    let of = |column: &ComparedColumn| {
        let values = column.test_runs(key)?;
        let usual = UsualSpeed::from_runs(&values.mb_s, on.table.spread_of_kind(column.series_kind(key)));
        Some((summarise_runs(values, usual.as_ref(), block_bytes)?, usual))
    };
    let sides: Vec<Option<(Spread, Option<UsualSpeed>)>> = all.iter().map(of).collect();
    let pair = |(first, second): (usize, usize)| {
        let ((a, known_a), (b, known_b)) = (sides[first].as_ref()?, sides[second].as_ref()?);
        let besides = OtherDifferences::new(all, on.differs, (first, second), on.by);
        let variance = besides.added_variance(on.table);
        let found = compare_speeds(known_a.as_ref(), known_b.as_ref(), on.table, variance);
        let pair = build_pair((first, second), &found, &besides);
        Some((ComparedPair { levels: level_ratios(a, b), ..pair }, found))
    };
    let (pairs, differences) = column_pairs(&sides).filter_map(pair).unzip();
    let spreads = sides.into_iter().map(|side| side.map(|(spread, _)| spread)).collect();
    (ComparedTest { test, step, block_bytes, spreads, pairs }, differences)
}

/// Ratios between the levels of two columns, if the runs of both alternate between two levels.
fn level_ratios(first: &Spread, second: &Spread) -> Option<LevelPair> {
    let (a, b) = (first.levels?, second.levels?);
    let share_low = [a.share_low, b.share_low];
    Some(LevelPair { high_factor: b.high / a.high, low_factor: b.low / a.low, share_low })
}

/// Most columns with pairs: more have hundreds of pairs in each test. The overall result and all speeds exist for any
/// number.
pub const MOST_PAIRED: usize = 24;

/// Pairs of column numbers; none for more than [`MOST_PAIRED`] columns.
fn column_pairs<T>(columns: &[T]) -> impl Iterator<Item = (usize, usize)> + use<T> {
    let n = if columns.len() > MOST_PAIRED { 0 } else { columns.len() };
    (0..n).flat_map(move |first| (first + 1..n).map(move |second| (first, second)))
}

fn build_pair((a, b): (usize, usize), found: &CardDifference, besides: &OtherDifferences) -> ComparedPair {
    ComparedPair {
        first: a,
        second: b,
        factor: found.factor,
        factor_ci95: found.ci95,
        probability_first_faster: found.first_faster,
        probability_notable: found.noticed[0].max(found.noticed[1]),
        grade: found.grade,
        percent: (found.factor - 1.0) * 100.0,
        p: found.p,
        verdict: found.verdict,
        more_runs: found.more_runs,
        not_the_card_alone: besides.difference_phrases(),
        confounded_by: besides.confounders().map(str::to_owned).collect(),
        levels: None,
    }
}

/// Summary of the runs of one test; `None` without runs.
fn summarise_runs(values: &TestRuns, usual: Option<&UsualSpeed>, block_bytes: u64) -> Option<Spread> {
    let all = estimate_values(&values.mb_s)?;
    Some(Spread {
        n: all.n,
        mean: all.mean,
        iops: iops_at_speed(all.mean, block_bytes),
        median: all.median,
        best: all.best,
        worst: all.worst,
        ci95: usual.map(|usual| usual.interval95(all.mean)),
        runs: values.mb_s.clone(),
        levels: significance::split_two_levels(&values.mb_s),
        as_printed: summarise_printed(&values.printed),
    })
}

/// Summary of the printed speeds; `None` unless all runs have one in the same unit.
pub(super) fn summarise_printed(figures: &[Option<ToolPrints>]) -> Option<PrintedSpread> {
    let unit = &figures.first()?.as_ref()?.unit;
    let same = figures.iter().map(|f| f.as_ref().filter(|f| f.unit == *unit).map(|f| f.value));
    let values = same.collect::<Option<Vec<f64>>>()?;
    let all = estimate_values(&values)?;
    let prints = |value| ToolPrints { value, unit: unit.clone() };
    Some(PrintedSpread {
        mean: prints(all.mean),
        median: prints(median(&values)?),
        best: prints(all.best),
        worst: prints(all.worst),
    })
}
