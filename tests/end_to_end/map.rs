//! `map` on simulated cards, files and devices: document, skipped parts and text.

use crate::common::binary::Home;
use crate::common::machine::{TestMount, image, run_tool, with_data};
use crate::common::maps::{PROMISED, holds_what_is_promised, journals};
use crate::common::{list, number, text};
use serde_json::Value;

#[test]
fn map_measures_the_simulated_geometry_and_advises() {
    let home = Home::new();
    let outcome = home.run(&["map", "sim:lexar-16g-c10", "--seed", "7", "--json", "--quiet"]).expect(0);
    let document = outcome.json();
    holds_what_is_promised(&document);
    assert_eq!(number(&document, "/page_bytes/value"), 16384.0, "{outcome}");
    assert_eq!(number(&document, "/erase_block_bytes/value"), 4_194_304.0, "{outcome}");
    assert_eq!(number(&document, "/open_blocks/linear/value"), 5.0, "{outcome}");
    assert_eq!(number(&document, "/open_blocks/random/value"), 5.0, "{outcome}");
    assert_eq!(document["data_kept"], true);
    assert_eq!(number(&document, "/bytes_restored") > 0.0, number(&document, "/bytes_written") > 0.0);
    assert_eq!(number(&document, "/advice/partition_start_bytes"), 4_194_304.0);
    assert_eq!(number(&document, "/advice/ext4_stripe_width"), 1024.0);
    assert!(journals(&home).is_empty());
}

#[test]
fn the_archive_keeps_the_map_with_its_condition_and_shows_it_again() {
    let home = Home::new();
    let arguments =
        ["map", "sim:lexar-16g-c10", "--read-only", "--condition", "reader=internal", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    let session = text(&document, "/session").to_owned();
    assert!(home.run(&["archive", "list"]).expect(0).stdout.contains("map"));
    let shown = home.run(&["archive", "show", &session, "--json"]).expect(0).json();
    assert_eq!(shown, document);
    assert!(document.pointer("/condition").unwrap().to_string().contains("internal"), "{document:#}");
    let page = home.run(&["archive", "show", &session]).expect(0).stdout;
    assert!(!page.trim_start().starts_with('{') && page.contains("sim:lexar-16g-c10"), "{page}");
}

#[test]
fn read_only_map_lists_skipped_properties() {
    let home = Home::new();
    let card = with_data(64, &["-r"]);
    let before = card.content();
    let some = ["--only", "boundaries", "--only", "open-blocks"];
    let outcome =
        home.run(&[&["map", &card.path, "--read-only", "--json", "-q"], &some[..]].concat()).expect(0);
    let document = outcome.json();
    holds_what_is_promised(&document);
    assert_eq!(number(&document, "/bytes_written") + number(&document, "/bytes_restored"), 0.0);
    assert_eq!(text(&document, "/open_blocks/linear/status"), "not_tested");
    assert_eq!(document["data_kept"], true);
    assert!(card.content() == before && journals(&home).is_empty());
    // Without --read-only a write-protected device is refused.
    home.run(&["map", &card.path]).expect(2).says(&["read-only"]);
}

#[test]
fn a_file_on_a_file_system_that_takes_no_writes_can_be_read() {
    let (home, mounted) = (Home::new(), TestMount::ext4(64));
    let file = image(&mounted.point, 16);
    run_tool("mount", &["-o", "remount,ro", mounted.path()]);
    let name = file.to_str().unwrap();
    let page = home.run(&["map", name, "--read-only", "-q", "--only", "boundaries"]).expect(4).stdout;
    assert!(page.starts_with("NOT TESTED: ") && page.contains("  • Read "), "{page}");
    home.run(&["map", name, "-q"]).expect(2);
}

#[test]
fn a_card_too_small_for_a_map_is_refused() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("tiny");
    std::fs::write(&file, vec![1; 512 << 10]).unwrap();
    home.run(&["map", file.to_str().unwrap()]).expect(2).says(&["1 MiB"]);
    assert!(std::fs::read(&file).unwrap() == vec![1; 512 << 10]);
}

#[test]
fn short_budget_marks_parts_as_out_of_time() {
    let home = Home::new();
    let arguments = ["map", "sim:noobs-8g-c6", "--budget", "1s", "--json", "-q"];
    let document = home.run(&arguments).expect(4).json();
    holds_what_is_promised(&document);
    let reasons: Vec<&str> = PROMISED
        .iter()
        .filter_map(|name| document.pointer(&format!("{name}/reason")).and_then(Value::as_str))
        .collect();
    assert!(reasons.len() >= 3, "{document:#}");
    assert!(reasons.iter().any(|reason| reason.contains("time")), "{reasons:?}");
    assert!(reasons.iter().all(|reason| !reason.contains("ended early")), "{reasons:?}");
}

#[test]
fn only_limits_the_map_to_a_part() {
    let home = Home::new();
    let arguments = ["map", "sim:lexar-16g-c10", "--only", "boundaries", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    holds_what_is_promised(&document);
    assert_eq!(text(&document, "/erase_block_bytes/status"), "measured");
    assert!(text(&document, "/slc_cache_bytes/reason").contains("not selected with"), "{document:#}");
    assert_eq!(number(&document, "/bytes_written"), 0.0);
}

/// Every property has its own reason, whichever part is selected: a completed map did not "end before".
#[test]
fn single_part_gives_reasons_for_the_rest() {
    let home = Home::new();
    let refusal = home.run(&["map", "sim:constant", "--only", "none"]).expect(2).stderr;
    let (_, names) = refusal.split_once("the parts are ").unwrap();
    let parts: Vec<&str> = names.lines().next().unwrap().split(", ").collect();
    assert_eq!(parts.len(), 11, "{refusal}");
    for part in parts {
        for card in ["sim:constant?announced_bytes=64MiB", "sim:a2-label-only"] {
            let outcome = home.run(&["map", card, "--only", part, "--json", "-q"]);
            let untested = text(&outcome.json(), "/answer").starts_with("NOT TESTED: ");
            let document = outcome.expect(if untested { 4 } else { 0 }).stdout;
            assert!(document.contains("not selected with --only"), "{card}, {part}");
            assert!(!document.contains("the map ended early"), "{card}, {part}");
        }
    }
}

#[test]
fn the_text_ends_with_advice_and_shows_flashbench_tables_when_asked() {
    let home = Home::new();
    let page = home.run(&["map", "sim:lexar-16g-c10", "-q", "--flashbench"]).expect(0).stdout;
    for words in ["4 MiB", "ext4 stride", "# flashbench -a"] {
        assert!(page.contains(words), "{words:?} was expected in\n{page}");
    }
}

/// Discard is measured if content may be lost; otherwise nothing is claimed.
#[test]
fn flashbench_tables_can_be_imported_again() {
    let home = Home::new();
    let map = ["map", "sim:lexar-16g-c10", "--only", "open-blocks", "--flashbench", "--seed", "4", "-q"];
    let page = home.run(&map).expect(0).stdout;
    let log = home.path("map.txt");
    std::fs::write(&log, &page).unwrap();
    let read = home.run(&["import", "--dry-run", log.to_str().unwrap(), "--json"]).expect(0).json();
    let geometry = read.pointer("/files/0/other/map").unwrap_or_else(|| panic!("{read:#}"));
    assert_eq!(number(geometry, "/erase_block_bytes/value"), 4_194_304.0, "{geometry:#}");
    assert_eq!(number(geometry, "/open_blocks/linear/value"), 5.0, "{geometry:#}\n{page}");
    assert_eq!(number(geometry, "/open_blocks/random/value"), 5.0, "{geometry:#}\n{page}");
}

#[test]
fn given_unit_is_used_or_refused_if_without_effect() {
    let home = Home::new();
    let with = |more: &[&str]| home.run(&[&["map", "sim:lexar-16g-c10", "--seed", "4", "-q"], more].concat());
    let page = with(&["--unit", "2M", "--only", "open-blocks"]).expect(0).stdout;
    assert!(page.contains("Open blocks were searched in units of 2 MiB."), "{page}");
    let document = with(&["--unit", "2M", "--only", "open-blocks", "--json"]).expect(0).json();
    assert_eq!(number(&document, "/open_blocks/chosen_unit_bytes"), 2_097_152.0);
    let without = with(&["--only", "open-blocks", "--json"]).expect(0).json();
    assert_eq!(without.pointer("/open_blocks/chosen_unit_bytes"), None);
    with(&["--unit", "2M", "--only", "queue"]).expect(2).says(&["--unit needs --only open-blocks"]);
    with(&["--unit", "100K"]).expect(2).says(&["--unit must be 256K to 64M"]);
    with(&["--unit", "2M", "--read-only"]).expect(2).says(&["--unit"]);
}

#[test]
fn discard_is_measured_only_with_erase() {
    let home = Home::new();
    let tried = |options: &[&str]| {
        let arguments = [&["map", "sim:lexar-16g-c10", "--cache", "64M", "--json", "-q"], options].concat();
        let document = home.run(&arguments).expect(0).json();
        list(&document, "/advice/tried").clone()
    };
    let kept = tried(&[]);
    assert!(kept.iter().all(|t| t["iops"].is_null() && !text(t, "/reason").is_empty()), "{kept:?}");
    let erased = tried(&["--erase", "--yes-destroy", "sim:lexar-16g-c10"]);
    assert_eq!(text(&erased[0], "/what"), "as it was");
    assert!(number(&erased[0], "/iops") > 0.0 && text(&erased[1], "/what") == "after discard", "{erased:?}");
}

/// A cache of 600 MB, of which the default writes only a part: the result is a bound, never a value.
#[test]
fn cache_beyond_the_write_limit_is_a_lower_bound() {
    let home = Home::new();
    let card = "sim:pro-64g-u3";
    let document =
        home.run(&["map", card, "--only", "cache", "--seed", "1", "--json", "-q"]).expect(0).json();
    let cache = document.pointer("/slc_cache_bytes").unwrap();
    assert!(cache["value"].is_null(), "{cache}");
    assert_eq!(text(cache, "/status"), "at_least", "{cache}");
    assert!(number(cache, "/bound") <= 600e6, "{cache}");
    assert_eq!(document["data_kept"], true);
}
