//! `endure` on the command line: rounds, milestones, resuming, and a card that vanishes.

use crate::common::binary::Home;
use crate::common::machine::with_data;
use crate::common::{number, text};
use rustix::process::Signal;
use serde_json::Value;

const WORN: &str = "sim:constant?announced_bytes=64MiB&flash.au_bytes=1048576&wear.endurance_cycles=30&wear.endurance_sigma=0.2&wear.spare_blocks=0";

fn rounds(document: &Value) -> usize {
    document["rounds"].as_array().unwrap().len()
}

#[test]
fn endure_records_milestones_until_half_is_bad() {
    let home = Home::new();
    let card = format!("{WORN}&wear.end=loses-blocks");
    let document = home.run(&["endure", &card, "--json", "--quiet"]).expect(1).json();
    assert!(number(&document, "/bad_share") >= 0.5, "{document:#}");
    let milestones: Vec<&str> =
        document["milestones"].as_array().unwrap().iter().map(|m| m["milestone"].as_str().unwrap()).collect();
    assert_eq!(milestones, ["first error", "0.1 %", "1 %", "10 %", "25 %", "50 %"]);
    let cycles = number(&document, "/cycles");
    assert!((cycles - rounds(&document) as f64).abs() < 0.01, "{cycles} cycles");
    assert!(document["projection"]["cycles"].is_number(), "{document:#}");
    assert!(document["session"].is_string(), "it is in the archive");
}

#[test]
fn read_only_end_of_life_is_reported() {
    let home = Home::new();
    let card = format!("{WORN}&wear.end=read-only");
    let told = home.run(&["endure", &card]).expect(1).stdout;
    assert!(told.contains("accepts no more writes"), "{told}");
}

#[test]
fn endure_resumes_on_the_same_card_only() {
    let home = Home::new();
    let card = with_data(64, &[]);
    let run = |more: &[&str]| {
        let mut arguments = vec!["endure", &card.path, "--json", "--quiet", "--yes-destroy", &card.path];
        arguments.extend(more);
        home.run(&arguments)
    };
    let first = run(&["--rounds", "2"]).expect(0).json();
    assert_eq!((rounds(&first), text(&first, "/ended_by")), (2, "--rounds"));
    assert!(first["projection"].is_null() && first["projection_reason"].is_string());
    let on = run(&["--rounds", "4", "--resume"]).expect(0).json();
    assert_eq!((rounds(&on), &on["seed"]), (4, &first["seed"]));
    assert_eq!(number(&on, "/bytes_written"), 4.0 * 64.0 * 1_048_576.0);
    let other = with_data(64, &[]);
    let before = other.content();
    home.run(&["endure", &other.path, "--resume", "--yes-destroy", &other.path])
        .expect(2)
        .says(&["no endurance run"]);
    assert!(other.content() == before);
}

#[test]
fn ctrl_c_keeps_finished_rounds() {
    let home = Home::new();
    let card = with_data(128, &[]);
    let mut running = home.start(&["endure", &card.path, "--json", "--yes-destroy", &card.path]);
    running.wait_for("round 2");
    running.signal(Signal::INT);
    let document = running.finish().expect(130).json();
    assert!(rounds(&document) >= 1 && document["error"].is_string(), "{document:#}");
    let on = home.run(&[
        "endure",
        &card.path,
        "--json",
        "--quiet",
        "--resume",
        "--rounds",
        "5",
        "--yes-destroy",
        &card.path,
    ]);
    assert_eq!(rounds(&on.expect(0).json()), 5);
}

#[test]
fn endure_resumes_when_the_card_returns() {
    let home = Home::new();
    // A round writes 64 MiB, so the card vanishes in every second round, which begins again.
    let card = "sim:constant?announced_bytes=64MiB&faults.vanish_after_bytes=100MiB";
    let document = home.run(&["endure", card, "--json", "--quiet", "--rounds", "3"]).expect(0).json();
    assert_eq!((rounds(&document), number(&document, "/returns")), (3, 2.0), "{document:#}");
    let written = number(&document, "/bytes_written");
    assert!(written > 3.0 * 67_108_864.0, "what was written before it vanished counts too: {written}");
}

#[test]
fn endure_gives_up_on_a_vanishing_card() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=64MiB&faults.vanish_after_bytes=30MiB";
    let document = home.run(&["endure", card, "--json", "--wait", "1s"]).expect(3).json();
    assert!(text(&document, "/error").contains("went away"), "{document:#}");
    assert_eq!((rounds(&document), number(&document, "/returns")), (0, 3.0), "{document:#}");
    assert!(number(&document, "/bytes_written") > 4.0 * 20e6, "{document:#}");
}

#[test]
fn target_without_wear_is_reported() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=64MiB";
    let outcome = home.run(&["endure", card, "--rounds", "4"]).expect(0);
    outcome.says(&["The card lost no sector in 3 rounds (3.0 cycles)", "1000 cycles take", "--rounds"]);
    let document = home.run(&["endure", card, "--rounds", "4", "--json", "--quiet"]).expect(0).json();
    let found = document["findings"].as_array().unwrap();
    let found = found.iter().find(|finding| finding["claim"] == "no-wear-seen").unwrap();
    assert_eq!(found["verdict"], "The card lost no sector in 4 rounds (4.0 cycles).");
    assert_eq!(found["evidence"][0][0], "time for 100 cycles", "{document:#}");
    let file = home.path("card.img");
    std::fs::write(&file, vec![0; 8 << 20]).unwrap();
    let name = file.to_str().unwrap();
    home.run(&["endure", name, "--rounds", "3", "--yes-destroy", name])
        .expect(0)
        .says(&["A plain file or a simulated card without wear"]);
}

#[test]
fn budget_ends_an_unfinished_round() {
    let (home, card) = (Home::new(), "sim:evoplus-256g-a2");
    let report = home.run(&["endure", card, "--budget", "5s", "--yes-destroy", card, "--json", "-q"]).json();
    assert_eq!(report["ended_by"], "--budget");
    assert!(report["seconds"].as_f64().is_some_and(|seconds| (5.0..8.0).contains(&seconds)), "{report}");
}
