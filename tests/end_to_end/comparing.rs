//! `compare` and `rank`: cards of published reports, logs without an archive, and the user's archive.

use crate::common::binary::Home;
use crate::common::{data, list, number, text};
use serde_json::Value;

fn test<'a>(document: &'a Value, name: &str) -> &'a Value {
    list(document, "/tests").iter().find(|t| text(t, "/test") == name).unwrap_or_else(|| panic!("{name}"))
}

fn names(document: &Value) -> Vec<&str> {
    list(document, "/entries").iter().map(|e| text(e, "/name")).collect()
}

/// Cards of the report, in the order of its tables.
const CARDS: [&str; 3] = ["SanDisk", "ADATA", "Lexar"];

/// The tables of docs/reference/reports.md#microsd-express-benchmarks: averages, worsts and bests of SanDisk, ADATA and
/// Lexar, as it prints them.
const PUBLISHED: [(&str, [[f64; 3]; 3]); 12] = [
    ("SEQ1G Q1T1 read", [[818.0, 753.0, 744.0], [803.0, 676.0, 718.0], [834.0, 772.0, 763.0]]),
    ("SEQ1G Q1T1 write", [[649.0, 452.0, 404.0], [648.0, 287.0, 280.0], [650.0, 614.0, 605.0]]),
    ("SEQ512K Q1T1 read", [[558.0, 521.0, 484.0], [557.0, 512.0, 454.0], [559.0, 531.0, 492.0]]),
    ("SEQ512K Q1T1 write", [[518.0, 360.0, 304.0], [517.0, 247.0, 223.0], [520.0, 454.0, 437.0]]),
    ("SEQ32M Q32T1 read", [[834.0, 768.0, 746.0], [831.0, 761.0, 711.0], [836.0, 777.0, 764.0]]),
    ("SEQ32M Q32T1 write", [[649.0, 458.0, 410.0], [645.0, 289.0, 285.0], [653.0, 620.0, 627.0]]),
    ("RND4K Q1T1 read", [[13.0, 22.0, 27.0], [13.0, 10.0, 20.0], [13.0, 38.0, 37.0]]),
    ("RND4K Q1T1 write", [[201.0, 173.0, 149.0], [201.0, 88.0, 139.0], [201.0, 193.0, 159.0]]),
    ("RND4K Q32T1 read", [[411.0, 366.0, 443.0], [409.0, 250.0, 397.0], [413.0, 465.0, 467.0]]),
    ("RND4K Q32T1 write", [[628.0, 362.0, 352.0], [598.0, 191.0, 223.0], [657.0, 493.0, 536.0]]),
    ("RND4K Q8T8 read", [[422.0, 338.0, 368.0], [422.0, 205.0, 299.0], [423.0, 459.0, 436.0]]),
    ("RND4K Q8T8 write", [[482.0, 376.0, 337.0], [302.0, 252.0, 233.0], [662.0, 497.0, 534.0]]),
];

/// Tables of the report, by field and heading.
const TABLES: [(&str, &str, &str); 3] = [
    ("average", "mean", "## Comparison Of Averages"),
    ("worst", "worst", "## Comparison Of Worsts"),
    ("best", "best", "## Comparison Of Bests"),
];

/// Differences of SanDisk's log from the published tables: test, table, published, in the log.
const OTHERWISE: [(&str, &str, f64, f64); 17] = [
    ("SEQ1G Q1T1 read", "average", 818.0, 810.0),
    ("SEQ1G Q1T1 read", "best", 834.0, 817.0),
    ("SEQ1G Q1T1 write", "average", 649.0, 650.0),
    ("SEQ1G Q1T1 write", "worst", 648.0, 649.0),
    ("SEQ512K Q1T1 read", "average", 558.0, 555.0),
    ("SEQ512K Q1T1 read", "worst", 557.0, 550.0),
    ("SEQ512K Q1T1 write", "average", 518.0, 520.0),
    ("SEQ512K Q1T1 write", "best", 520.0, 522.0),
    ("SEQ32M Q32T1 write", "average", 649.0, 653.0),
    ("SEQ32M Q32T1 write", "worst", 645.0, 653.0),
    ("RND4K Q1T1 write", "average", 201.0, 200.0),
    ("RND4K Q1T1 write", "worst", 201.0, 199.0),
    ("RND4K Q32T1 read", "average", 411.0, 412.0),
    ("RND4K Q32T1 write", "average", 628.0, 618.0),
    ("RND4K Q8T8 read", "average", 422.0, 423.0),
    ("RND4K Q8T8 write", "average", 482.0, 412.0),
    ("RND4K Q8T8 write", "worst", 302.0, 271.0),
];

/// Figure as the report prints it: averages are rounded half to even.
fn as_printed(spread: &Value, field: &str) -> f64 {
    number(spread, &format!("/as_printed/{field}/value")).round_ties_even()
}

/// Figures of a column that differ from the published ones.
fn otherwise(document: &Value, column: usize, card: usize) -> Vec<(&'static str, &'static str, f64, f64)> {
    let mut differing = Vec::new();
    for (name, tables) in PUBLISHED {
        let spread = &list(test(document, name), "/spreads")[column];
        for ((what, field, _), published) in TABLES.into_iter().zip(tables) {
            let found = as_printed(spread, field);
            if found != published[card] {
                differing.push((name, what, published[card], found));
            }
        }
    }
    differing
}

#[test]
fn express_report_figures_are_reproduced() {
    let home = Home::new();
    let cards = ["SDSQXFN", "ADATA@cooling=active", "PLAY PRO@cooling=active"];
    let document = home.run(&[&["compare", "--json"], &cards[..]].concat()).expect(0).json();
    for (card, name) in CARDS.into_iter().enumerate() {
        assert_eq!(otherwise(&document, card, card), [], "{name}");
        assert_eq!(list(&document, "/entries")[card]["runs"], if name == "SanDisk" { 2 } else { 10 });
    }
    assert_eq!(list(&document, "/tests").len(), PUBLISHED.len(), "no test is left out");
    let shown = home.run(&[&["compare", "--as-printed", "--details"], &cards[..]].concat()).expect(0).stdout;
    for figure in ["818", "753", "744"] {
        assert!(shown.contains(figure), "{shown}");
    }
}

#[test]
fn reference_figures_match_the_reference_page() {
    let page = data().join("../seeds/000_f3f4380956d1aec6.txt");
    let Ok(page) = std::fs::read(&page) else {
        return println!("no page at {}: nothing was looked at", page.display());
    };
    let page = String::from_utf8_lossy(&page);
    for (number, (_, _, heading)) in TABLES.into_iter().enumerate() {
        let part = page.split(heading).nth(1).unwrap();
        let block = part.split("{{< plotly >}}").nth(1).unwrap().split("{{< /plotly").next().unwrap();
        let chart: Value = serde_json::from_str(block).unwrap();
        let tests: Vec<String> =
            list(&chart, "/common_data/y").iter().map(|name| name.as_str().unwrap().to_lowercase()).collect();
        assert_eq!(tests.len(), PUBLISHED.len());
        for (series, card) in list(&chart, "/data").iter().zip(0..) {
            assert!(text(series, "/name").eq_ignore_ascii_case(CARDS[card]));
            for (test, tables) in PUBLISHED {
                let at = tests.iter().position(|name| *name == test.to_lowercase()).unwrap();
                assert_eq!(
                    list(series, "/x")[at],
                    tables[number][card],
                    "{heading}: {test} of {}",
                    CARDS[card]
                );
            }
        }
        assert_eq!(list(&chart, "/data").len(), CARDS.len());
    }
}

#[test]
fn other_differences_are_listed_and_prevent_a_verdict() {
    let home = Home::new();
    let document = home.run(&["compare", "SDSQXFN", "ADATA@cooling=active", "--json"]).expect(0).json();
    let differs: Vec<&str> = list(&document, "/differs").iter().map(|d| text(d, "/what")).collect();
    assert!(differs.contains(&"cooling") && differs.contains(&"runs"), "{differs:?}");
    let pair = &test(&document, "SEQ1G Q1T1 read")["pairs"][0];
    // Two runs against ten: 818 and 753 MB/s, and yet no difference is significant.
    assert_eq!(text(pair, "/verdict"), "cannot-tell", "{pair:#}");
    assert!(
        list(pair, "/not_the_card_alone")
            .iter()
            .any(|w| w.as_str().unwrap().starts_with("cooling: unknown against active"))
    );
}

#[test]
fn cooled_and_uncooled_card_are_separate_entries() {
    let home = Home::new();
    let document = home.run(&["compare", "ADATA", "--by", "cooling", "--json"]).expect(0).json();
    assert_eq!(names(&document).len(), 2, "{document:#}");
    let pair = &test(&document, "SEQ1G Q1T1 read")["pairs"][0];
    assert!(number(pair, "/factor") < 0.95, "{pair:#}");
    let printed = home.run(&["compare", "ADATA", "--by", "cooling"]).expect(0).stdout;
    assert!(printed.contains("cooling active") && printed.contains("cooling passive"), "{printed}");
}

#[test]
fn area_sizes_compare_as_percent_and_factor() {
    let home = Home::new();
    let arguments =
        ["compare", "Samsung PRO MicroSDXC 64GB", "--by", "size", "--test", "RND4K Q1T1 write", "--json"];
    let document = home.run(&arguments).expect(0).json();
    let pair = &test(&document, "RND4K Q1T1 write")["pairs"][0];
    // The report has 2.32 and 0.58.
    assert!((number(pair, "/factor") - 0.25).abs() < 1e-9 && (number(pair, "/percent") + 75.0).abs() < 1e-6);
}

#[test]
fn unknown_and_ambiguous_cards_are_reported() {
    let home = Home::new();
    home.run(&["compare", "Elephant"]).expect(2).says(&["no card \"Elephant\""]);
    home.run(&["compare", "Samsung"]).expect(2).says(&["matches"]);
    home.run(&["compare", "ADATA@coolling=active"]).expect(2).says(&["no word \"coolling\""]);
    home.run(&["compare", "--own"]).expect(2).says(&["nothing to compare"]);
    assert!(!home.archive().exists(), "looking makes no archive");
}

#[test]
fn rank_shows_seconds_of_a_job() {
    let home = Home::new();
    let document = home.run(&["rank", "--for", "game-load", "--json"]).expect(0).json();
    let places = list(&document, "/places");
    assert!(places.len() >= 3, "{document:#}");
    let values: Vec<f64> = places.iter().map(|p| number(p, "/value")).collect();
    assert!(values.windows(2).all(|w| w[0] >= w[1]), "{values:?}");
    assert!(places.iter().all(|p| list(p, "/job/meaning")[0].as_str().unwrap().starts_with("load 10 GB: ")));
    // Missing measurements are listed, not estimated.
    assert!(!list(&document, "/not_placed").is_empty());
    home.run(&["rank", "--for", "gaming"]).expect(2).says(&["there is no job", "pi-boot"]);
}

#[test]
fn slow_host_limits_differences_between_cards() {
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
fn rank_omits_fakes_and_unnamed_simulated_cards() {
    let home = Home::new();
    let fake = "sim:constant?fake=limbo&fake_bytes=1GiB";
    for card in [fake, "sim:sandian-1tb-52g?fake=none"] {
        home.run(&["bench", card, "--recipe", "short"]).expect(0);
    }
    home.run(&["verify", fake]).expect(1);
    let by = ["--own", "--test", "SEQ1M Q1T1 read", "--json"];
    let ranked = home.run(&[&["rank"], &by[..]].concat()).expect(0).json();
    let reasons: Vec<&str> = list(&ranked, "/excluded").iter().map(|e| text(e, "/reason")).collect();
    assert_eq!(
        (list(&ranked, "/places").len(), reasons),
        (0, vec!["fake", "a simulated card"]),
        "{ranked:#}"
    );
    let cards: Vec<String> = list(&ranked, "/excluded").iter().map(|e| text(e, "/name").to_owned()).collect();
    let named: Vec<&str> = cards.iter().map(String::as_str).collect();
    let ranked = home.run(&[&["rank"], &named[..], &by[..]].concat()).expect(0).json();
    let [only] = &list(&ranked, "/places")[..] else { panic!("{ranked:#}") };
    assert_eq!((text(only, "/entry/name"), number(only, "/tier")), (named[1], 1.0), "{ranked:#}");
    assert_eq!(number(only, "/probability_best"), 1.0);
    assert_eq!(
        text(&list(&ranked, "/excluded")[0], "/reason"),
        "fake",
        "a fake is left out though it is named"
    );
    home.run(&["rank"]).expect(2).says(&["--for JOB", "--test TEST"]);
}

/// SanDisk's log has a third run, and its first one is of 256 MiB; of Lexar under active cooling there is none.
#[test]
fn raw_logs_reproduce_the_tables_except_listed_figures() {
    let logs = data().join("cdm_fio");
    if !logs.is_dir() {
        return println!("no real logs at {}: nothing was looked at", logs.display());
    }
    let home = Home::new();
    let log = |name: &str| logs.join(name).to_str().unwrap().to_owned();
    let [adata, sandisk] = [log("adata-SD71-active-cooling.log"), log("sandisk-ST25671-passive-cooling.log")];
    let document = home.run(&["compare", "--json", "--pool", &adata, &sandisk]).expect(0).json();
    let runs: Vec<&Value> = list(&document, "/entries").iter().map(|entry| &entry["runs"]).collect();
    assert_eq!(runs, [10, 3]);
    assert_eq!(otherwise(&document, 0, 1), [], "ADATA");
    assert_eq!(otherwise(&document, 1, 0), OTHERWISE, "SanDisk");
    // The first run used other tests.
    for (name, figure) in [
        ("SEQ256M Q1T1 read", 834.0),
        ("SEQ256M Q1T1 write", 648.0),
        ("SEQ8M Q32T1 read", 836.0),
        ("SEQ8M Q32T1 write", 645.0),
    ] {
        let spreads = list(test(&document, name), "/spreads");
        assert!(spreads[0].is_null());
        assert_eq!((&spreads[1]["n"], as_printed(&spreads[1], "mean")), (&Value::from(1), figure), "{name}");
    }
    assert_eq!(test(&document, "SEQ32M Q32T1 read")["spreads"][1]["n"], 2);
    assert_eq!(test(&document, "RND4K Q1T1 read")["spreads"][1]["n"], 3);
}

#[test]
fn differences_to_raw_logs_are_documented_completely() {
    let document = include_str!("../../docs/express-report.md");
    let rows = |name: &str| document.lines().filter(|line| line.starts_with(&format!("| {name} "))).count();
    for (test, what, published, found) in OTHERWISE {
        let percent = (found / published - 1.0) * 100.0;
        let row = format!("| {test} | {what} | {published} | {found} | {percent:+.1} % |");
        assert!(document.contains(&row), "{row}");
    }
    let listed: usize = PUBLISHED.iter().map(|(test, _)| rows(test)).sum();
    assert_eq!(listed, OTHERWISE.len());
}
