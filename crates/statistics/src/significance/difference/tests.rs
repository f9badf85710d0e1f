//! Comparisons of artificial cards and of docs/reference/reports.md#microsd-express-benchmarks.

use super::*;
use crate::priors::{SpreadKind, SpreadSubject};
use cardscope_model::random::SeededRandom;
use cardscope_model::test_name::{IoOrder, TestOp};
use proptest::prelude::*;

/// Two cards of the same kind in a test.
fn among(express: bool, order: IoOrder, op: TestOp, first: &[f64], second: &[f64]) -> CardDifference {
    let table = SpreadTable::shipped();
    let spread = table.spread_of_kind(SpreadKind { express, subject: SpreadSubject::Test(order, op) });
    super::compare_speeds(
        UsualSpeed::from_runs(first, spread).as_ref(),
        UsualSpeed::from_runs(second, spread).as_ref(),
        table,
        0.0,
    )
}

/// Two SD cards in sequential reads.
fn difference(first: &[f64], second: &[f64]) -> CardDifference {
    among(false, IoOrder::Sequential, TestOp::Read, first, second)
}

/// SEQ1G Q1T1 write with a fan, run 1 to 10.
const ADATA: [f64; 10] = [614.0, 598.0, 610.0, 611.0, 337.0, 383.0, 424.0, 287.0, 372.0, 288.0];
const LEXAR: [f64; 10] = [597.0, 595.0, 392.0, 362.0, 322.0, 280.0, 281.0, 605.0, 323.0, 280.0];

fn runs(mean: f64, spread: f64, count: usize, seed: u64) -> Vec<f64> {
    let mut random = SeededRandom::from_state(seed);
    (0..count).map(|_| mean * (spread * random.normal()).exp()).collect()
}

#[test]
fn twice_as_fast_in_five_runs_is_significant() {
    let found = difference(&runs(45.0, 0.02, 5, 1), &runs(90.0, 0.02, 5, 2));
    assert_eq!((found.verdict, found.more_runs), (PairVerdict::SecondFaster, None));
    let [low, high] = found.ci95.unwrap();
    assert!(low < 2.0 && 2.0 < high && low > 1.8 && found.p.unwrap() < 0.001, "{found:?}");
}

#[test]
fn published_writes_are_not_significant() {
    let found = among(true, IoOrder::Sequential, TestOp::Write, &ADATA, &LEXAR);
    // The ratio of arithmetic means would be 403.7 / 452.4 = 0.892.
    assert!((found.factor - 0.8876).abs() < 1e-3, "{found:?}");
    assert!(found.grade < ChanceGrade::Likely && found.first_faster > 0.55, "{found:?}");
    assert_eq!(found.verdict, PairVerdict::CannotTell);
    // docs/reference/flash.md#comparing-two-cards has 0.84 to 1.54 for the inverse, by a block bootstrap.
    let [low, high] = found.ci95.unwrap();
    assert!(low < 0.70 && high > 1.1, "{found:?}");
    assert_eq!(found.more_runs, None, "a mean over two levels is not settled by runs");
}

#[test]
fn equal_steady_cards_are_alike() {
    let found = difference(&runs(90.0, 0.01, 10, 3), &runs(90.5, 0.01, 10, 4));
    assert_eq!(found.verdict, PairVerdict::Alike, "{found:?}");
}

#[test]
fn two_runs_give_no_verdict_but_a_number_of_runs() {
    let found = difference(&[50.0, 50.2], &runs(70.0, 0.02, 10, 5));
    assert_eq!((found.p, found.verdict), (None, PairVerdict::CannotTell));
    assert!(found.ci95.is_some() && found.more_runs.is_some_and(|more| more <= 3), "{found:?}");
}

#[test]
fn single_runs_are_never_significant() {
    let found = difference(&[20.0], &[25.0]);
    assert_eq!((found.p, found.verdict), (None, PairVerdict::CannotTell));
    assert!((found.factor - 1.25).abs() < 1e-12 && found.more_runs.is_some(), "{found:?}");
    let [low, high] = found.ci95.unwrap();
    assert!(low < 1.25 && 1.25 < high && found.first_faster < 0.2, "{found:?}");
}

#[test]
fn different_setup_widens_the_interval_and_limits_the_grade() {
    let spread = SpreadTable::shipped().spread_of_kind(SpreadKind {
        express: false,
        subject: SpreadSubject::Test(IoOrder::Sequential, TestOp::Read),
    });
    let [first, second] =
        [runs(45.0, 0.01, 5, 1), runs(90.0, 0.01, 5, 2)].map(|runs| UsualSpeed::from_runs(&runs, spread));
    let of =
        |besides| super::compare_speeds(first.as_ref(), second.as_ref(), SpreadTable::shipped(), besides);
    let (alone, with) = (of(0.0), of(0.01));
    assert_eq!((alone.grade, with.grade), (ChanceGrade::AlmostCertain, ChanceGrade::Likely));
    assert_eq!(alone.factor, with.factor);
    let width = |found: &CardDifference| found.ci95.map(|[low, high]| high / low).unwrap();
    assert!(width(&with) > 1.3 * width(&alone), "{with:?}");
}

#[test]
fn recommended_runs_usually_suffice() {
    let mut settled = 0;
    for seed in 0..200 {
        let (first, second) = (runs(50.0, 0.05, 40, seed), runs(56.0, 0.05, 40, 1000 + seed));
        let some = difference(&first[..3], &second[..3]);
        let more = some.more_runs.map_or(0, |more| more as usize).min(37);
        let then = difference(&first[..3 + more], &second[..3 + more]);
        settled += u32::from(then.verdict != PairVerdict::CannotTell);
    }
    // Three runs estimate difference and spread only roughly. With exact values 80 % would be settled.
    assert!(settled > 110, "{settled} of 200");
}

#[test]
fn correction_requires_stronger_evidence() {
    let found = difference(&runs(50.0, 0.03, 6, 8), &runs(57.0, 0.03, 6, 9));
    assert_eq!(found.verdict, PairVerdict::SecondFaster, "{found:?}");
    let many = found.clone().with_corrected_p(0.2);
    assert_eq!(many.verdict, PairVerdict::CannotTell, "{found:?}");
    assert!(many.more_runs.is_some_and(|more| (1..30).contains(&more)), "{many:?}");
    assert_eq!(found.clone().with_corrected_p(0.0), found, "a correction never lowers p");
}

#[test]
fn large_comparisons_are_fast() {
    let (first, second) = (runs(50.0, 0.05, 500, 1), runs(50.5, 0.05, 500, 2));
    let began = std::time::Instant::now();
    for _ in 0..12 {
        assert!(difference(&first, &second).p.is_some());
        assert!(super::super::split_two_levels(&first).is_none());
    }
    // Limit for an unoptimized build on a busy machine. A release build may take 30 ms.
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
}

#[test]
fn difference_handles_extreme_inputs() {
    for (first, second) in [
        (&[][..], &[1.0][..]),
        (&[f64::NAN, -5.0], &[f64::INFINITY]),
        (&[0.0; 4], &[0.0; 4]),
        (&[0.0; 4], &[3.0, 3.0, 3.0]),
        (&[1e308; 5], &[5e-324; 5]),
    ] {
        let found = difference(first, second);
        assert!(found.factor.is_finite() && (0.0..=1.0).contains(&found.first_faster), "{found:?}");
        assert!(found.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{found:?}");
    }
    assert_eq!(difference(&[0.0; 4], &[3.0; 4]).verdict, PairVerdict::SecondFaster);
    assert_eq!(difference(&[0.0; 4], &[0.0; 4]).verdict, PairVerdict::Alike);
}

fn mirrored(verdict: PairVerdict) -> PairVerdict {
    match verdict {
        PairVerdict::FirstFaster => PairVerdict::SecondFaster,
        PairVerdict::SecondFaster => PairVerdict::FirstFaster,
        other => other,
    }
}

fn any_runs() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(0.0..1e3f64, 1..25),
        prop::collection::vec(90.0..100.0f64, 1..25),
        prop::collection::vec(prop_oneof![Just(0.0), Just(280.0), Just(600.0), Just(f64::MAX)], 1..25),
        (0.0..1e3f64, 1usize..25).prop_map(|(value, count)| vec![value; count]),
    ]
}

proptest! {
    #[test]
    fn swapped_cards_give_the_mirrored_verdict(first in any_runs(), second in any_runs()) {
        let (there, back) = (difference(&first, &second), difference(&second, &first));
        prop_assert!((there.factor * back.factor - 1.0).abs() < 1e-9);
        prop_assert_eq!(there.verdict, mirrored(back.verdict));
        prop_assert_eq!(there.p.is_some(), back.p.is_some());
        prop_assert!((there.first_faster + back.first_faster - 1.0).abs() < 5e-3);
        let apart = (there.p.unwrap_or(1.0) - back.p.unwrap_or(1.0)).abs();
        prop_assert!(apart < 5e-3);
    }

    #[test]
    fn difference_is_independent_of_the_unit(
        first in prop::collection::vec(1.0..1e3f64, 1..25), second in prop::collection::vec(1.0..1e3f64, 1..25),
    ) {
        let of = |values: &[f64]| values.iter().map(|v| v * 1024.0).collect::<Vec<f64>>();
        let (a, b) = (difference(&first, &second), difference(&of(&first), &of(&second)));
        prop_assert!((a.factor / b.factor - 1.0).abs() < 1e-9 && (a.first_faster - b.first_faster).abs() < 0.02);
    }

    #[test]
    fn difference_is_finite_and_consistent(first in any_runs(), second in any_runs()) {
        let found = difference(&first, &second);
        prop_assert!((1e-6..=1e6).contains(&found.factor));
        if let Some([low, high]) = found.ci95 {
            prop_assert!(low <= found.factor * 1.000_001 && found.factor <= high * 1.000_001);
        }
        prop_assert!(found.noticed[0] <= found.first_faster + 1e-9);
        prop_assert!(found.noticed[1] <= 1.0 - found.first_faster + 1e-9);
        prop_assert!(found.more_runs.is_none_or(|more| found.verdict == PairVerdict::CannotTell && more > 0));
    }
}
