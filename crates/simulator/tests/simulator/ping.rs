//! Commands that need no flash, and other traffic on the bus: both separate the host from the card.

use crate::common::{MIB, direct_plan, open_card, run_ios};
use cardscope_engine::target::{Target, TargetError};
use std::time::Duration;

/// Seconds of a ping, median of 15, `after_s` seconds after the start.
fn median_ping(name: &str, after_s: u64) -> f64 {
    let mut card = open_card(name);
    card.idle(Duration::from_secs(after_s));
    let mut times: Vec<f64> = (0..15).map(|_| card.ping().unwrap().unwrap() as f64 / 1e9).collect();
    times.sort_by(f64::total_cmp);
    times[7]
}

fn is_near(value: f64, truth: f64) -> bool {
    (value / truth - 1.0).abs() < 0.06
}

#[test]
fn ping_takes_path_and_reader_time() {
    assert!(is_near(median_ping("sim:sdsc-2g", 0), 60e-6));
    assert!(is_near(median_ping("sim:sdsc-2g?overhead_s=0.001", 0), 1.06e-3));
    assert!(is_near(median_ping("sim:constant?front.path_s=0.0003", 0), 0.3e-3));
}

#[test]
fn heat_does_not_slow_ping() {
    let mut card = open_card("sim:lexar-1tb-express?cooling=passive&seed=3");
    let times = |card: &mut cardscope_simulator::SimTarget| {
        (0..200).map(|_| card.ping().unwrap().unwrap() as f64).sum::<f64>() / 200.0
    };
    let cool = times(&mut card);
    // 1500 s of reads without a fan: throttled (docs/reference/flash.md#heat).
    while card.temperature().unwrap() < 81.0 {
        run_ios(&mut card, &direct_plan(4, MIB), false, (0..4096u64).map(|i| i * MIB));
        assert!(card.now() < 4_000_000_000_000, "it never became hot");
    }
    assert!((times(&mut card) / cool - 1.0).abs() < 0.02);
}

#[test]
fn burst_of_other_traffic_slows_ping_and_writes() {
    let disturbed = "sim:constant?disturb_every_s=10&disturb_for_s=4&disturb_share=0.5";
    assert!(
        is_near(median_ping(disturbed, 5), 60e-6)
            && is_near(median_ping(disturbed, 11), 120e-6)
            && is_near(median_ping(disturbed, 15), 60e-6)
    );
    let speed = |after_s: u64| {
        let mut card = open_card(disturbed);
        card.idle(Duration::from_secs(after_s));
        64.0 / run_ios(&mut card, &direct_plan(1, MIB), true, (0..64u64).map(|i| i * MIB))
    };
    let (alone, beside) = (speed(5), speed(11));
    assert!(is_near(alone / beside, 2.0), "{alone} and {beside}");
}

#[test]
fn inactive_disturbance_changes_no_time() {
    let time = |name: &str| {
        let mut card = open_card(name);
        run_ios(&mut card, &direct_plan(4, MIB), true, (0..64u64).map(|i| i * MIB))
    };
    let plain = time("sim:lexar-16g-c10");
    assert_eq!(plain, time("sim:lexar-16g-c10?disturb_every_s=0"));
    assert_eq!(plain, time("sim:lexar-16g-c10?disturb_every_s=3600&disturb_for_s=1&disturb_share=0.5"));
}

#[test]
fn vanished_card_fails_ping() {
    let mut card = open_card("sim:constant?faults.vanish_after_s=1");
    assert!(card.ping().unwrap().is_some());
    card.idle(Duration::from_secs(2));
    assert!(matches!(card.ping(), Err(TargetError::Gone { .. })));
}
