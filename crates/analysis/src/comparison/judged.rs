//! The figures of each column, and what can be said of each pair: what `comparing` says of their numbers.

use super::columns::{Column, TestKey, Values};
use super::differs::between;
use crate::comparing::{self, Difference, difference};
use crate::estimate::estimate;
use cardscope_model::comparison::{ComparedTest, Differs, Pair, PrintedSpread, Spread, iops};
use cardscope_model::result::ToolPrints;
use cardscope_model::statistics::median;

/// Every test that a column has, with its figures and pairs. p values are corrected over all tests of the same two columns:
/// who holds two cards against each other asks so many questions at once. Who stands first of many is asked in `rank`.
pub(super) fn tests(columns: &[Column], differs: &[Differs], by: Option<&str>) -> Vec<ComparedTest> {
    let mut found: Vec<ComparedTest> = Vec::new();
    let mut differences: Vec<Difference> = Vec::new();
    for key in keys(columns) {
        found.push(test(columns, key, differs, by, &mut differences));
    }
    let mut pairs: Vec<(&mut Pair, Difference)> =
        found.iter_mut().flat_map(|test| &mut test.pairs).zip(differences).collect();
    pairs.sort_by_key(|(pair, _)| (pair.first, pair.second));
    for same in pairs.chunk_by_mut(|a, b| (a.0.first, a.0.second) == (b.0.first, b.0.second)) {
        let asked: Vec<f64> = same.iter().filter_map(|(_, d)| d.p).collect();
        let known = same.iter_mut().filter(|(_, d)| d.p.is_some());
        for ((pair, difference), p) in known.zip(comparing::holm(&asked)) {
            take(pair, difference.clone().corrected(p));
        }
    }
    found
}

/// The tests of all columns: in the first column's order, further ones behind it.
fn keys(columns: &[Column]) -> Vec<TestKey> {
    let mut keys: Vec<TestKey> = Vec::new();
    for (key, _) in columns.iter().flat_map(|column| &column.tests) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

fn test(
    columns: &[Column],
    (test, step): TestKey,
    differs: &[Differs],
    by: Option<&str>,
    differences: &mut Vec<Difference>,
) -> ComparedTest {
    let of = |column: &Column| {
        column.tests.iter().find(|(key, _)| key.0 == test && key.1 == step).map(|(_, values)| values.clone())
    };
    let values: Vec<Option<Values>> = columns.iter().map(of).collect();
    let mut pairs = Vec::new();
    for (first, second) in both(&values) {
        if let (Some(a), Some(b)) = (&values[first], &values[second]) {
            let found = difference(&a.mb_s, &b.mb_s);
            pairs.push(pair(first, second, &found, between(differs, first, second, by)));
            differences.push(found);
        }
    }
    let block_bytes = test.pattern.block;
    let spreads = values.iter().map(|values| spread(values.as_ref()?, block_bytes)).collect();
    ComparedTest { test, step, block_bytes, spreads, pairs }
}

/// Numbers of all pairs of columns.
fn both<T>(columns: &[T]) -> impl Iterator<Item = (usize, usize)> + use<T> {
    let n = columns.len();
    (0..n).flat_map(move |first| (first + 1..n).map(move |second| (first, second)))
}

fn pair(first: usize, second: usize, found: &Difference, besides: Vec<String>) -> Pair {
    Pair {
        first,
        second,
        factor: found.factor,
        factor_ci95: found.ci95,
        percent: (found.factor - 1.0) * 100.0,
        p: found.p,
        verdict: found.verdict,
        more_runs: found.more_runs,
        not_the_card_alone: besides,
    }
}

/// What is left of a difference once it is known how many were looked at.
fn take(pair: &mut Pair, corrected: Difference) {
    (pair.p, pair.verdict, pair.more_runs) = (corrected.p, corrected.verdict, corrected.more_runs);
}

/// Runs of one test as a whole; `None` without any.
fn spread(values: &Values, block_bytes: u64) -> Option<Spread> {
    let all = estimate(&values.mb_s)?;
    Some(Spread {
        n: all.n,
        mean: all.mean,
        iops: iops(all.mean, block_bytes),
        median: all.median,
        best: all.best,
        worst: all.worst,
        ci95: comparing::mean_interval(&values.mb_s),
        runs: values.mb_s.clone(),
        levels: comparing::two_levels(&values.mb_s),
        as_printed: printed(&values.printed),
    })
}

/// The same over the printed figures, where all runs have them in one unit.
pub(super) fn printed(figures: &[Option<ToolPrints>]) -> Option<PrintedSpread> {
    let unit = &figures.first()?.as_ref()?.unit;
    let same = figures.iter().map(|f| f.as_ref().filter(|f| f.unit == *unit).map(|f| f.value));
    let values = same.collect::<Option<Vec<f64>>>()?;
    let all = estimate(&values)?;
    let prints = |value| ToolPrints { value, unit: unit.clone() };
    Some(PrintedSpread {
        mean: prints(all.mean),
        median: prints(median(&values)?),
        best: prints(all.best),
        worst: prints(all.worst),
    })
}
