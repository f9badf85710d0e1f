use super::*;
use crate::target_spec;

fn card(name: &str) -> Card {
    Card::new(&target_spec::parse(name).unwrap().archetype, 1)
}

fn read(offset: u64, in_flight: u32) -> Command {
    Command { write: false, offset, len: 4096, in_flight }
}

/// 4 KiB reads a second with `depth` in flight in a closed loop.
fn rate(card: &mut Card, depth: usize) -> f64 {
    let mut ends: std::collections::VecDeque<f64> = (0..depth).map(|_| 0.0).collect();
    for i in 0..20_000u64 {
        let now = ends.pop_front().unwrap();
        ends.push_back(card.serve(now, read(i * 7919 % 100_000 * 4096, depth as u32)));
    }
    20_000.0 / ends.back().unwrap() * 1e9
}

#[test]
fn a_queue_gains_until_its_depth_and_no_further() {
    let name = "sim:constant?depth=4&mb_s=1000000";
    let one = rate(&mut card(name), 1);
    for (depth, gain) in [(2, 2.0), (4, 4.0), (16, 4.0)] {
        let found = rate(&mut card(name), depth) / one;
        assert!((found / gain - 1.0).abs() < 0.01, "{depth} in flight: × {found:.2}");
    }
}

#[test]
fn commands_end_in_the_order_of_their_arrival() {
    let mut card = card("sim:lexar-1tb-express");
    let mut last = 0.0;
    for i in 0..1000u64 {
        let len = if i % 3 == 0 { 1 << 20 } else { 4096 };
        let end = card.serve(last * 0.5, Command { write: i % 2 == 0, offset: i << 21, len, in_flight: 8 });
        assert!(end > last);
        last = end;
    }
}

#[test]
fn a_fake_queue_makes_queued_writes_dear() {
    let mut archetype = target_spec::parse("sim:constant").unwrap().archetype;
    archetype.queue.write_cost = vec![QueueCost { in_flight: 8, factor: 40.0 }];
    let mut card = Card::new(&archetype, 1);
    let write = |in_flight| Command { write: true, offset: 0, len: 4096, in_flight };
    let alone = card.serve(0.0, write(7));
    let queued = card.serve(alone, write(8)) - alone;
    assert!((queued / alone - 40.0).abs() < 0.01, "{queued} against {alone}");
}

#[test]
fn heat_follows_the_closed_form_of_one_node() {
    // At full read without a fan: 17 + 60 · (0.9 + 0.2) = 83 °C, time constant 60 · 5 = 300 s, from 20 °C.
    let overrides = "busy_w=0.9&read_w=0.2&capacity_j_per_k=5&thermal.tmt1_c=200&thermal.tmt2_c=200";
    let mut card = card(&format!("sim:lexar-1tb-express?cooling=passive&{overrides}"));
    let mut now = 0.0;
    while now < 300e9 {
        now = card.serve(now, Command { write: false, offset: 0, len: 1 << 30, in_flight: 1 });
    }
    let expected = 83.0 - (83.0 - 20.0) * (-now / 300e9f64).exp();
    let found = card.celsius(now).unwrap();
    assert!((found - expected).abs() < 1.0, "{found:.1} °C, {expected:.1} expected");
}
