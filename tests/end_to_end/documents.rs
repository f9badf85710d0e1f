//! Fields of `bench --json` that scripts rely on (`DESIGN.md`), on simulated cards.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::TestMount;
use crate::common::{list, number, result, results, text, without_answer};
use cardscope_model::test_name::AccessPattern;
use serde_json::{Value, json};

const LEXAR: &str = "sim:lexar-16g-c10";

/// Session of a recipe in virtual time.
fn bench(more: &[&str]) -> Value {
    let home = Home::new();
    let arguments: Vec<&str> = ["bench", "--json", "-q"].iter().chain(more).copied().collect();
    let outcome = home.run(&arguments);
    let status = if outcome.json()["summary"] == json!([]) { 4 } else { 0 };
    outcome.expect(status).json()
}

#[track_caller]
fn near(what: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found} and not {expected}");
}

fn block_of(result: &Value) -> f64 {
    text(result, "/test").parse::<AccessPattern>().unwrap().block as f64
}

#[test]
fn a_bench_document_holds_every_field_that_scripts_rely_on() {
    let document = bench(&[LEXAR, "--recipe", "quick", "--runs", "2", "--seed", "7"]);
    assert_eq!((text(&document, "/target"), text(&document, "/recipe")), (LEXAR, "quick"));
    assert_eq!(document["seed"], 7);
    assert!(document["condition"].is_object() && document.get("error").is_none());
    let runs = list(&document, "/runs");
    assert_eq!(runs.iter().map(|r| r["run"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert!(runs.iter().all(|r| r["counted"] == true));
    for result in results(&document) {
        assert!(["read", "write"].contains(&text(result, "/op")), "{result:#}");
        for field in ["mb_s", "iops", "bytes", "seconds"] {
            assert!(number(result, &format!("/{field}")) > 0.0, "{field} of {result:#}");
        }
        for field in ["mean", "p50", "p99", "p999", "max"] {
            assert!(number(result, &format!("/latency_us/{field}")) > 0.0, "{field} of {result:#}");
        }
        for field in ["start", "end", "max"] {
            let known =
                result["temperature_c"].get(field).expect("the field is there where nothing is known too");
            assert!(known.is_null(), "this card has no thermometer: {known}");
        }
    }
    for summary in list(&document, "/summary") {
        assert_eq!(summary["n"], 2);
        for field in ["mean", "best", "worst", "median", "recipe_value", "ci95/0", "ci95/1"] {
            assert!(number(summary, &format!("/{field}")).is_finite(), "{field} of {summary:#}");
        }
        assert!(summary.get("tool_prints").is_some_and(Value::is_null), "quick imitates no tool");
    }
    assert_eq!(list(&document, "/summary").len(), 8);
}

#[test]
fn speeds_bytes_seconds_and_ios_agree_in_every_result_and_loop() {
    for (target, recipe) in [
        (LEXAR, "quick"),
        ("sim:lexar-1tb-express", "cdm8-default-mix"),
        ("sim:constant?depth=32", "geerling-2024"),
    ] {
        let document = bench(&[target, "--recipe", recipe, "--runs", "2", "--size", "64M"]);
        for result in results(&document) {
            let block = block_of(result);
            for part in std::iter::once(result).chain(list(result, "/loops")) {
                let (mb_s, iops) = (number(part, "/mb_s"), number(part, "/iops"));
                near("mb_s * 1e6 = iops * block", mb_s * 1e6, iops * block);
                near("bytes / seconds", number(part, "/bytes") / number(part, "/seconds"), mb_s * 1e6);
            }
            let all: f64 = list(result, "/loops")
                .iter()
                .filter(|l| l["counted"] == true)
                .map(|l| number(l, "/bytes"))
                .sum();
            near("counted loops together", all, number(result, "/bytes"));
            let of = |field: &str| number(result, &format!("/latency_us/{field}"));
            let order = [of("p50"), of("p99"), of("p999"), of("max")];
            assert!(order.is_sorted() && of("mean") <= of("max"), "{result:#}");
            // I/Os in flight are rate times mean latency (Little's law), plus those that wait when a loop begins.
            let pattern: AccessPattern = text(result, "/test").parse().unwrap();
            let in_flight = number(result, "/iops") * of("mean") / 1e6;
            assert!(
                in_flight <= f64::from(pattern.queue * pattern.threads) * 1.05,
                "{in_flight} in flight: {result:#}"
            );
        }
    }
}

#[test]
fn the_summary_is_over_the_counted_runs_in_mb_s() {
    let document = bench(&[LEXAR, "--recipe", "quick", "--runs", "5", "--only", "RND4K Q1T1 read"]);
    let speeds: Vec<f64> = results(&document).iter().map(|r| number(r, "/recipe_value")).collect();
    let mut sorted = speeds.clone();
    sorted.sort_by(f64::total_cmp);
    let summary = &document["summary"][0];
    let mean = speeds.iter().sum::<f64>() / 5.0;
    near("mean", number(summary, "/mean"), mean);
    near("best", number(summary, "/best"), sorted[4]);
    near("worst", number(summary, "/worst"), sorted[0]);
    near("median", number(summary, "/median"), sorted[2]);
    // The interval uses the usual variance of such tests, so only the mean is checked to lie in it.
    let (low, high) = (number(summary, "/ci95/0"), number(summary, "/ci95/1"));
    assert!(low < mean && mean < high && high - low < 0.2 * mean, "{summary:#}");
}

#[test]
fn a_mean_has_one_interval_in_a_bench_and_in_a_comparison() {
    let home = Home::new();
    let asked = ["bench", LEXAR, "--recipe", "quick", "--runs", "5", "--only", "RND4K Q1T1 read", "--json"];
    let bench = home.run(&asked).expect(0).json();
    let compared = home.run(&["compare", "--own", "--json"]).expect(0).json();
    for end in [0, 1] {
        near(
            "ci95",
            number(&compared, &format!("/tests/0/spreads/0/ci95/{end}")),
            number(&bench, &format!("/summary/0/ci95/{end}")),
        );
    }
}

#[test]
fn one_run_has_no_interval() {
    let document = bench(&[LEXAR, "--recipe", "quick", "--only", "SEQ1M Q1T1"]);
    for summary in list(&document, "/summary") {
        assert_eq!((&summary["n"], &summary["ci95"]), (&json!(1), &Value::Null));
        assert_eq!(summary["mean"], summary["best"]);
    }
}

#[test]
fn tool_prints_accompany_the_true_speed() {
    // cdm_fio.sh truncates MiB/s and calls them MB/s; CrystalDiskMark prints MB/s of 10^6.
    let document =
        bench(&["sim:lexar-1tb-express", "--recipe", "cdm-fio", "--size", "64M", "--only", "SEQ512K Q1T1"]);
    for summary in list(&document, "/summary") {
        let mib_s = number(summary, "/recipe_value") * 1e6 / f64::from(1 << 20);
        assert_eq!(summary["tool_prints"], json!({ "value": mib_s.floor(), "unit": "MB/s" }), "{summary:#}");
    }
    let document = bench(&[LEXAR, "--recipe", "cdm8-default", "--size", "64M", "--only", "SEQ1M Q8T1 read"]);
    let summary = &document["summary"][0];
    let printed = number(summary, "/tool_prints/value");
    assert!((printed - number(summary, "/recipe_value")).abs() <= 0.005, "two decimals: {summary:#}");
    assert_eq!(text(summary, "/tool_prints/unit"), "MB/s");
}

#[test]
fn repeated_tests_have_a_step() {
    let document = bench(&[LEXAR, "--recipe", "geerling-2024", "--size", "16M"]);
    let twice: Vec<&str> = results(&document)
        .into_iter()
        .filter(|r| r["test"] == "RND4K Q1T1" && r["op"] == "write")
        .map(|r| text(r, "/step"))
        .collect();
    let all: Vec<&str> = results(&document).into_iter().filter_map(|r| r["step"].as_str()).collect();
    assert!(
        all.len() >= 2 && twice.iter().collect::<std::collections::HashSet<_>>().len() == twice.len(),
        "{all:?}"
    );
    for name in list(&document, "/summary").iter().map(|s| (&s["test"], &s["op"], s.get("step"))) {
        let same = list(&document, "/summary")
            .iter()
            .filter(|s| (&s["test"], &s["op"], s.get("step")) == name)
            .count();
        assert_eq!(same, 1, "{name:?} cannot be told from another");
    }
}

#[test]
fn ext4_tests_run_only_on_ext4() {
    let only = ["--recipe", "dd-sweep", "--size", "16M", "--only", "Seq. write, ext4"];
    let bare = bench(&[&[LEXAR], &only[..]].concat());
    let missing = &bare["runs"][0]["not_measured"][0];
    assert_eq!((text(missing, "/step"), text(missing, "/op")), ("Seq. write, ext4", "write"));
    assert!(text(missing, "/reason").contains("ext4"), "{missing}");
    assert!(list(&bare, "/runs/0/results").is_empty() && list(&bare, "/summary").is_empty());
    let mounted = TestMount::ext4(96);
    let through = bench(&[&[mounted.path()], &only[..]].concat());
    assert!(through["runs"][0].get("not_measured").is_none());
    assert_eq!(text(&through, "/runs/0/results/0/step"), "Seq. write, ext4");
    assert_eq!(text(&through, "/condition/file_system"), "ext4");
}

#[test]
fn a_seed_repeats_a_session_exactly_and_another_seed_does_not() {
    let session = |target: &str, seed: &str| {
        bench(&[target, "--recipe", "quick", "--runs", "2", "--seed", seed])["runs"].clone()
    };
    assert_eq!(session(LEXAR, "42"), session(LEXAR, "42"));
    let (first, other) = (session(LEXAR, "42"), session(LEXAR, "43"));
    assert_ne!(first[0]["seed"], other[0]["seed"]);
    assert_ne!(first[0]["results"], other[0]["results"]);
    assert_ne!(first[0]["seed"], first[1]["seed"], "each run has places of its own");
    let another_card = session(&format!("{LEXAR}?seed=9"), "42");
    assert_eq!(first[0]["seed"], another_card[0]["seed"]);
    assert_ne!(first[0]["results"], another_card[0]["results"], "another piece of the same card");
}

#[test]
fn a_seed_drawn_by_cardscope_repeats_the_session_when_given_back() {
    let drawn = bench(&[LEXAR, "--recipe", "quick"]);
    let seed = drawn["seed"].as_u64().unwrap().to_string();
    assert_eq!(bench(&[LEXAR, "--recipe", "quick", "--seed", &seed])["runs"], drawn["runs"]);
    assert_ne!(bench(&[LEXAR, "--recipe", "quick"])["seed"], drawn["seed"], "two sessions draw two seeds");
}

#[test]
fn a_loop_that_the_recipe_discards_is_shown_and_not_counted() {
    let document = bench(&[LEXAR, "--recipe", "cdm8-default", "--size", "64M", "--only", "SEQ1M Q1T1 read"]);
    let counted: Vec<bool> =
        list(&document, "/runs/0/results/0/loops").iter().map(|l| l["counted"].as_bool().unwrap()).collect();
    // CrystalDiskMark 8 discards one run, then shows the best of five.
    assert_eq!(counted, [false, true, true, true, true, true]);
    let best = list(&document, "/runs/0/results/0/loops")[1..]
        .iter()
        .map(|l| number(l, "/mb_s"))
        .fold(0.0, f64::max);
    near("the best of five", number(&document, "/runs/0/results/0/recipe_value"), best);
}

#[test]
fn temperatures_are_recorded_and_rise() {
    let document = bench(&["sim:lexar-1tb-express?cooling=passive", "--recipe", "quick"]);
    let all = results(&document);
    let (first, last) = (all[0], all[all.len() - 1]);
    for result in [first, last] {
        let of = |field: &str| number(result, &format!("/temperature_c/{field}"));
        assert!(
            (15.0..90.0).contains(&of("start")) && of("max") >= of("end").max(of("start")) - 0.01,
            "{result:#}"
        );
    }
    assert!(number(last, "/temperature_c/end") > number(first, "/temperature_c/start") + 1.0);
}

#[test]
fn speeds_have_their_share_of_the_bus() {
    let document = bench(&["sim:lexar-1tb-express", "--recipe", "quick", "--only", "SEQ1M Q8T1 read"]);
    // One lane of PCIe 3.0: 8 GT/s with 128 of 130 bits.
    let ceiling = 8e9 * 128.0 / 130.0 / 8.0 / 1e6;
    near("ceiling", number(&document, "/bus_ceiling_mb_s"), ceiling);
    let result = &document["runs"][0]["results"][0];
    near("share", number(result, "/bus_share"), number(result, "/mb_s") / ceiling);
}

#[test]
fn unknown_condition_words_are_refused() {
    let document = bench(&[
        "sim:lexar-1tb-express?cooling=passive",
        "--recipe",
        "quick",
        "--only",
        "SEQ1M Q1T1 read",
        "--condition",
        "room_c=21",
        "--condition",
        "note=beside the window",
    ]);
    assert_eq!(text(&document, "/condition/cooling"), "passive", "the rig fills it by itself");
    assert_eq!(text(&document, "/condition/room_c"), "21");
    assert_eq!(text(&document, "/condition/note"), "beside the window");
    let home = Home::new();
    home.run(&["bench", LEXAR, "--condition", "coolling=passive"]).expect(2).says(&["coolling", "cooling"]);
    home.run(&["bench", LEXAR, "--condition", "passive"]).expect(2).says(&["KEY=VALUE"]);
    assert!(home.sessions().is_empty(), "a refused session leaves nothing in the archive");
}

#[test]
fn budget_lists_unmeasured_tests() {
    let document = bench(&[LEXAR, "--recipe", "quick", "--budget", "30s"]);
    let missing = list(&document, "/runs/0/not_measured");
    assert!(!missing.is_empty() && !results(&document).is_empty(), "{document:#}");
    assert_eq!(missing.len() + results(&document).len(), 8);
    assert!(missing.iter().all(|m| text(m, "/reason").contains("budget")), "{missing:?}");
}

#[test]
fn every_recipe_that_comes_with_cardscope_gives_a_document() {
    let home = Home::new();
    let card = "sim:constant?mb_s=200&command_s=0.0002&depth=32";
    for (name, _) in cardscope_model::recipe::RECIPES.files {
        let document =
            home.run(&["bench", card, "--recipe", name, "--size", "64M", "--json"]).expect(0).json();
        assert_eq!(text(&document, "/recipe"), *name);
        assert!(!results(&document).is_empty(), "{document:#}");
        let scores: Vec<String> = document["runs"][0]["scores"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|s| s[0].to_string())
            .collect();
        assert_eq!(!scores.is_empty(), ["pibenchmarks", "as-ssd"].contains(name), "{name}: {scores:?}");
        // The formula of AS SSD's total score is not published.
        assert!(!scores.iter().any(|s| s.to_lowercase().contains("total")), "{scores:?}");
    }
    assert_eq!(home.sessions().len(), cardscope_model::recipe::RECIPES.files.len());
}

#[test]
fn printed_document_equals_the_archived_one() {
    let home = Home::new();
    let document = home.run(&["bench", LEXAR, "--recipe", "quick", "--runs", "2", "--json"]).expect(0).json();
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].summary.id.to_string(), text(&document, "/session"));
    // In full precision.
    let stored = cardscope_model::json::to_json_text(sessions[0].file.report.as_ref().unwrap()).unwrap();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(stored, without_answer(document));
    assert_eq!(sessions[0].file.runs.iter().map(|r| r.samples.len()).collect::<Vec<_>>(), [8, 8]);
}

#[test]
fn archive_location_options_work() {
    let home = Home::new();
    let quick = ["bench", LEXAR, "-q", "--only", "SEQ1M Q1T1 read"];
    let named = home.path("elsewhere/mine.sqlite");
    let set = home.path("set.sqlite");
    let with_the_variable = |more: &[&str]| {
        let mut command = home.command(CARDSCOPE);
        command.args(quick).args(more).env("CARDSCOPE_ARCHIVE", &set);
        Running::of(command).finish().expect(0);
    };
    with_the_variable(&["--archive", named.to_str().unwrap()]);
    assert!(named.exists() && !set.exists(), "--archive wins over CARDSCOPE_ARCHIVE");
    with_the_variable(&[]);
    assert!(set.exists() && !home.archive().exists(), "CARDSCOPE_ARCHIVE wins over the default");
    home.run(&quick).expect(0);
    assert!(home.archive().exists(), "by default in the XDG data folder");
}

#[test]
fn test_result_does_not_depend_on_other_tests() {
    let alone = bench(&["sim:constant", "--recipe", "quick", "--only", "SEQ1M Q1T1 write"]);
    let among = bench(&["sim:constant", "--recipe", "quick"]);
    let of = |document: &Value| number(result(document, "SEQ1M Q1T1 write"), "/mb_s");
    // 1 MiB at 50 MB/s after half a millisecond for the command.
    let expected = 1.048_576 / (0.0005 + 1.048_576 / 50.0);
    for speed in [of(&alone), of(&among)] {
        assert!((speed / expected - 1.0).abs() < 0.01, "{speed} and not {expected}");
    }
}

#[test]
fn the_precise_recipe_states_the_interval_it_reached_and_a_plain_one_states_none() {
    let precise = bench(&["sim:constant", "--recipe", "precise"]);
    for result in results(&precise) {
        assert_eq!(result.pointer("/precision/reached"), Some(&Value::Bool(true)), "{result}");
        assert!(number(result, "/precision/ci95_percent") <= 2.0, "{result}");
    }
    let quick = bench(&["sim:constant", "--recipe", "quick"]);
    assert!(results(&quick).iter().all(|r| r.get("precision").is_none()));
}

#[test]
fn the_engine_reports_its_own_cost() {
    let document = bench(&["sim:constant", "--recipe", "quick"]);
    assert!(number(&document, "/engine_cost/q1_ns") > 0.0 && number(&document, "/engine_cost/q32_ns") > 0.0);
}
