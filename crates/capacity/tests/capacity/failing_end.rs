//! Readers that announce more than the card holds: I/O beyond the end fails with an error, unlike on a fake.

use crate::common::{options, probe_erasing};
use cardscope_capacity::probe::full;
use cardscope_capacity::probe::full::PassSettings;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_model::verify::{SURE_CONFIDENCE, Verdict, Verification};
use cardscope_probing::io_size::{PASS_BLOCK, PASS_DEPTH};
use cardscope_simulator::SimTarget;
use rstest::rstest;

#[rstest]
#[case::one_sector_too_many("announced_bytes=8GiB&extra_sectors=1", 8 << 30)]
#[case::eight_sectors_too_many("announced_bytes=8GiB&extra_sectors=8", 8 << 30)]
#[case::not_in_whole_blocks("announced_bytes=8000634880&shown_bytes=17179870720", 8_000_634_880)]
#[case::sixteen_times_too_much("announced_bytes=67108864000&shown_bytes=1TiB", 67_108_864_000)]
#[case::addresses_that_end("announced_bytes=64GiB&end_bytes=32GiB", 32 << 30)]
fn quick_test_finds_the_first_failing_sector(#[case] card: &str, #[case] usable: u64) {
    for seed in 1..4 {
        let found = probe_erasing(&format!("sim:constant?{card}"), &options(false, seed)).outcome;
        assert_eq!((found.verdict, found.fails_beyond), (Verdict::Damaged, true), "{found:?}");
        assert_eq!(found.usable_bytes, Some(usable), "seed {seed}");
    }
}

#[test]
fn fake_behind_a_miscounting_reader_is_a_fake() {
    for seed in 1..4 {
        let card = "sim:constant?announced_bytes=16GiB&fake=limbo&fake_bytes=3GB&extra_sectors=1";
        let found = probe_erasing(card, &options(false, seed)).outcome;
        assert_eq!((found.verdict, found.fails_beyond), (Verdict::Limbo, false), "{found:?}");
        assert!(found.confidence >= SURE_CONFIDENCE, "{found:?}");
    }
}

fn run_full_pass(name: &str, two_passes: bool) -> Verification {
    let mut target = SimTarget::open_named(name).unwrap();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), PASS_BLOCK, PASS_DEPTH).unwrap();
    let settings = PassSettings { salt: 7, two_passes, resumed_at: 0, budget_s: None, max_write: None };
    full::verify_card(&mut card, &settings, &mut |_| (), &mut Silent).body
}

#[rstest]
#[case::one_sector_too_many("announced_bytes=64MiB&extra_sectors=1", 64 << 20)]
#[case::eight_sectors_too_many("announced_bytes=64MiB&extra_sectors=8", 64 << 20)]
#[case::twice_as_much("announced_bytes=64MiB&shown_bytes=128MiB", 64 << 20)]
#[case::not_in_whole_blocks("announced_bytes=67109376&shown_bytes=256MiB", 67_109_376)]
fn full_test_finds_the_first_failing_sector(#[case] card: &str, #[case] usable: u64) {
    for two_passes in [false, true] {
        let found = run_full_pass(&format!("sim:constant?{card}"), two_passes);
        assert_eq!((found.verdict, found.fails_beyond), (Verdict::Damaged, true), "{found:?}");
        assert_eq!(found.usable_bytes, Some(usable), "two passes: {two_passes}");
    }
}
