//! `map` gives the same results on a card in real time, served as a file behind a loop device, as in virtual time: two
//! cards, or twenty with `CARDSCOPE_LONG`.
//!
//! FUSE and the loop device add tens of microseconds to each I/O, so the cards are SD cards with longer steps. SD
//! Express cards and drives are left out, because their reads take as long as the path through the kernel. The queue
//! is not compared: the loop device's threads overlap commands (a card with one command at a time gained 1.4) or
//! serialize reads. Caches of more than the 64 MiB that the long test writes are `at_least` in both. A busy computer
//! delays answers, so a map is repeated if the server reports too many late ones.

use crate::common::binary::Home;
use crate::common::machine::LoopDevice;
use crate::common::served::Served;
use crate::common::turns;
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

/// The short test uses the first two.
const CARDS: [&str; 20] = [
    "random-6",
    "sandisk-su04g",
    "random-8",
    "lexar-16g-c10",
    "noobs-8g-c6",
    "samsung-32g-c10",
    "toshiba-16g-c10",
    "samsung-evo-16g-u1",
    "samsung-pro-16g-u1",
    "sandisk-ultra-16g-u1",
    "sandisk-extremepro-8g-u1",
    "sandisk-extreme-16g-u3",
    "samsung-proplus-32g-u3",
    "samsung-proendurance-32g-u1",
    "sony-32g-u3",
    "evo-64g-u3",
    "ultra-64g-tlc24",
    "sdsc-2g",
    "evoplus-32g-u1-fakeq",
    "sandisk-extremepro-32g-a1",
];
const SHORT: usize = 2;

/// Size of the cards, small enough to be filled by a map. The timing is that of the full size.
const BYTES: &str = "256MiB";

/// Parts that give results, without curves. The search for the end of the cache alone rests for over a minute.
const PARTS: [&str; 4] = ["--only", "boundaries", "--only", "open-blocks"];
const CACHE: [&str; 4] = ["--only", "cache", "--cache", "64M"];

/// Compared values with their tolerance.
const VERDICTS: [(&str, f64); 5] = [
    ("/page_bytes", 0.0),
    ("/erase_block_bytes", 0.0),
    ("/open_blocks/linear", 0.0),
    ("/open_blocks/random", 0.0),
    ("/slc_cache_bytes", 0.1),
];

/// Time limit for a hung card.
const PATIENCE: Duration = Duration::from_secs(240);

/// Share of answers that may be late by more than a millisecond, which is longer than most steps.
const MOST_LATE: f64 = 0.003;

/// Attempts until a map is not disturbed by other load.
const TRIES: u32 = 8;

/// True if all twenty cards are tested, with their caches.
fn long() -> bool {
    std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0")
}

fn map(home: &Home, target: &str) -> Value {
    let arguments = ["map", target, "--erase", "--yes-destroy", target, "--seed", "1", "--json", "-q"];
    let cache = if long() { &CACHE[..] } else { &[] };
    let running = home.start(&[&arguments[..], &PARTS, cache].concat());
    running.finish_within(PATIENCE).expect(0).json()
}

fn differ(name: &str, within: f64, virtually: &Value, really: &Value) -> Option<String> {
    let [a, b] = [virtually, really].map(|document| document.pointer(name).unwrap());
    let close = match (a["value"].as_f64(), b["value"].as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= within * a.max(b),
        (a, b) => a == b,
    };
    let told = |p: &Value| format!("{} {} ({})", p["status"], p["value"], p["reason"]);
    (a["status"] != b["status"] || !close).then(|| format!("{name}: {} and {}", told(a), told(b)))
}

/// Map of a card in real time; `None` if too many answers were late.
fn really(home: &Home, target: &str) -> Option<Value> {
    let mut served = Served::start(home, target, &["--json"]);
    let card = LoopDevice::over_file(served.card(), &[]);
    let document = map(home, &card.path);
    drop(card);
    let lag = &served.stop(Signal::TERM).expect(0).json()["cards"][0]["lag"];
    let late = lag["later_than_1_ms"].as_f64().unwrap();
    println!("{target}: {:.3} % of the answers more than 1 ms late", late * 100.0);
    (late <= MOST_LATE).then_some(document)
}

/// Differences on one card.
fn differences(name: &str) -> Vec<String> {
    let home = Home::new();
    let target = format!("sim:{name}?announced_bytes={BYTES}");
    let virtually = map(&home, &target);
    let really =
        (0..TRIES).find_map(|_| really(&home, &target)).expect("this computer is too busy to be a card");
    VERDICTS
        .iter()
        .filter_map(|(pointer, within)| differ(pointer, *within, &virtually, &really))
        .map(|difference| format!("{name}{difference}"))
        .collect()
}

#[test]
fn map_in_real_time_matches_virtual_time() {
    let _quiet = turns::quiet();
    let cards = if long() { &CARDS[..] } else { &CARDS[..SHORT] };
    // One after the other, because two maps disturb each other.
    let found: Vec<String> = cards.iter().flat_map(|name| differences(name)).collect();
    assert!(found.is_empty(), "in virtual time and in real time:\n{}", found.join("\n"));
}
