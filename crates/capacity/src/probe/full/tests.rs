//! Full passes over simulated cards of every kind in virtual time, compared with the cards' definitions. Limits
//! hold in every phase, and skipped checks make no claims.

use super::{PassFindings, PassSettings, samples, verify_card};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::target::Target;
use cardscope_model::verify::{ErrorPattern, Verdict};
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_probing::previous_pass;
use cardscope_probing::previous_pass::SENTINEL_GENERATION;
use cardscope_simulator::SimTarget;
use proptest::prelude::*;
use rstest::rstest;

const MIB: u64 = 1 << 20;

pub(super) fn settings() -> PassSettings {
    PassSettings { salt: 0x5a17, two_passes: false, resumed_at: 0, budget_s: None, max_write: None }
}

/// Findings of a pass over a target, bytes written, and its seconds.
pub(super) fn pass_over(target: &mut dyn Target, settings: &PassSettings) -> (PassFindings, u64, f64) {
    let mut card = IoDriver::new(target, &InterruptFlag::default(), PASS_BLOCK, PASS_DEPTH).unwrap();
    let mut findings = verify_card(&mut card, settings, &mut |_| (), &mut Silent);
    // As in the verb after all I/Os are counted.
    let pattern = ErrorPattern::from_errors(card.counts(), card.io_errors(), Some(card.bytes()));
    findings.body.verdict = findings.body.verdict.with_errors(1.0, pattern, false).0;
    (findings, card.tally().written, card.seconds())
}

pub(super) fn run_pass(name: &str, settings: PassSettings) -> (PassFindings, SimTarget) {
    let mut target = SimTarget::open_named(name).unwrap();
    (pass_over(&mut target, &settings).0, target)
}

/// True verdict as the word of this crate.
pub(super) fn true_verdict(target: &SimTarget) -> String {
    serde_json::to_value(target.truth().verdict).unwrap().as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_right_to_the_sector(name: &str) {
    for two_passes in [false, true] {
        let (found, target) = run_pass(name, PassSettings { two_passes, ..settings() });
        let plan = if two_passes { "two passes" } else { "interleaved" };
        assert_eq!(found.stop, None, "{name}, {plan}");
        let truth = target.truth();
        let (reported, wanted) = (
            (found.body.verdict.word().to_owned(), found.body.usable_bytes, found.body.good_bytes),
            (true_verdict(&target), Some(truth.usable_bytes), Some(truth.good_bytes)),
        );
        assert_eq!(reported, wanted, "{name}, {plan}: {:?} {:?}", found.bad, found.remarks);
        // Instability and slow writes concern the whole card and have no addresses.
        if found.bad.lost + found.bad.alias + found.bad.flipped > 0 {
            assert!(!found.body.disproofs.is_empty(), "{name}, {plan}");
        }
    }
}

const CARD: &str = "sim:constant?announced_bytes=64MiB";

#[test]
fn genuine_card_is_proven_to_its_last_byte() {
    assert_right_to_the_sector(CARD);
    assert_right_to_the_sector("sim:constant?announced_bytes=67109376");
    let (found, _) = run_pass(CARD, settings());
    assert_eq!((found.body.proven_bytes, found.bad.lost, found.body.disproofs.len()), (64 * MIB, 0, 0));
}

#[rstest]
#[case("fake=limbo&fake_bytes=25MiB")]
#[case("fake=limbo&fake_bytes=26214912")]
#[case("fake=limbo&fake_bytes=63MiB")]
#[case("fake=limbo&fake_bytes=0")]
#[case("fake=limbo&fake_bytes=25MiB&fake.lost=ones")]
#[case("fake=limbo&fake_bytes=25MiB&fake.lost=stale")]
#[case("fake=limbo&fake_bytes=26214912&fake.lost=error")]
#[case("fake=wraparound&wrap_bytes=16MiB")]
#[case("fake=wraparound&wrap_bytes=18350592")]
#[case("fake=wraparound&wrap_bytes=50MiB")]
#[case("fake=wraparound&wrap_bytes=1049088")]
#[case("fake=chain&fake_bytes=10MiB&wrap_bytes=16MiB")]
#[case("fake=chain&fake_bytes=10486272&wrap_bytes=18350592")]
#[case("fake=chain&fake_bytes=5MiB&wrap_bytes=32MiB")]
#[case("fake=damaged&fake.damaged_share=0.16&fake.damaged_unit_bytes=1MiB")]
#[case("fake=damaged&fake.damaged_share=0.02&fake.damaged_unit_bytes=64KiB")]
#[case("fake=overcommitted&fake_bytes=23MiB")]
#[case("fake=overcommitted&fake_bytes=24121344")]
#[case("fake=overcommitted&fake_bytes=23MiB&fake.pool_full=slow")]
#[case("fake=read-only&state=filled")]
fn every_kind_of_fake_is_judged_to_the_sector(#[case] fake: &str) {
    assert_right_to_the_sector(&format!("{CARD}&{fake}"));
}

/// A cache shows once more lost blocks were written than it holds. A cache that holds all of them is storage.
#[rstest]
fn no_cache_hides_losses(
    #[values("direct", "lru", "fifo")] kind: &str,
    #[values("true&fake.cache_survives=false", "true", "false")] strict: &str,
    #[values("1MiB", "12MiB")] bytes: &str,
    #[values(
        "fake=limbo&fake_bytes=25MiB",
        "fake=limbo&fake_bytes=0",
        "fake=chain&fake_bytes=10MiB&wrap_bytes=16MiB"
    )]
    fake: &str,
) {
    assert_right_to_the_sector(&format!(
        "{CARD}&{fake}&cache_bytes={bytes}&fake.cache_kind={kind}&fake.cache_strict={strict}"
    ));
}

#[rstest]
#[case("faults.lost_share=0.1&faults.unit_bytes=1MiB")]
#[case("faults.lost_share=0.2&faults.unit_bytes=1MiB&faults.begin_after_bytes=40MiB")]
#[case("faults.failing_share=0.05&faults.unit_bytes=1MiB")]
#[case("faults.failing_share=0.05&faults.unit_bytes=64KiB")]
#[case("faults.failing_share=0.4&faults.unit_bytes=128KiB")]
#[case("faults.flip_p=0.0001")]
#[case("faults.read_flip_p=0.0001")]
#[case("faults.read_flip_p=0.01")]
#[case("faults.read_error_p=0.05")]
#[case("faults.write_error_p=0.05")]
fn faults_are_damage_or_instability(#[case] faults: &str) {
    assert_right_to_the_sector(&format!("{CARD}&{faults}"));
}

const FAKES: &[&str] = &[
    "",
    "&fake=limbo&fake_bytes=5MiB",
    "&fake=limbo&fake_bytes=5MiB&cache_bytes=8MiB&fake.cache_kind=lru",
    "&fake=limbo&fake_bytes=40MiB&cache_bytes=12MiB&fake.cache_kind=direct",
    "&fake=wraparound&wrap_bytes=7MiB",
    "&fake=chain&fake_bytes=4MiB&wrap_bytes=7MiB&cache_bytes=3MiB",
    "&fake=damaged&fake.damaged_share=0.1&fake.damaged_unit_bytes=1MiB",
    "&fake=overcommitted&fake_bytes=23MiB&fake.pool_full=slow",
    "&faults.write_error_p=0.05",
    "&faults.failing_share=0.05&faults.unit_bytes=1MiB",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn write_limit_is_never_exceeded(
        fake in proptest::sample::select(FAKES),
        most in prop_oneof![0u64..2_000_000, 0u64..80_000_000],
        two_passes: bool,
    ) {
        let name = format!("{CARD}{fake}");
        let mut target = SimTarget::open_named(&name).unwrap();
        let limited = PassSettings { max_write: Some(most), two_passes, ..settings() };
        let (found, written, _) = pass_over(&mut target, &limited);
        prop_assert!(written <= most, "{written} of {most} written");
        prop_assert!(found.body.proven_bytes <= most, "{name}: {} proven", found.body.proven_bytes);
        prop_assert!(!(found.body.verdict.is_bad() && true_verdict(&target) == "genuine"), "{name}: {}", found.body.verdict.word());
    }

    #[test]
    fn time_budget_ends_every_phase(fake in proptest::sample::select(FAKES), seconds in 0.0..6.0f64) {
        let name = format!("{CARD}{fake}");
        let mut target = SimTarget::open_named(&name).unwrap();
        let limited = PassSettings { budget_s: Some(seconds), ..settings() };
        let (_, _, spent) = pass_over(&mut target, &limited);
        // Work in progress is completed: eight I/Os written and read, a range read, sectors read again. With a full
        // pool the eight I/Os take seconds.
        let begun = if fake.contains("slow") { 8.0 } else { 2.0 };
        prop_assert!(spent <= seconds + begun, "{name}: {spent} s of {seconds}");
    }
}

/// Of eight I/Os in flight, only those are started that end in time.
#[test]
fn time_budget_holds_on_a_slow_card() {
    for latency in [0.001, 0.05, 0.2, 1.0] {
        for fake in ["", "&fake=limbo&fake_bytes=2GB"] {
            let name = format!("sim:constant?announced_bytes=4GB&command_s={latency}{fake}");
            let mut target = SimTarget::open_named(&name).unwrap();
            let limited = PassSettings { budget_s: Some(10.0), ..settings() };
            let (found, _, spent) = pass_over(&mut target, &limited);
            assert!(spent <= 11.0 + latency, "{name}: {spent} s of 10");
            assert!(found.body.verdict != Verdict::Genuine, "{name}: {}", found.body.verdict.word());
        }
    }
}

/// A check that was skipped for lack of room is named, and its result is not invented.
#[test]
fn skipped_checks_are_reported() {
    let name =
        "sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=20MiB&cache_bytes=2MiB&fake.cache_kind=lru";
    let (whole, _) = run_pass(name, settings());
    assert_eq!(
        whole.remarks.iter().filter(|r| r.contains("because of --max-write or --budget")).count(),
        0,
        "{:?}",
        whole.remarks
    );
    let (cut, _) = run_pass(name, PassSettings { max_write: Some(28 << 20), ..settings() });
    assert!(cut.body.verdict.is_bad(), "{}", cut.body.verdict.word());
    assert_eq!(cut.body.usable_bytes, Some(20 << 20), "the beginning is known");
    assert_eq!(cut.body.good_bytes, None, "a cache may answer for some of it");
    assert!(cut.body.confidence < whole.body.confidence);
    assert!(
        cut.remarks.iter().any(|r| r.contains("because of --max-write or --budget")),
        "{:?}",
        cut.remarks
    );
}

#[test]
fn pass_with_sentinels_only_resumes_at_zero() {
    let content = IoContent::Stamp { salt: 99, generation: SENTINEL_GENERATION };
    let mut found = 0;
    for mib in [4, 8, 16, 32, 64] {
        let mut target = SimTarget::open_named(&format!("sim:constant?announced_bytes={mib}MiB")).unwrap();
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), MIB as u32, 8).unwrap();
        card.write(samples::sentinel_places(mib * MIB, 99), content, |_, _, _| ()).unwrap();
        let previous = previous_pass::find_previous_pass(&mut card).unwrap();
        assert!(previous.as_ref().is_none_or(|p| (p.salt, p.reached) == (99, 0)), "{mib}: {previous:?}");
        found += u32::from(previous.is_some());
    }
    assert!(found > 0, "no size shows its sentinels");
}
