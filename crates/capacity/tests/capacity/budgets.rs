//! Cost of the quick probe: bytes written and the card's time, compared with their limits.

use crate::common::{options, probe_erasing};
use cardscope_capacity::probe::quick::{QuickOutcome, probe_card};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ReadAnswer, split_extents};
use cardscope_engine::target::Target;
use cardscope_journal::restoring::restore_from_journal;
use cardscope_model::verify::Verdict;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_simulator::SimTarget;
use cardscope_testkit::memory_journal::MemoryJournal;
use proptest::prelude::*;
use rstest::rstest;
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// Card of docs/reference/reports.md#lexar-review: five open blocks of 4 MiB, so that each scattered write costs a
/// merge.
const CLASS_10: &str = "sim:lexar-16g-c10?seed=3";

#[rstest]
#[case("limbo&fake_bytes=7600799744", 128 * MIB)]
#[case("limbo&fake_bytes=60GB", 128 * MIB)]
#[case("limbo&fake_bytes=0", 128 * MIB)]
#[case("wraparound&wrap_bytes=8GiB", 128 * MIB)]
#[case("wraparound&wrap_bytes=13000000512", 128 * MIB)]
#[case("chain&fake_bytes=2GiB&wrap_bytes=4GiB", 128 * MIB)]
#[case("damaged&damaged_share=0.16", 128 * MIB)]
#[case("limbo&fake_bytes=7600799744&cache_bytes=256MiB", 2048 * MIB)]
#[case("limbo&fake_bytes=0&cache_bytes=256MiB", 2048 * MIB)]
#[case("limbo&fake_bytes=7600799744&cache_bytes=256MiB&cache_kind=lru", 2048 * MIB)]
#[case("none", 600_000_000)]
fn quick_probe_stays_within_its_bytes(#[case] fake: &str, #[case] most: u64) {
    let probed = probe_erasing(&format!("sim:constant?announced_bytes=64GB&fake={fake}"), &options(false, 5));
    assert_eq!(probed.mistake(), None);
    assert!(probed.tally.written <= most, "{} bytes written, {most} asked", probed.tally.written);
}

#[rstest]
#[case("fake=limbo&fake_bytes=4GB", 20.0)]
#[case("fake=wraparound&wrap_bytes=8GiB", 20.0)]
#[case("fake=none", 75.0)]
fn class_10_card_is_probed_in_time(#[case] fake: &str, #[case] most: f64) {
    let erased = probe_erasing(&format!("{CLASS_10}&{fake}"), &options(false, 5));
    assert_eq!(erased.mistake(), None);
    assert!(erased.seconds < most, "{fake}: {} s, {most} asked", erased.seconds);
    let kept = probe_and_restore(&mut target(&format!("{CLASS_10}&{fake}")), 5);
    // Restoring takes as long as writing, and reading everything twice before that a quarter more.
    assert!(kept < 2.5 * most, "{fake}, keeping the data: {kept} s, {} asked", 2.5 * most);
    println!("{fake}: {:.1} s, keeping the data {kept:.1} s", erased.seconds);
}

fn target(name: &str) -> SimTarget {
    SimTarget::open_named(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Probes with a journal and restores everything. Returns the seconds.
fn probe_and_restore(target: &mut SimTarget, seed: u64) -> f64 {
    let began = target.now();
    let mut memory = MemoryJournal::default();
    let mut card = IoDriver::new(target, &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    probe_card(&mut card, Some(&mut memory), &options(false, seed), &mut Silent).unwrap();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    (card.now() - began) as f64 / 1e9
}

/// Checksum of each MiB of a card.
fn checksum_card(target: &mut SimTarget) -> Vec<u64> {
    let all = target.info().bytes;
    let mut sums = vec![0; all.div_ceil(MIB) as usize];
    let mut card = IoDriver::new(target, &InterruptFlag::default(), MIB as u32, PROBE_DEPTH).unwrap();
    let sum = |bytes: &[u8]| {
        let words = bytes.as_chunks::<8>().0.iter();
        words.fold(0u64, |s, w| s.rotate_left(5) ^ u64::from_le_bytes(*w))
    };
    card.read(split_extents(0, all, MIB as u32), IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer {
            sums[(extent.offset / MIB) as usize] = sum(bytes);
        }
        Ok(())
    })
    .unwrap();
    sums
}

#[rstest]
fn data_is_restored_after_the_probe(
    #[values(
        "none",
        "limbo&fake_bytes=350MiB",
        "wraparound&wrap_bytes=300000256",
        "wraparound&wrap_bytes=256MiB",
        "chain&fake_bytes=150MiB&wrap_bytes=256MiB",
        "chain&fake_bytes=150MiB&wrap_bytes=400MiB&cache_bytes=4MiB",
        "chain&fake_bytes=150MiB&wrap_bytes=256MiB&lost=last",
        "address-line&wrap_bytes=256MiB",
        "address-line&wrap_bytes=64MiB",
        "damaged&damaged_share=0.16&lost=stale"
    )]
    fake: &str,
) {
    let name = format!("sim:constant?announced_bytes=768MiB&fake={fake}&state=filled");
    let mut target = target(&name);
    let usable = target.truth().usable_bytes;
    let before = checksum_card(&mut target);
    probe_and_restore(&mut target, 11);
    let after = checksum_card(&mut target);
    let differ = |(i, (a, b)): (usize, (&u64, &u64))| (a != b).then_some(i as u64 * MIB);
    let differ: Vec<u64> = before.iter().zip(&after).enumerate().filter_map(differ).collect();
    let differ: Vec<&u64> = differ.iter().filter(|at| **at + MIB <= usable).collect();
    assert!(differ.is_empty(), "{fake}: the MiB at {differ:?} are not as they were");
}

/// Seconds on the card's clock from the first I/O to the last one of the restoration, with the outcome.
fn probe_with_budget(name: &str, budget: f64, seed: u64) -> (f64, QuickOutcome) {
    let mut target = target(name);
    let mut memory = MemoryJournal::default();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    let began = card.seconds();
    let mut options = options(false, seed);
    options.limits.budget = Some(Duration::from_secs_f64(budget));
    let outcome = probe_card(&mut card, Some(&mut memory), &options, &mut Silent).unwrap();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    (card.seconds() - began, outcome)
}

/// Checks that a probe kept its time budget and claims no more than it tested.
fn check_budget(fake: &str, latency: f64, mb_s: f64, budget: f64, seed: u64) -> Result<(), String> {
    let name = format!("sim:constant?announced_bytes=4GB&command_s={latency}&mb_s={mb_s}&fake={fake}");
    let (took, outcome) = probe_with_budget(&name, budget, seed);
    let one = latency + f64::from(PROBE_BLOCK) / (mb_s * 1e6);
    let said = format!("{name}: {took:.2} s of {budget:.2} s, {:?}", outcome.body.verdict);
    let genuine = outcome.body.verdict == Verdict::Genuine;
    if took > 1.1 * budget + one {
        return Err(format!("{said}: too long"));
    }
    if genuine && (fake != "none" || outcome.overflown_bytes < 64 * MIB) {
        return Err(format!("{said}: genuine on {} bytes", outcome.overflown_bytes));
    }
    if outcome.body.verdict == Verdict::Inconclusive && !outcome.cut_short {
        return Err(format!("{said}: no reason"));
    }
    Ok(())
}

const FAKES: [&str; 5] = [
    "none",
    "limbo&fake_bytes=1GB",
    "limbo&fake_bytes=1GB&cache_bytes=32MiB",
    "wraparound&wrap_bytes=1GiB",
    "damaged&damaged_share=0.1",
];

#[test]
fn budget_of_one_second_holds_at_5_mb_s() {
    for seed in 0..20 {
        check_budget("none", 0.00586, 5.0, 1.0, seed).unwrap();
    }
}

#[test]
fn budget_holds_at_200_ms_per_io() {
    for fake in FAKES {
        check_budget(fake, 0.2, 50.0, 10.0, 3).unwrap();
        check_budget(fake, 0.2, 50.0, 60.0, 3).unwrap();
    }
}

/// Budgets as `check` assigns them: the last check must not start without time for it.
#[test]
fn more_time_never_lowers_a_genuine_verdict() {
    for name in [
        CLASS_10,
        "sim:sandisk-extremepro-32g-a1",
        "sim:constant?announced_bytes=32GB&mb_s=90&command_s=0.0002",
    ] {
        let reported = |seconds: u32| probe_with_budget(name, f64::from(seconds), 5).1;
        let all: Vec<(u32, QuickOutcome)> = (20..=240)
            .step_by(if cardscope_testkit::is_long() { 20 } else { 40 })
            .map(|seconds| (seconds, reported(seconds)))
            .collect();
        let genuine = |outcome: &QuickOutcome| outcome.body.verdict == Verdict::Genuine;
        let first = all.iter().position(|(_, outcome)| genuine(outcome)).unwrap();
        for pair in all[first..].windows(2) {
            let [(_, less), (seconds, more)] = pair else { unreachable!() };
            assert!(
                genuine(more),
                "{name}: {seconds} s, {:?} after {} bytes",
                more.body.verdict,
                more.overflown_bytes
            );
            assert!(
                more.body.confidence >= less.body.confidence - 1e-9,
                "{name}: {seconds} s, {}",
                more.body.confidence
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn budget_holds_at_any_latency(
        fake in proptest::sample::select(FAKES.to_vec()),
        latency in -3.0..0.0f64,
        mb_s in 5.0..60.0f64,
        ios in 60.0..3000.0f64,
        seed in 0..1000u64,
    ) {
        let latency = 10f64.powf(latency);
        // From budgets for the shortest test to those for a verdict.
        let budget = (ios * latency).clamp(1.0, 40.0).max(60.0 * latency);
        prop_assert_eq!(check_budget(fake, latency, mb_s, budget, seed), Ok(()));
    }
}

fn cases() -> u32 {
    if cardscope_testkit::is_long() { 2000 } else { 60 }
}
