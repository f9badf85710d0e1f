//! Limits hold in every phase, and what was not asked for their sake is not claimed.

use super::Settings;
use super::tests::{run, settings};
use crate::full::{BLOCK, DEPTH, verify};
use cardscope_engine::card::Card;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::verify::Verdict;
use cardscope_simulator::SimTarget;
use proptest::prelude::*;

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
    fn no_byte_is_written_beyond_the_limit(
        fake in proptest::sample::select(FAKES),
        most in prop_oneof![0u64..2_000_000, 0u64..80_000_000],
        two_passes: bool,
    ) {
        let name = format!("sim:constant?announced_bytes=64MiB{fake}");
        let mut target = SimTarget::named(&name).unwrap();
        let truth = target.truth().verdict;
        let mut card = Card::new(&mut target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
        let limited = Settings { max_write: Some(most), two_passes, ..settings() };
        let found = verify(&mut card, &limited, &mut |_| (), &mut Silent);
        prop_assert!(card.tally().written <= most, "{} of {most} written", card.tally().written);
        prop_assert!(found.proven_bytes <= most, "{name}: {} proven", found.proven_bytes);
        let genuine = serde_json::to_value(truth).unwrap() == "genuine";
        prop_assert!(!(found.verdict.is_bad() && genuine), "{name}: {}", found.verdict.word());
    }

    #[test]
    fn the_budget_ends_every_phase(fake in proptest::sample::select(FAKES), seconds in 0.0..6.0f64) {
        let name = format!("sim:constant?announced_bytes=64MiB{fake}");
        let mut target = SimTarget::named(&name).unwrap();
        let mut card = Card::new(&mut target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
        let limited = Settings { budget_s: Some(seconds), ..settings() };
        verify(&mut card, &limited, &mut |_| (), &mut Silent);
        // What had begun ends: eight I/Os written and looked at, a stretch read, sectors read again. A pool that is
        // full takes seconds for the eight.
        let begun = if fake.contains("slow") { 8.0 } else { 2.0 };
        let spent = card.seconds();
        prop_assert!(spent <= seconds + begun, "{name}: {spent} s of {seconds}");
    }
}

/// Eight I/Os are in flight, and where the time is over no more of them than would end in it.
#[test]
fn the_budget_holds_on_a_card_that_takes_long_for_each_io() {
    for latency in [0.001, 0.05, 0.2, 1.0] {
        for fake in ["", "&fake=limbo&fake_bytes=2GB"] {
            let name = format!("sim:constant?announced_bytes=4GB&command_s={latency}{fake}");
            let mut target = SimTarget::named(&name).unwrap();
            let mut card = Card::new(&mut target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
            let found =
                verify(&mut card, &Settings { budget_s: Some(10.0), ..settings() }, &mut |_| (), &mut Silent);
            let spent = card.seconds();
            assert!(spent <= 11.0 + latency, "{name}: {spent} s of 10");
            assert!(found.verdict != Verdict::Genuine, "{name}: {}", found.verdict.word());
        }
    }
}

/// A question that was left out for want of room is named, and its answer is not made up.
#[test]
fn what_was_not_asked_is_said() {
    let name =
        "sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=20MiB&cache_bytes=2MiB&fake.cache_kind=lru";
    let (whole, _) = run(name, settings());
    assert_eq!(whole.remarks.iter().filter(|r| r.contains("left no room")).count(), 0, "{:?}", whole.remarks);
    let (cut, _) = run(name, Settings { max_write: Some(28 << 20), ..settings() });
    assert!(cut.verdict.is_bad(), "{}", cut.verdict.word());
    assert_eq!(cut.usable_bytes, Some(20 << 20), "the beginning is known");
    assert_eq!(cut.good_bytes, None, "a cache may answer for some of it");
    assert!(cut.confidence < whole.confidence);
    assert!(cut.remarks.iter().any(|r| r.contains("left no room")), "{:?}", cut.remarks);
}
