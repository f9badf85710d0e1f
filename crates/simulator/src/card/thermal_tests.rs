use crate::card::{Card, Command};
use crate::target_spec;

const MIB: u64 = 1 << 20;

fn card(name: &str, overrides: &str) -> Card {
    let name = format!("sim:{name}?cooling=passive&read_sigma=0&write_sigma=0&hiccup_p=0&{overrides}");
    Card::new(&target_spec::parse(&name).unwrap().archetype, 1)
}

/// Reads blocks of `len` one after the other for `seconds`; returns the end and MB/s.
fn read(card: &mut Card, from: f64, seconds: f64, len: u64) -> (f64, f64) {
    let (mut now, mut bytes, mut offset) = (from, 0, 0);
    while now < from + seconds * 1e9 {
        now = card.serve(now, Command { write: false, offset, len, in_flight: 1 });
        bytes += len;
        offset = (offset + len) % (1024 * MIB);
    }
    (now, bytes as f64 / 1e6 / ((now - from) / 1e9))
}

#[test]
fn what_leaves_the_data_path_idle_is_not_slowed_by_a_card_that_saves_at_its_duty() {
    // Hot from the start and never cool again.
    let hot = "thermal.tmt1_c=20&thermal.tmt2_c=200&light_read=0.65";
    let mut cool = card("adata-256g-express", "heat=off");
    let (cool_large, cool_small) =
        (read(&mut cool, 0.0, 3.0, 64 * MIB).1, read(&mut cool, 10e9, 3.0, 4096).1);
    let mut duty = card("adata-256g-express", hot);
    let (end, large) = read(&mut duty, 0.0, 3.0, 64 * MIB);
    let small = read(&mut duty, end, 3.0, 4096).1;
    assert!((large / cool_large / 0.65 - 1.0).abs() < 0.02, "{large} of {cool_large}");
    assert!((small / cool_small - 1.0).abs() < 0.01, "{small} of {cool_small}");
    let mut clock = card("adata-256g-express", &format!("{hot}&throttle=clock"));
    let (end, _) = read(&mut clock, 0.0, 3.0, 64 * MIB);
    let small = read(&mut clock, end, 3.0, 4096).1;
    assert!((small / cool_small / 0.65 - 1.0).abs() < 0.02, "{small} of {cool_small}");
}

#[test]
fn the_counters_tell_transitions_and_seconds_of_both_levels() {
    let power = "idle_w=0&busy_w=1&throttled_busy=1&read_w=0&write_w=0&capacity_j_per_k=1&ambient_c=20&passive_k_per_w=60";
    let limits = "thermal.tmt1_c=50&thermal.tmt2_c=70&hysteresis_k=2";
    let mut card = card("lexar-1tb-express", &format!("{power}&{limits}"));
    // 20 + 60 · (1 - exp(-t/60 s)): 50 °C after 41.6 s, 70 °C after 107.5 s.
    let (now, _) = read(&mut card, 0.0, 150.0, MIB);
    let counters = card.heat_counters(now);
    assert_eq!((counters.t1_transitions, counters.t2_transitions), (1, 1));
    assert!((counters.t1_s - 65.9).abs() < 1.0, "{counters:?}");
    assert!((counters.t2_s - 42.5).abs() < 1.5, "{counters:?}");
    assert!((counters.busy_s - 150.0).abs() < 1.0, "{counters:?}");
    // Left alone it cools: through both limits, and comes back at its next load.
    card.heat_counters(now + 600e9);
    let (now, _) = read(&mut card, now + 600e9, 60.0, MIB);
    assert_eq!(card.heat_counters(now).t1_transitions, 2);
}

#[test]
fn a_hot_card_that_is_saved_is_slow_when_it_goes_on() {
    let hot = "thermal.tmt1_c=20&thermal.tmt2_c=200&light_read=0.5";
    let mut first = card("lexar-1tb-express", hot);
    let (now, _) = read(&mut first, 0.0, 1.0, MIB);
    let text = serde_json::to_string(&first.heat.as_ref().unwrap().state).unwrap();
    let mut second = card("lexar-1tb-express", hot);
    second.heat.as_mut().unwrap().resume(serde_json::from_str(&text).unwrap());
    second.last_end = now;
    assert_eq!(read(&mut first, now, 1.0, MIB), read(&mut second, now, 1.0, MIB));
}
