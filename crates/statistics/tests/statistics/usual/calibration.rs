//! Calibration of comparisons, on pairs of cards drawn from the spread table.

use super::drawn::{Law, apart};
use crate::comparing::tables::{percent, table, update_docs};
use cardscope_model::comparison::NOTABLE_CHANGE;
use cardscope_model::comparison::{ChanceGrade, PairVerdict};
use cardscope_model::random::SeededRandom;
use cardscope_statistics::priors::{KindSpread, SpreadKind, SpreadTable, UsualSpeed};
use cardscope_statistics::significance::{CardDifference, compare_speeds};

/// Numbers of runs of the two cards.
const SIDES: [(usize, usize); 6] = [(1, 1), (2, 2), (3, 3), (3, 10), (5, 5), (10, 10)];

/// Cases for each pair of numbers, so that each grade has more than 2000 in total.
const CASES: usize = 2800;

/// The same for shares of all cases: 5 % has an error of ±0.6 %.
const FEWER: usize = 1400;

/// Pair of cards of one kind with the true log ratio of their usual speeds.
struct Case {
    truth: f64,
    jumps: bool,
    found: CardDifference,
}

fn case(
    kind: SpreadKind,
    sides: (usize, usize),
    truth: f64,
    laws: [Law; 2],
    random: &mut SeededRandom,
) -> Case {
    let table = SpreadTable::shipped();
    let spread = table.spread_of_kind(kind);
    let known = |runs: &[f64]| UsualSpeed::from_runs(runs, spread);
    let first = known(&laws[0].runs(4.0, sides.0, random));
    let second = known(&laws[1].runs(4.0 + truth, sides.1, random));
    let jumps = laws.iter().any(|law| matches!(law, Law::Jumping { .. }));
    Case { truth, jumps, found: compare_speeds(first.as_ref(), second.as_ref(), table, 0.0) }
}

fn of_tests() -> Vec<SpreadKind> {
    SpreadKind::all_kinds()
        .filter(|kind| kind.subject != cardscope_statistics::priors::SpreadSubject::AllTests)
        .collect()
}

fn cases(count: usize, sides: (usize, usize), truth: impl Fn(&mut SeededRandom) -> f64) -> Vec<Case> {
    let table = SpreadTable::shipped();
    let kinds = of_tests();
    let mut random = SeededRandom::from_state(sides.0 as u64 * 100 + sides.1 as u64);
    let mut one = |at: usize| {
        let kind = kinds[at % kinds.len()];
        let laws = [(); 2].map(|()| Law::draw(table.spread_of_kind(kind), &mut random));
        let truth = truth(&mut random);
        case(kind, sides, truth, laws, &mut random)
    };
    (0..count).map(&mut one).collect()
}

fn share<T>(of: &[T], holds: impl Fn(&T) -> bool) -> f64 {
    of.iter().filter(|each| holds(each)).count() as f64 / (of.len() as f64).max(1.0)
}

fn noticed() -> f64 {
    (1.0 + NOTABLE_CHANGE).ln()
}

/// False for the wrong card, and for a difference that nobody would notice.
fn is_right(case: &Case) -> bool {
    let [first, second] = case.found.noticed;
    if second > first { case.truth > noticed() } else { case.truth < -noticed() }
}

#[test]
fn grades_are_calibrated() {
    let table_of_cards = SpreadTable::shipped();
    let mut rows = Vec::new();
    let mut all: Vec<Case> = Vec::new();
    for sides in SIDES {
        let of = cases(CASES, sides, |random| apart(table_of_cards, random));
        let cell = |grade: ChanceGrade| {
            let of: Vec<&Case> = of.iter().filter(|case| case.found.grade == grade).collect();
            format!("{} ({})", percent(share(&of, |case| is_right(case))), of.len())
        };
        let grades = [ChanceGrade::AlmostCertain, ChanceGrade::Likely, ChanceGrade::Leans, ChanceGrade::Even];
        rows.push((format!("{} and {}", sides.0, sides.1), grades.map(cell).to_vec()));
        all.extend(of);
    }
    let heads = ["almost certain", "likely", "leans", "even"].map(str::to_owned);
    update_docs("grades", &table("runs", &heads, &rows));
    let right = |grade: ChanceGrade| {
        let of: Vec<&Case> = all.iter().filter(|case| case.found.grade == grade).collect();
        (share(&of, |case| is_right(case)), of.len())
    };
    let (likely, certain) = (right(ChanceGrade::Likely), right(ChanceGrade::AlmostCertain));
    assert!((0.80..=0.95).contains(&likely.0) && likely.1 > 2000, "{likely:?}");
    assert!(certain.0 >= 0.95 && certain.1 > 2000, "{certain:?}");
}

#[test]
fn equal_cards_have_5_percent_false_alarms_and_95_percent_coverage() {
    let mut rows = Vec::new();
    for sides in SIDES {
        let of = cases(FEWER, sides, |_| 0.0);
        let (jump, keep): (Vec<Case>, Vec<Case>) = of.into_iter().partition(|case| case.jumps);
        let told = |of: &[Case]| share(of, |case| case.found.p.is_some_and(|p| p < 0.05));
        let held =
            |of: &[Case]| share(of, |c| c.found.ci95.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high));
        let certain = |of: &[Case]| share(of, |case| case.found.grade == ChanceGrade::AlmostCertain);
        let cells = [told(&keep), told(&jump), held(&keep), held(&jump), certain(&keep), certain(&jump)];
        rows.push((format!("{} and {}", sides.0, sides.1), cells.map(percent).to_vec()));
        assert!(told(&keep) < 0.075 && held(&keep) > 0.93 && held(&jump) > 0.85, "{sides:?}: {cells:?}");
    }
    let heads = [
        "p below 0.05, steady",
        "one jumps",
        "interval holds the truth, steady",
        "one jumps",
        "called almost certain, steady",
        "one jumps",
    ];
    let heads = heads.map(str::to_owned);
    update_docs("alike drawn", &table("runs", &heads, &rows));
}

/// True if a test with the true spread and correlation of both cards finds the difference.
fn by_an_oracle(laws: [Law; 2], sides: (usize, usize), runs: [&[f64]; 2]) -> bool {
    let side = |law: Law, count: usize, runs: &[f64]| {
        let Law::Steady { deviation, correlation: by } = law else { return (0.0, 0.0) };
        let n = count as f64;
        let worth = if n > 1.0 { (n - (n - 2.0) * by) / (1.0 + by) } else { 1.0 };
        let logs: Vec<f64> = runs.iter().map(|v| v.ln()).collect();
        let (ends, all) = (logs[0] + logs[count - 1], logs.iter().sum::<f64>());
        let mean = if count > 1 { (ends + (1.0 - by) * (all - ends)) / (n - (n - 2.0) * by) } else { all };
        (mean, deviation * deviation / worth)
    };
    let ((a, va), (b, vb)) = (side(laws[0], sides.0, runs[0]), side(laws[1], sides.1, runs[1]));
    let z = (b - a) / (va + vb).sqrt();
    z > 1.96 && b - a > noticed()
}

#[test]
fn power_is_nine_tenths_of_an_oracle() {
    let shipped = SpreadTable::shipped();
    let kinds = of_tests();
    let mut rows = Vec::new();
    let mut sums = (0, 0, 0);
    for sides in [(3, 3), (5, 5), (10, 10), (20, 20)] {
        for factor in [1.05, 1.10, 1.20] {
            let mut random = SeededRandom::from_state(9);
            let (mut found, mut corrected, mut oracle) = (0, 0, 0);
            for at in 0..FEWER {
                let kind = kinds[at % kinds.len()];
                let spread = shipped.spread_of_kind(kind);
                let steady = KindSpread { jumping: 0.0, ..spread.clone() };
                let mut law = || loop {
                    let law = Law::draw(&steady, &mut random);
                    if matches!(law, Law::Steady { correlation, .. } if correlation <= 0.3) {
                        return law;
                    }
                };
                let laws = [law(), law()];
                let first = laws[0].runs(4.0, sides.0, &mut random);
                let second = laws[1].runs(4.0 + f64::ln(factor), sides.1, &mut random);
                let known = |runs: &[f64]| UsualSpeed::from_runs(runs, spread);
                let seen = compare_speeds(known(&first).as_ref(), known(&second).as_ref(), shipped, 0.0);
                found += usize::from(seen.verdict == PairVerdict::SecondFaster);
                // One of twelve tests that are equally clear.
                let p = (12.0 * seen.p.unwrap_or(1.0)).min(1.0);
                corrected += usize::from(seen.with_corrected_p(p).verdict == PairVerdict::SecondFaster);
                oracle += usize::from(by_an_oracle(laws, sides, [&first, &second]));
            }
            let of = |count: usize| percent(count as f64 / FEWER as f64);
            let ratio = percent(found as f64 / oracle as f64);
            let name = format!("{} and {} runs, {:.0} % apart", sides.0, sides.1, 100.0 * (factor - 1.0));
            rows.push((name, vec![of(found), of(oracle), ratio, of(corrected)]));
            sums = (sums.0 + found, sums.1 + oracle, sums.2 + corrected);
        }
    }
    let heads = ["found", "by the oracle", "of that", "found in twelve tests at once"].map(str::to_owned);
    update_docs("oracle", &table("truth", &heads, &rows));
    assert!(sums.0 as f64 >= 0.9 * sums.1 as f64, "{sums:?}");
}
