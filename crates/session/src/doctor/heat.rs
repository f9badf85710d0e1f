//! Heat and supply of this computer. Seed 003: a Raspberry Pi's hot USB controller made results differ by a factor of
//! two or three; its firmware says when it throttles (`vcgencmd get_throttled`).

use cardscope_device::host;
use cardscope_device::system::System;
use cardscope_device::vitals::{self, Zone};
use cardscope_model::doctor::{Point, State, Topic};

/// This close to a limit, in °C, the next long test reaches it.
const NEAR_C: f64 = 8.0;

/// Bits of the firmware's word: now, and since boot (Raspberry Pi documentation).
const NOW: u32 = 0xf;
const EVER: u32 = 0xf_0000;

pub(super) fn points(system: &System) -> Vec<Point> {
    vec![supply(system), zones(system)]
}

fn supply(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "supply",
            Topic::Heat,
            state,
            seen,
            "under-voltage and throttling slow the processor and the bus, and cards fail for want of current",
        )
    };
    let Some(words) = host::supply(system) else {
        return new(State::Unknown, "this board does not watch its supply".to_owned());
    };
    let advice = "use the board's own power supply and a short cable, cool the board, restart it, look again";
    let state = match vitals::throttled(system) {
        Some(word) if word & NOW != 0 => State::Fail,
        Some(word) if word & EVER != 0 => State::Warn,
        None if words == "under-voltage" => State::Fail,
        _ => State::Ok,
    };
    let point = new(state, words);
    if state == State::Ok { point } else { point.advise(advice) }
}

fn zones(system: &System) -> Point {
    let new = |state, seen: String| {
        Point::new(
            "heat",
            Topic::Heat,
            state,
            seen,
            "a processor or SoC at its limit is slowed down, and the card's figures with it",
        )
    };
    let zones = vitals::zones(system);
    let distance = |zone: &Zone| zone.limit.map_or(f64::INFINITY, |limit| limit - zone.celsius);
    let Some(worst) =
        zones.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)).then(b.celsius.total_cmp(&a.celsius)))
    else {
        return new(State::Unknown, "the kernel tells no temperature".to_owned());
    };
    let limit =
        worst.limit.map_or_else(|| "no limit known".to_owned(), |limit| format!("limit {limit:.0} °C"));
    let seen = format!("{} is at {:.1} °C ({limit})", worst.kind, worst.celsius);
    match distance(worst) {
        left if left <= 0.0 => {
            new(State::Fail, seen).advise("let it cool down and give it a fan; then look again")
        }
        left if left <= NEAR_C => {
            new(State::Warn, seen).advise("cool it before a long test: a fan, or a pause")
        }
        _ => new(State::Ok, seen),
    }
}
