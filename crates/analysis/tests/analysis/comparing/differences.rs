//! Two cards: false differences, intervals, what is seen of true differences, and who is called alike.

use super::runs::Kind;
use super::tables::{keep, percent, table};
use super::{MOST_FALSE, TRIALS, share};
use cardscope_analysis::comparing::{Difference, difference};
use cardscope_model::comparison::Verdict;
use cardscope_model::random::Random;

/// Runs of the first and the second card.
const SIDES: [(usize, usize); 8] = [(3, 3), (3, 10), (3, 20), (5, 5), (5, 20), (7, 7), (10, 10), (20, 20)];

const STEADY: [Kind; 12] = [
    Kind::Noise(0.01),
    Kind::Noise(0.02),
    Kind::Noise(0.05),
    Kind::Follow(0.03, 0.5),
    Kind::Follow(0.05, 0.5),
    Kind::Follow(0.10, 0.5),
    Kind::Levels(0.6),
    Kind::Levels(0.2),
    Kind::Cache,
    Kind::Heat,
    Kind::Throttle,
    Kind::Stalls,
];

/// Runs of one state each: no statistic sees from three of them that there is another.
const STUCK: [Kind; 3] = [Kind::Follow(0.05, 0.7), Kind::Stay(0.7), Kind::Stay(0.8)];

/// What came out of comparisons of two cards of one kind, the second faster by a factor.
fn compared(kind: Kind, sides: (usize, usize), factor: f64) -> Vec<Difference> {
    let mut random = Random::from_state(1 + sides.0 as u64 * 100 + sides.1 as u64);
    (0..TRIALS)
        .map(|_| {
            let first = kind.runs(sides.0, &mut random);
            let second: Vec<f64> = kind.runs(sides.1, &mut random).iter().map(|v| factor * v).collect();
            difference(&first, &second)
        })
        .collect()
}

fn differs(found: &Difference) -> bool {
    matches!(found.verdict, Verdict::FirstFaster | Verdict::SecondFaster)
}

#[test]
fn cards_that_are_alike_differ_in_no_more_than_5_of_100_comparisons_and_intervals_hold_1_in_95() {
    let (mut differ, mut held) = (Vec::new(), Vec::new());
    for kind in STEADY.iter().chain(&STUCK) {
        let all = SIDES.map(|sides| compared(*kind, sides, 1.0));
        let wrong = all.each_ref().map(|of| share(of, differs));
        let right = all
            .each_ref()
            .map(|of| share(of, |d| d.ci95.is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)));
        if STEADY.contains(kind) {
            assert!(wrong.iter().all(|rate| *rate <= MOST_FALSE), "{kind:?}: {wrong:?}");
            assert!(right.iter().all(|rate| *rate >= 1.0 - MOST_FALSE), "{kind:?}: {right:?}");
        }
        differ.push((kind.name(), wrong.map(percent).to_vec()));
        held.push((kind.name(), right.map(percent).to_vec()));
    }
    let heads = SIDES.map(|(a, b)| format!("{a} and {b}"));
    keep("false", &table("runs", &heads, &differ));
    keep("intervals", &table("runs", &heads, &held));
}

#[test]
fn a_difference_of_a_tenth_is_seen_in_most_comparisons_of_ten_steady_runs() {
    let kinds = [
        Kind::Noise(0.01),
        Kind::Noise(0.02),
        Kind::Noise(0.05),
        Kind::Follow(0.03, 0.5),
        Kind::Stalls,
        Kind::Cache,
    ];
    let columns: Vec<(f64, usize)> =
        [1.05, 1.10, 1.20].iter().flat_map(|f| [3, 5, 10, 20].map(|n| (*f, n))).collect();
    let seen = |kind: Kind, factor: f64, n: usize| {
        share(&compared(kind, (n, n), factor), |d| d.verdict == Verdict::SecondFaster)
    };
    let row =
        |kind: &Kind| (kind.name(), columns.iter().map(|(f, n)| percent(seen(*kind, *f, *n))).collect());
    let rows: Vec<_> = kinds.iter().map(row).collect();
    let heads: Vec<String> =
        columns.iter().map(|(f, n)| format!("{:.0} %, {n} runs", 100.0 * (f - 1.0))).collect();
    keep("power", &table("runs", &heads, &rows));
    assert!(seen(Kind::Noise(0.02), 1.10, 10) > 0.99 && seen(Kind::Noise(0.05), 1.10, 10) > 0.7);
    assert!(seen(Kind::Noise(0.05), 1.20, 5) > 0.6);
}

#[test]
fn cards_are_called_alike_where_they_are_and_hardly_ever_where_they_are_not() {
    let counts = [5, 10, 20, 50];
    let alike = |kind: Kind, factor: f64, n: usize| {
        share(&compared(kind, (n, n), factor), |d| d.verdict == Verdict::Alike)
    };
    let kinds =
        [Kind::Noise(0.01), Kind::Noise(0.02), Kind::Follow(0.02, 0.5), Kind::Noise(0.05), Kind::Stalls];
    let mut rows = Vec::new();
    for (kind, factor, truth) in
        kinds.iter().flat_map(|k| [(*k, 1.0, "no difference"), (*k, 1.03, "3 %"), (*k, 1.05, "5 %")])
    {
        let rates = counts.map(|n| alike(kind, factor, n));
        assert!(factor == 1.0 || rates.iter().all(|rate| *rate < MOST_FALSE), "{kind:?} {factor} {rates:?}");
        rows.push((format!("{}; {truth}", kind.name()), rates.map(percent).to_vec()));
    }
    keep("alike", &table("runs; truth", &counts.map(|n| format!("{n} and {n}")), &rows));
    assert!(alike(Kind::Noise(0.01), 1.0, 10) > 0.9);
}
