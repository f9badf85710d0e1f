//! The document of `compare`, made of runs: `columns` divides them and lists what is not the same besides the card,
//! `findings` says it in sentences, what became of a card over the months included. Here the columns' figures are held
//! against each other: what `comparing` says of their numbers.

mod columns;
mod findings;
mod latencies;
#[cfg(test)]
mod tests;

pub use columns::{Column, Division, Values, columns};

use crate::comparing::{self, Difference, difference};
use crate::estimate::estimate;
use cardscope_model::comparison::{ComparedTest, Comparison, Differs, Pair, PrintedSpread, Spread, iops};
use cardscope_model::result::ToolPrints;
use cardscope_model::statistics::median;
use columns::{TestKey, between, differs, keys};

/// The word by which the runs of one card are divided by their months.
pub const AGE: &str = "age";

/// The document of columns that stand beside each other, divided by a word where one was asked for.
pub fn comparison(columns: Vec<Column>, by: Option<String>) -> Comparison {
    let differs = differs(&columns);
    let tests = compared(&columns, &differs, by.as_deref());
    let mut findings = findings::findings(&columns, &tests, &differs, by.as_deref());
    if by.as_deref() == Some(AGE) {
        findings.extend(findings::ages(&columns));
    }
    let latencies = latencies::latencies(&columns);
    let entries = columns.into_iter().map(|column| column.entry).collect();
    Comparison { entries, by, tests, latencies, differs, findings, ..Comparison::default() }
}

/// Every test that a column has, with its figures and pairs. p values are corrected over all tests of the same two columns:
/// who holds two cards against each other asks so many questions at once. Who stands first of many is asked in `rank`.
fn compared(columns: &[Column], differs: &[Differs], by: Option<&str>) -> Vec<ComparedTest> {
    let mut found: Vec<ComparedTest> = Vec::new();
    let mut differences: Vec<Difference> = Vec::new();
    for key in keys(columns.iter()) {
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

fn test<'a>(
    columns: &'a [Column],
    key: &TestKey,
    differs: &[Differs],
    by: Option<&str>,
    differences: &mut Vec<Difference>,
) -> ComparedTest {
    let of = |column: &'a Column| column.tests.iter().find(|(of, _)| of == key).map(|(_, values)| values);
    let values: Vec<Option<&Values>> = columns.iter().map(of).collect();
    let mut pairs = Vec::new();
    for (first, second) in both(&values) {
        if let (Some(a), Some(b)) = (values[first], values[second]) {
            let found = difference(&a.mb_s, &b.mb_s);
            pairs.push(pair(first, second, &found, between(differs, first, second, by)));
            differences.push(found);
        }
    }
    let (test, step) = key.clone();
    let block_bytes = test.pattern.block;
    let spreads = values.iter().map(|values| spread((*values)?, block_bytes)).collect();
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
