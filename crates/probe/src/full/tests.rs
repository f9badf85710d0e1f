//! Full passes over simulated cards of every kind, in virtual time, against what is true of them.

use super::{Findings, Settings, verify};
use crate::full::{BLOCK, DEPTH};
use cardscope_engine::card::Card;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::Interrupt;
use cardscope_simulator::SimTarget;

const MIB: u64 = 1 << 20;

pub(super) fn settings() -> Settings {
    Settings { salt: 0x5a17, two_passes: false, resumed_at: 0, budget_s: None, max_write: None }
}

pub(super) fn run(name: &str, settings: Settings) -> (Findings, SimTarget) {
    let mut target = SimTarget::named(name).unwrap();
    let findings = {
        let mut card = Card::new(&mut target, &Interrupt::default(), BLOCK, DEPTH).unwrap();
        verify(&mut card, &settings, &mut |_| (), &mut Silent)
    };
    (findings, target)
}

/// The verdict of the truth, in this crate's words.
fn true_verdict(target: &SimTarget) -> String {
    serde_json::to_value(target.truth().verdict).unwrap().as_str().unwrap().to_owned()
}

#[track_caller]
fn right_to_the_sector(name: &str) {
    for two_passes in [false, true] {
        let (found, target) = run(name, Settings { two_passes, ..settings() });
        let way = if two_passes { "two passes" } else { "interleaved" };
        assert_eq!(found.stop, None, "{name}, {way}");
        let truth = target.truth();
        let (reported, wanted) = (
            (found.verdict.word().to_owned(), found.usable_bytes, found.good_bytes),
            (true_verdict(&target), Some(truth.usable_bytes), Some(truth.good_bytes)),
        );
        assert_eq!(reported, wanted, "{name}, {way}: {:?} {:?}", found.bad, found.remarks);
        // Instability and a crawl are seen in the whole, not in a place.
        if found.bad.lost + found.bad.alias + found.bad.flipped > 0 {
            assert!(!found.disproofs.is_empty(), "{name}, {way}");
        }
    }
}

const CARD: &str = "sim:constant?announced_bytes=64MiB";

#[test]
fn a_genuine_card_is_proven_to_its_last_byte() {
    right_to_the_sector(CARD);
    right_to_the_sector("sim:constant?announced_bytes=67109376");
    let (found, _) = run(CARD, settings());
    assert_eq!((found.proven_bytes, found.bad.lost, found.disproofs.len()), (64 * MIB, 0, 0));
}

#[rstest::rstest]
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
fn every_kind_of_fake_is_known_to_the_sector(#[case] fake: &str) {
    right_to_the_sector(&format!("{CARD}&{fake}"));
}

/// A cache shows as soon as more lost blocks were written than it holds; one that holds all of them is storage.
#[rstest::rstest]
fn no_cache_hides_what_is_lost(
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
    right_to_the_sector(&format!(
        "{CARD}&{fake}&cache_bytes={bytes}&fake.cache_kind={kind}&fake.cache_strict={strict}"
    ));
}

#[rstest::rstest]
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
    right_to_the_sector(&format!("{CARD}&{faults}"));
}
