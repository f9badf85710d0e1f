//! Error rates of speed levels, marks and ageing.

use super::runs::Kind;
use super::tables::{percent, table, update_docs};
use super::{TRIALS, share};
use cardscope_model::random::SeededRandom;
use cardscope_model::statistics::mean;
use cardscope_statistics::significance::{
    AgeEffect, DivisionEffect, age_trend, divide_by_group, split_two_levels,
};

#[test]
fn two_level_detection_rates() {
    let counts = [6, 8, 10, 15, 20];
    let found = |kind: Kind, n: usize| {
        let mut random = SeededRandom::from_state(77);
        let sessions: Vec<Vec<f64>> = (0..TRIALS).map(|_| kind.runs(n, &mut random)).collect();
        share(&sessions, |runs| split_two_levels(runs).is_some())
    };
    let one = [
        Kind::Noise(0.02),
        Kind::Noise(0.10),
        Kind::Noise(0.20),
        Kind::Follow(0.10, 0.5),
        Kind::Heat,
        Kind::Stalls,
    ];
    let two = [Kind::Levels(0.6), Kind::Stay(0.7), Kind::Cache, Kind::Throttle];
    let row = |kind: &Kind| (kind.name(), counts.map(|n| percent(found(*kind, n))).to_vec());
    update_docs(
        "levels",
        &table("runs", &counts.map(|n| n.to_string()), &one.iter().chain(&two).map(row).collect::<Vec<_>>()),
    );
    for kind in &one[..4] {
        assert!(counts.iter().all(|n| found(*kind, *n) < 0.02), "{kind:?}");
    }
    assert!(two.iter().all(|kind| found(*kind, 10) > 0.6));
}

/// Cards with marks, each mark faster than the last by a factor, with a spread of e^1 between cards, as in 4 KiB writes.
fn archive(cards: &[usize], factor: f64, random: &mut SeededRandom) -> Vec<(String, f64)> {
    let mark = |(number, count): (usize, &usize)| -> Vec<(String, f64)> {
        let mut speed = || factor.powi(number as i32) * random.normal().exp();
        (0..*count).map(|_| (format!("mark {number}"), speed())).collect()
    };
    cards.iter().enumerate().flat_map(mark).collect()
}

#[test]
fn meaningless_marks_have_5_percent_false_alarms() {
    let archives = 300;
    let mut rows = Vec::new();
    for cards in [&[3, 3][..], &[10, 10], &[4, 3, 9, 1], &[12, 8, 6, 5, 3, 1, 1]] {
        let of = |factor: f64| -> Vec<DivisionEffect> {
            let mut random = SeededRandom::from_state(12_345 + cards.len() as u64);
            (0..archives).map(|seed| divide_by_group(&archive(cards, factor, &mut random), seed)).collect()
        };
        let believed = |of: &[DivisionEffect]| share(of, |d| d.p.unwrap() < 0.05);
        let explained = |of: &[DivisionEffect]| {
            mean(&of.iter().map(|d| d.explained.unwrap()).collect::<Vec<f64>>()).unwrap()
        };
        let (nothing, double) = (of(1.0), of(2.0));
        // 5 % expected, deviation 1.3 %.
        assert!(believed(&nothing) < 0.08, "{cards:?}");
        let cells =
            [&nothing, &double].map(|d| format!("{} ({})", percent(believed(d)), percent(explained(d))));
        let sizes = cards.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        rows.push((sizes, cells.to_vec()));
    }
    let heads = ["says nothing", "each twice as fast as the last"].map(str::to_owned);
    update_docs("marks", &table("cards of each mark", &heads, &rows));
}

/// Monthly sessions of three runs with a yearly change, and 2 % of noise between sessions.
fn aging(months: usize, change: f64, random: &mut SeededRandom) -> Vec<(f64, f64)> {
    let mut session = |month: usize| {
        let day = 30.4 * month as f64;
        let level = 80.0 * (1.0 + change * day / 365.25) * (1.0 + 0.02 * random.normal());
        [0.1, 0.2, 0.3].map(|hour| (day + hour, level * (1.0 + 0.005 * random.normal())))
    };
    (0..months).flat_map(&mut session).collect()
}

#[test]
fn ageing_has_at_most_5_percent_false_alarms() {
    let months = [4, 5, 8, 12, 24];
    let of = |months: usize, change: f64| -> Vec<AgeEffect> {
        let mut random = SeededRandom::from_state(2);
        (0..TRIALS / 2).map(|_| age_trend(&aging(months, change, &mut random)).unwrap()).collect()
    };
    let row = |change: f64| {
        let cells = months.map(|n| percent(share(&of(n, change), |age| age.real)));
        (format!("{:.0} % a year", 100.0 * change), cells.to_vec())
    };
    let rows: Vec<_> = [0.0, -0.05, -0.10, -0.20].into_iter().map(row).collect();
    update_docs("age", &table("true change", &months.map(|n| format!("{n} months")), &rows));
    for n in months {
        let all = of(n, 0.0);
        assert!(share(&all, |age| age.real) < 0.066, "{n} months");
        let held = share(&all, |age| age.ci95[0] <= 0.0 && 0.0 <= age.ci95[1]);
        assert!(held > 0.9, "{held} with {n} months");
    }
    assert!(share(&of(12, -0.10), |age| age.real) > 0.8);
}
