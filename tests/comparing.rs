//! `compare` and `rank` from the outside: the cards of the reports that Cardscope began with, logs that are only looked
//! into, and an archive of one's own.
#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

mod common;

use common::binary::Home;
use common::{list, number, text};
use serde_json::Value;
use std::path::PathBuf;

fn test<'a>(document: &'a Value, name: &str) -> &'a Value {
    list(document, "/tests").iter().find(|t| text(t, "/test") == name).unwrap_or_else(|| panic!("{name}"))
}

fn names(document: &Value) -> Vec<&str> {
    list(document, "/entries").iter().map(|e| text(e, "/name")).collect()
}

/// The published tables of seed 000, from its own numbers: average, worst, best of SanDisk, ADATA and Lexar.
const PUBLISHED: [(&str, [[f64; 3]; 3]); 4] = [
    ("SEQ1G Q1T1 read", [[818.0, 753.0, 744.0], [803.0, 676.0, 718.0], [834.0, 772.0, 763.0]]),
    ("SEQ1G Q1T1 write", [[649.0, 452.0, 404.0], [648.0, 287.0, 280.0], [650.0, 614.0, 605.0]]),
    ("RND4K Q1T1 read", [[13.0, 22.0, 27.0], [13.0, 10.0, 20.0], [13.0, 38.0, 37.0]]),
    ("RND4K Q8T8 write", [[482.0, 376.0, 337.0], [302.0, 252.0, 233.0], [662.0, 497.0, 534.0]]),
];

#[test]
fn the_tables_of_the_express_report_come_out_of_its_own_runs_as_printed() {
    let home = Home::new();
    let cards = ["SDSQXFN", "ADATA@cooling=active", "PLAY PRO@cooling=active"];
    let document = home.run(&[&["compare", "--json"], &cards[..]].concat()).expect(0).json();
    for (name, [averages, worsts, bests]) in PUBLISHED {
        let spreads = list(test(&document, name), "/spreads");
        for (card, spread) in spreads.iter().enumerate() {
            let printed = |what: &str| number(spread, &format!("/as_printed/{what}/value"));
            // Half to even, as the report rounds.
            assert_eq!(printed("mean").round_ties_even(), averages[card], "{name} of card {card}");
            assert_eq!(
                (printed("worst"), printed("best")),
                (worsts[card], bests[card]),
                "{name} of card {card}"
            );
        }
    }
    let shown = home.run(&[&["compare", "--as-printed"], &cards[..]].concat()).expect(0).stdout;
    for figure in ["818", "753", "744"] {
        assert!(shown.contains(figure), "{shown}");
    }
}

#[test]
fn what_differs_besides_the_card_is_listed_and_the_card_not_blamed_for_it() {
    let home = Home::new();
    let document = home.run(&["compare", "SDSQXFN", "ADATA@cooling=active", "--json"]).expect(0).json();
    let differs: Vec<&str> = list(&document, "/differs").iter().map(|d| text(d, "/what")).collect();
    assert!(differs.contains(&"cooling") && differs.contains(&"runs"), "{differs:?}");
    let pair = &test(&document, "SEQ1G Q1T1 read")["pairs"][0];
    // Two runs against ten: 818 against 753, and yet nothing is called real.
    assert_eq!(text(pair, "/verdict"), "cannot-tell", "{pair:#}");
    assert!(
        list(pair, "/not_the_card_alone")
            .iter()
            .any(|w| w.as_str().unwrap().starts_with("cooling: unknown against active"))
    );
}

#[test]
fn a_card_with_and_without_a_fan_stands_there_twice() {
    let home = Home::new();
    let document = home.run(&["compare", "ADATA", "--by", "cooling", "--json"]).expect(0).json();
    assert_eq!(names(&document).len(), 2, "{document:#}");
    let pair = &test(&document, "SEQ1G Q1T1 read")["pairs"][0];
    assert!(number(pair, "/factor") < 0.95, "{pair:#}");
    let printed = home.run(&["compare", "ADATA", "--by", "cooling"]).expect(0).stdout;
    assert!(printed.contains("cooling active") && printed.contains("cooling passive"), "{printed}");
}

#[test]
fn sixty_four_mebibytes_beside_a_gibibyte_as_percent_and_factor() {
    let home = Home::new();
    let arguments =
        ["compare", "Samsung PRO MicroSDXC 64GB", "--by", "size", "--test", "RND4K Q1T1 write", "--json"];
    let document = home.run(&arguments).expect(0).json();
    let pair = &test(&document, "RND4K Q1T1 write")["pairs"][0];
    // 2.32 against 0.58 in the report.
    assert!((number(pair, "/factor") - 0.25).abs() < 1e-9 && (number(pair, "/percent") + 75.0).abs() < 1e-6);
}

#[test]
fn cards_that_are_not_known_or_known_several_times_are_told() {
    let home = Home::new();
    home.run(&["compare", "Elephant"]).expect(2).says(&["no card \"Elephant\""]);
    home.run(&["compare", "Samsung"]).expect(2).says(&["may be"]);
    home.run(&["compare", "ADATA@coolling=active"]).expect(2).says(&["no word \"coolling\""]);
    home.run(&["compare", "--own"]).expect(2).says(&["nothing to compare"]);
    assert!(!home.archive().exists(), "looking makes no archive");
}

#[test]
fn cards_are_ordered_for_a_job_with_what_it_means_in_seconds() {
    let home = Home::new();
    let document = home.run(&["rank", "--for", "game-load", "--json"]).expect(0).json();
    let places = list(&document, "/places");
    assert!(places.len() >= 3, "{document:#}");
    let values: Vec<f64> = places.iter().map(|p| number(p, "/value")).collect();
    assert!(values.windows(2).all(|w| w[0] >= w[1]), "{values:?}");
    assert!(places.iter().all(|p| list(p, "/job/meaning")[0].as_str().unwrap().starts_with("load 10 GB: ")));
    // What was not measured is said, not guessed.
    assert!(!list(&document, "/not_placed").is_empty());
    home.run(&["rank", "--for", "gaming"]).expect(2).says(&["the jobs are"]);
}

#[test]
fn a_slow_host_makes_fast_cards_alike() {
    let home = Home::new();
    let test = "SEQ1G Q1T1 read";
    let free = home.run(&["rank", "--test", test, "--json"]).expect(0).json();
    let capped = home.run(&["rank", "--test", test, "--on", "usb2", "--json"]).expect(0).json();
    let first = |document: &Value| list(document, "/places").iter().filter(|p| p["place"] == 1).count();
    assert_eq!(first(&capped), list(&capped, "/places").len(), "{capped:#}");
    assert!(list(&free, "/places").len() == list(&capped, "/places").len());
    assert!(list(&capped, "/places").iter().all(|p| !list(p, "/capped").is_empty()));
    home.run(&["rank", "--test", test, "--on", "usb9"]).expect(2).says(&["did you mean \"usb2\"?"]);
}

#[test]
fn the_tables_come_out_of_the_raw_logs_too_but_for_what_was_never_published() {
    let data = PathBuf::from(std::env::var("CARDSCOPE_DATA").unwrap_or("../shared/data".into()));
    if !data.is_dir() {
        return println!("no real logs at {}: nothing was looked at", data.display());
    }
    let home = Home::new();
    let log = |name: &str| data.join("cdm_fio").join(name).to_str().unwrap().to_owned();
    let adata = log("adata-SD71-active-cooling.log");
    let document = home.run(&["compare", "--json", &adata]).expect(0).json();
    for (name, [averages, worsts, bests]) in PUBLISHED {
        let spread = &test(&document, name)["spreads"][0];
        let printed = |what: &str| number(spread, &format!("/as_printed/{what}/value"));
        assert_eq!(printed("mean").round_ties_even(), averages[1], "{name}");
        assert_eq!((printed("worst"), printed("best")), (worsts[1], bests[1]), "{name}");
    }
    // SanDisk: the log has a third run, and its first one is of 256 MiB, which the report counts with the others.
    let sandisk = home
        .run(&["compare", "--json", "--pool", &log("sandisk-ST25671-passive-cooling.log")])
        .expect(0)
        .json();
    assert_eq!(list(&sandisk, "/entries")[0]["runs"], 3);
    assert_eq!(test(&sandisk, "SEQ8M Q32T1 read")["spreads"][0]["n"], 1);
    assert_eq!(test(&sandisk, "SEQ32M Q32T1 read")["spreads"][0]["n"], 2);
}
