//! The figures of each column, and what can be said of each pair: numbers go to crate `analysis`, verdicts come back.

use super::columns::{Column, TestKey, Values};
use super::differs::between;
use cardscope_analysis::comparing::{self, Difference, difference};
use cardscope_analysis::estimate::estimate;
use cardscope_analysis::quantile::median;
use cardscope_model::comparison::{ComparedTest, Differs, Pair, PrintedSpread, Spread, iops};
use cardscope_model::result::ToolPrints;

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
fn printed(figures: &[Option<ToolPrints>]) -> Option<PrintedSpread> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::testing::{card, run};
    use crate::compare::{Division, columns, comparison};
    use cardscope_model::comparison::Verdict;

    fn column(name: &str, condition: &str, speeds: &[f64]) -> Column {
        let runs = speeds.iter().map(|s| run(condition, *s)).collect();
        columns(&card(name), runs, &Division::Pooled).swap_remove(0)
    }

    #[test]
    fn a_card_twice_as_fast_is_faster_and_what_else_differs_stands_beside_it() {
        let fast: Vec<f64> = (0..10).map(|i| 800.0 + f64::from(i)).collect();
        let slow: Vec<f64> = (0..10).map(|i| 400.0 + f64::from(i)).collect();
        let found = comparison(
            vec![column("A", "cooling=active", &fast), column("B", "cooling=passive", &slow)],
            None,
        );
        let pair = &found.tests[0].pairs[0];
        assert_eq!(pair.verdict, Verdict::FirstFaster);
        assert!((pair.factor - 0.5).abs() < 0.01 && (pair.percent + 50.0).abs() < 1.0, "{pair:?}");
        assert_eq!(pair.not_the_card_alone, ["cooling: active against passive"]);
    }

    #[test]
    fn what_the_cards_were_divided_by_is_not_blamed_for_their_difference() {
        let mut small = run("cooling=active", 400.0);
        small.setting.size_bytes = Some(1 << 28);
        let runs = vec![run("cooling=active", 800.0), small];
        let of = |word: &str| {
            let columns = columns(&card("A"), runs.clone(), &Division::By(word.into()));
            comparison(columns, Some(word.to_owned()))
        };
        let by_size = of("size");
        assert_eq!(by_size.entries.len(), 2);
        assert!(by_size.tests[0].pairs[0].not_the_card_alone.is_empty(), "{by_size:?}");
        assert!(by_size.findings.iter().all(|f| f.claim != "not-the-card-alone"), "{:?}", by_size.findings);
        assert!(by_size.differs.iter().any(|d| d.what == "test size"), "it is listed all the same");
    }

    #[test]
    fn the_bytes_of_a_mean_are_those_of_its_ios() {
        let found = comparison(vec![column("A", "cooling=active", &[41.0, 43.0])], None);
        let (test, spread) = (&found.tests[0], found.tests[0].spreads[0].as_ref().unwrap());
        assert_eq!(test.block_bytes, 1 << 20);
        assert!((spread.iops.unwrap() * test.block_bytes as f64 - spread.mean * 1e6).abs() < 1e-6);
    }

    #[test]
    fn runs_that_follow_each_other_have_a_wider_interval_than_student_says() {
        let drift: Vec<f64> = (0..10).map(|i| 80.0 + f64::from(i)).collect();
        let found = comparison(vec![column("A", "cooling=active", &drift)], None);
        let [low, high] = found.tests[0].spreads[0].as_ref().unwrap().ci95.unwrap();
        let [student_low, student_high] = estimate(&drift).unwrap().ci95.unwrap();
        assert!(high - low > 1.5 * (student_high - student_low), "{low} to {high}");
    }

    #[test]
    fn one_run_each_cannot_be_told_apart() {
        let found = comparison(
            vec![column("A", "cooling=active", &[13.0]), column("B", "cooling=active", &[12.0])],
            None,
        );
        assert_eq!(found.tests[0].pairs[0].verdict, Verdict::CannotTell);
        assert_eq!(found.tests[0].spreads[0].as_ref().unwrap().ci95, None);
    }

    #[test]
    fn printed_figures_are_averaged_as_printed_unless_their_units_differ() {
        let prints = |value: f64, unit: &str| Some(ToolPrints { value, unit: unit.into() });
        let all = printed(&[prints(413.0, "MB/s"), prints(409.0, "MB/s")]).unwrap();
        assert_eq!((all.mean.value, all.worst.value, all.best.value), (411.0, 409.0, 413.0));
        assert_eq!(printed(&[prints(1.0, "MB/s"), prints(1.0, "GB/s")]), None);
        assert_eq!(printed(&[prints(1.0, "MB/s"), None]), None);
    }
}
