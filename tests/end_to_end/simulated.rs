//! Simulated cards on the command line: random and custom ones, saved states, and cards that fail, wear out or vanish
//! during a measurement.

use crate::common::binary::Home;
use serde_json::Value;

fn mb_s(document: &Value, at: usize) -> f64 {
    document["runs"][0]["results"][at]["mb_s"].as_f64().unwrap_or_else(|| panic!("{document:#}"))
}

/// Recipe of sequential writes over the whole area.
fn writes(home: &Home, area: &str) -> String {
    home.recipe(
        &format!("size = \"{area}\"\nprepare = false"),
        &format!("[[test]]\ntest = \"SEQ1M Q1T1 write\"\nbytes = \"{area}\"\nloops = 1\n"),
    )
}

#[test]
fn random_card_is_deterministic() {
    let home = Home::new();
    let first = home.run(&["sim", "random", "--seed", "7", "--json"]).expect(0).json();
    let again = home.run(&["sim", "random", "--seed", "7", "--json"]).expect(0).json();
    assert_eq!(first, again);
    let truth = &first["cards"][0]["truth"];
    assert!(truth["usable_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{truth}");
    assert!(truth["verdict"].is_string(), "{truth}");
    let several = home.run(&["sim", "random", "--seed", "1", "--count", "25", "--json"]).expect(0).json();
    assert_eq!(several["cards"].as_array().unwrap().len(), 25);
    assert_eq!(several["cards"][6], first["cards"][0], "the seventh of them is the card of seed 7");
    let told = home.run(&["sim", "random", "--seed", "7"]).expect(0);
    assert!(told.stdout.contains("cardscope check sim:random-7"), "{told}");
}

#[test]
fn random_card_equals_its_file() {
    let home = Home::new();
    let file = home.path("mine.toml");
    std::fs::write(&file, home.run(&["sim", "random", "--seed", "12", "--toml"]).expect(0).stdout).unwrap();
    let own = format!("sim:{}", file.display());
    let measure = |target: &str| {
        let outcome =
            home.run(&["bench", target, "--recipe", "quick", "--size", "64M", "--seed", "5", "--json"]);
        let document = outcome.expect(0).json();
        (0..8).map(|test| mb_s(&document, test)).collect::<Vec<_>>()
    };
    assert_eq!(measure("sim:random-12"), measure(&own));
    let info = home.run(&["info", &own, "--json"]).expect(0).json();
    assert!(info["capacity_bytes"].as_u64().is_some(), "{info:#}");
}

#[test]
fn invalid_archetype_is_refused_by_key() {
    let home = Home::new();
    let file = home.path("odd.toml");
    let good = home.run(&["sim", "random", "--seed", "12", "--toml"]).expect(0).stdout;
    let page = good.lines().find(|l| l.starts_with("page_bytes")).unwrap().to_owned();
    let own = format!("sim:{}", file.display());
    for (from, to, words) in [
        (
            page.as_str(),
            "page_bytes = 1073741824",
            &["flash.au_bytes", "not a multiple of", "1073741824"][..],
        ),
        (page.as_str(), "page_bytes = 1000", &["flash.page_bytes = 1000"]),
        (page.as_str(), "page_bytes = -1", &["odd.toml", "page_bytes"]),
        ("[flash]", "[flush]", &["odd.toml", "flush"]),
        ("[noise]", "[noise]\nsmell = 3", &["odd.toml", "smell"]),
    ] {
        assert!(good.contains(from), "{from} in\n{good}");
        std::fs::write(&file, good.replacen(from, to, 1)).unwrap();
        home.run(&["sim", "show", &own]).expect(2).says(words);
    }
    home.run(&["sim", "show", "./nowhere.toml"]).expect(2).says(&["nowhere.toml", "No such file"]);
    home.run(&["info", "sim:random-seven"]).expect(2).says(&["random-seven", "random-7"]);
}

#[test]
fn saved_card_state_is_continued() {
    let home = Home::new();
    let (state, recipe) = (home.path("used.state"), writes(&home, "8GiB"));
    let state = state.to_str().unwrap();
    let card = "sim:lexar-1tb-express?clean_bytes=10GB&reopen_bytes=10GB";
    let bench = |target: &str| {
        let outcome = home.run(&["bench", target, "--recipe", &recipe, "--json"]);
        mb_s(&outcome.expect(0).json(), 0)
    };
    let fresh = bench(&format!("{card}&save={state}"));
    let tired = bench(&format!("{card}&state={state}"));
    assert!(fresh > 500.0 && tired < 0.75 * fresh, "10 GB of cache took the first 8 GiB: {fresh} {tired}");
    let other =
        home.run(&["bench", &format!("sim:lexar-16g-c10?state={state}"), "--recipe", &recipe, "--json"]);
    other.expect(2).says(&["used.state", "lexar"]);
    std::fs::write(state, "no state at all").unwrap();
    home.run(&["bench", &format!("{card}&state={state}"), "--recipe", &recipe, "--json"])
        .expect(2)
        .says(&["used.state"]);
}

#[test]
fn unwritable_state_file_is_refused_first() {
    let home = Home::new();
    let recipe = writes(&home, "64MiB");
    let target = "sim:lexar-16g-c10?save=/nonexistent/folder/x.state";
    let outcome = home.run(&["bench", target, "--recipe", &recipe, "--json"]);
    assert_ne!(outcome.status.code(), Some(0), "{outcome}");
    assert!(outcome.stderr.contains("/nonexistent/folder"), "{outcome}");
    assert!(home.sessions().is_empty(), "{outcome}");
}

#[test]
fn vanished_simulated_card_keeps_results() {
    let home = Home::new();
    let recipe = home.recipe(
        "size = \"64MiB\"\nprepare = false",
        "[[test]]\ntest = \"SEQ1M Q1T1 write\"\nbytes = \"64MiB\"\nloops = 4\n",
    );
    let target = "sim:lexar-16g-c10?faults.vanish_after_bytes=150MiB";
    let outcome = home.run(&["bench", target, "--recipe", &recipe, "--json"]).expect(3);
    let document = outcome.json();
    assert!(document["error"].as_str().is_some_and(|e| e.contains("went away")), "{document:#}");
    assert_eq!(home.sessions().len(), 1, "{outcome}");
}

#[test]
fn worn_out_card_refuses_writes() {
    let home = Home::new();
    let recipe = writes(&home, "1GiB");
    let worn = "sim:lexar-16g-c10?wear.endurance_cycles=100&wear.start_cycles=99&wear.spare_blocks=0";
    let refused = home.run(&["bench", worn, "--recipe", &recipe, "--json"]).expect(1).one_line();
    assert!(refused.contains("worn out"), "{refused}");
    let aged = "sim:lexar-16g-c10?wear.endurance_cycles=100&wear.start_cycles=50";
    home.run(&["bench", aged, "--recipe", &recipe, "--json"]).expect(0);
}

#[test]
fn faster_archived_run_blames_the_reader() {
    let home = Home::new();
    let read = |card: &str, reader: &str| {
        let condition = format!("reader={reader}");
        let only = ["--only", "SEQ1M Q8T1 read", "--condition", &condition, "--json"];
        home.run(&[&["bench", card, "--recipe", "quick"][..], &only].concat()).expect(0).json()
    };
    read("sim:proplus-128g-a2", "new");
    let slow = read("sim:proplus-128g-a2?rig.bus_mb_s=40", "old");
    let limited = slow["findings"].as_array().unwrap().iter().find(|f| f["claim"] == "limited-by");
    let limited = limited.unwrap_or_else(|| panic!("{:#}", slow["findings"]));
    assert!(limited["verdict"].as_str().unwrap().contains("the bus limits it"), "{limited:#}");
    let seen =
        limited["evidence"].as_array().unwrap().iter().find(|e| e[0] == "this unit elsewhere").unwrap();
    assert!(seen[1].as_str().unwrap().contains("new"), "{seen}");
}
