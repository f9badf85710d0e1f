//! What this user may do. Capabilities: `capabilities(7)`.

use cardscope_device::list::Entry;
use cardscope_device::system::System;
use cardscope_device::vitals;
use cardscope_model::doctor::{Point, State, Topic};
use rustix::fs::{Access, access};

/// Numbers of capabilities, what each is needed for, and its name.
const NEEDED: [(u32, &str, &str); 2] = [
    (
        21,
        "cap-sys-admin",
        "emptying the page cache of a device, asking an NVMe card for its SMART log and its limits, and reading an SD slot's bus mode need CAP_SYS_ADMIN",
    ),
    (
        17,
        "cap-sys-rawio",
        "asking an SD card by commands of its own, to tell reader from card, needs CAP_SYS_RAWIO",
    ),
];

pub(super) fn points(system: &System, cards: &[Entry]) -> Vec<Point> {
    if !system.is_live() {
        return Vec::new();
    }
    let mut points = vec![devices(cards)];
    points.extend(NEEDED.iter().map(|(bit, name, why)| capability(system, *bit, name, why)));
    points
}

fn devices(cards: &[Entry]) -> Point {
    const WHY: &str = "a card is tested through its block device; without the right to open it only directories on it can be";
    let point = Topic::Rights.asks("block-devices", WHY);
    let advice = "sudo usermod -aG disk $USER, then log in again; or run with sudo";
    let allowed = |card: &&Entry| access(card.path.as_str(), Access::READ_OK | Access::WRITE_OK).is_ok();
    let refused: Vec<&str> =
        cards.iter().filter(|card| !allowed(card)).map(|card| card.path.as_str()).collect();
    let root = rustix::process::geteuid().is_root();
    match (cards.is_empty(), refused.is_empty()) {
        (true, _) if root => point.is(State::Ok, "this is root; no card is present"),
        (true, _) => point.is(State::Unknown, "no card is present to try").advise(advice),
        (false, true) => point.is(State::Ok, format!("all {} cards and readers may be opened", cards.len())),
        (false, false) => {
            let state = if refused.len() == cards.len() { State::Fail } else { State::Warn };
            point.is(state, format!("{} may not be opened by this user", refused.join(", "))).advise(advice)
        }
    }
}

fn capability(system: &System, bit: u32, name: &str, why: &str) -> Point {
    let point = Topic::Rights.asks(name, why);
    match vitals::capabilities(system) {
        Some(set) if set >> bit & 1 == 1 => point.is(State::Ok, "this process has it"),
        Some(_) => point.is(State::Warn, "this process does not have it").advise("run with sudo"),
        None => point.is(State::Unknown, "the system does not tell"),
    }
}
