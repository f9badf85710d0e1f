//! Two system starts, watched from the first second: with a card that takes a second for each small write, and with its
//! replacement (docs/reference/reports.md#microsd-speed-comparison). Simulated cards in real time behind a loop device.

use crate::common::binary::Home;
use crate::common::machine::LoopDevice;
use crate::common::served::Served;
use crate::common::{number, text, turns};
use crate::observe::Load;
use serde_json::Value;

/// Start of a system: small random writes, one after the other, that something waits for.
const START: [&str; 2] = ["--rw=randwrite", "--number_ios=30"];

/// Watches such a start from a served card.
fn watched(home: &Home, name: &str, more: &[&str]) -> Value {
    let served = Served::start(home, name, &[]);
    let device = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let load = Load::of(&device.path, &START);
    let arguments = [&["observe", &device.path, "--for", "8s", "--json"], more].concat();
    let report = home.run(&arguments).expect(0).json();
    drop(load);
    report
}

#[test]
fn faster_card_shortens_the_observed_start() {
    let _alone = turns::alone();
    let home = Home::new();
    let file = home.path("before.json");
    let slow = watched(&home, "sim:oem-8g-bad4k", &["--save", file.to_str().unwrap()]);
    let summary = &slow["summary"];
    assert!(number(summary, "/utilisation") > 0.7, "{summary:#}");
    assert_eq!(text(summary, "/settled/status"), "at_least", "it waits to the end: {summary:#}");
    assert_ne!(text(summary, "/bottleneck"), "nothing", "{summary:#}");

    let fast = watched(&home, "sim:constant", &["--against", file.to_str().unwrap()]);
    assert_ne!(text(&fast, "/summary/bottleneck"), "card", "{:#}", fast["summary"]);
    // Other programs that keep the processors busy would become the bottleneck.
    if [&slow, &fast].iter().any(|report| number(report, "/summary/cpu_busy") > OTHERS) {
        return;
    }
    assert_eq!(text(summary, "/bottleneck"), "card", "{summary:#}");
    let answer = text(&slow, "/answer");
    assert!(answer.ends_with("; the system waited for the card."), "{answer}");
    let claims: Vec<&str> = fast["findings"].as_array().unwrap().iter().map(|f| text(f, "/claim")).collect();
    assert!(claims.contains(&"start-faster"), "{:#}", fast["findings"]);
}

/// Share of the processors above which other programs disturb.
const OTHERS: f64 = 0.6;
