//! `map` from end to end: on a simulated card, loop devices, a served card, a file and a directory; what was on the
//! card is the same to the byte afterwards, however the map ended.
#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

mod common;

use common::binary::{Home, Outcome};
use common::machine::{Loop, MIB, Mounted, image, names_in, tool};
use common::served::Served;
use common::{list, number, text};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The names of everything that `DESIGN.md` promises in the document.
const PROMISED: [&str; 8] = [
    "/page_bytes",
    "/read_unit_bytes",
    "/erase_block_bytes",
    "/open_blocks/linear",
    "/open_blocks/random",
    "/fat_region_bytes",
    "/slc_cache_bytes",
    "/queue_depth_effective",
];

/// Each promised property has a status, a value exactly where it was measured, and otherwise why or how far.
#[track_caller]
fn holds_what_is_promised(document: &Value) {
    for name in PROMISED {
        let property = document.pointer(name).unwrap_or_else(|| panic!("no {name} in {document:#}"));
        let value = property.get("value").unwrap();
        match text(property, "/status") {
            "measured" => assert!(!value.is_null(), "{name}"),
            "none" => assert!(value.is_null(), "{name}"),
            "at_least" => assert!(value.is_null() && property["bound"].is_number(), "{name}"),
            "not_tested" => assert!(value.is_null() && !text(property, "/reason").is_empty(), "{name}"),
            other => panic!("{name} is {other}"),
        }
        assert!((0.0..=1.0).contains(&number(property, "/confidence")), "{name}");
        assert!(property.get("evidence").is_some(), "{name}");
    }
    assert!(document["advice"].is_object() && !list(document, "/profile").is_empty());
}

/// Parts that write, but for those that take longest on a loop device; all of them with `CARDSCOPE_LONG=1`.
fn parts() -> &'static [&'static str] {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty() && value != "0");
    if long { &["--cache", "16M"] } else { &["--cache", "16M", "--only", "open-blocks", "--only", "cache"] }
}

/// The journals that wait in a home.
fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = home.path("state/cardscope");
    let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
    names.into_iter().filter(|name| name.starts_with("journal-")).map(|name| folder.join(name)).collect()
}

fn claims(document: &Value) -> Vec<String> {
    let findings = document.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
    findings.iter().map(|f| text(f, "/claim").to_owned()).collect()
}

#[test]
fn a_simulated_card_of_seed_004_shows_what_is_in_it_and_advice_follows() {
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
fn reading_only_writes_nothing_and_says_of_the_rest_that_it_was_left_out() {
    let home = Home::new();
    let card = Loop::with(64, &["-r"]);
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
    // Without it, a device that takes no writes is refused.
    home.run(&["map", &card.path]).expect(2).says(&["read-only"]);
}

#[test]
fn a_file_on_a_file_system_that_takes_no_writes_can_be_read() {
    let (home, mounted) = (Home::new(), Mounted::ext4(64));
    let file = image(&mounted.point, 16);
    tool("mount", &["-o", "remount,ro", mounted.path()]);
    let name = file.to_str().unwrap();
    home.run(&["map", name, "--read-only", "-q", "--only", "boundaries"]).expect(0);
    home.run(&["map", name, "-q"]).expect(2);
}

/// A whole map on a small fast card takes seconds; what it may not do is change a byte.
#[test]
fn a_loop_device_and_a_file_are_the_same_to_the_byte_afterwards() {
    let home = Home::new();
    let card = Loop::of_mib(96);
    let before = card.content();
    let outcome = home.run(&[&["map", &card.path, "--fat", "--json", "-q"], parts()].concat()).expect(0);
    let document = outcome.json();
    holds_what_is_promised(&document);
    assert!(number(&document, "/bytes_written") > 0.0 && document["data_kept"] == true, "{outcome}");
    assert!(card.content() == before, "the card was changed");
    assert!(journals(&home).is_empty());

    let dir = tempfile::tempdir().unwrap();
    let file = image(dir.path(), 96);
    let before = std::fs::read(&file).unwrap();
    let outcome = home.run(&[&["map", file.to_str().unwrap(), "--json", "-q"], parts()].concat()).expect(0);
    assert!(number(&outcome.json(), "/bytes_written") > 0.0, "{outcome}");
    assert!(std::fs::read(&file).unwrap() == before, "the file was changed");
    assert_eq!(names_in(dir.path()), ["card.img"]);
}

#[test]
fn a_served_card_behind_a_loop_device_is_the_same_to_the_byte_afterwards() {
    let home = Home::new();
    let served = Served::start(&home, "sim:constant?announced_bytes=64MiB", &[]);
    let content: Vec<u8> = (0..64 * MIB / 8).flat_map(|n| (n * 77).to_le_bytes()).collect();
    std::fs::write(served.card(), &content).unwrap();
    let card = Loop::over(&served.card(), &[]);
    let outcome = home.run(&[&["map", &card.path, "--json", "-q"], parts()].concat()).expect(0);
    assert!(number(&outcome.json(), "/bytes_written") > 0.0, "{outcome}");
    assert!(card.content() == content, "the card was changed");
}

#[test]
fn in_a_directory_only_a_file_of_its_own_is_used_and_removed() {
    let (home, mounted) = (Home::new(), Mounted::ext4(256));
    std::fs::write(mounted.point.join("holiday.jpg"), vec![7; 1 << 20]).unwrap();
    let outcome = home.run(&[&["map", mounted.path(), "--json", "-q"], parts()].concat()).expect(0);
    let document = outcome.json();
    assert_eq!(names_in(&mounted.point), ["holiday.jpg"]);
    assert!(std::fs::read(mounted.point.join("holiday.jpg")).unwrap() == vec![7; 1 << 20]);
    assert_eq!(document["data_kept"], true);
    // Addresses in a file are the file system's: nothing is said about the card's boundaries, and nothing advised.
    assert_ne!(text(&document, "/erase_block_bytes/status"), "measured", "{outcome}");
    assert!(document["advice"]["partition_start_bytes"].is_null());
    assert!(journals(&home).is_empty());
    let refused = [&["--erase"][..], &["--region", "0+1M"], &["--fat"]];
    for option in refused {
        home.run(&[&["map", mounted.path()], option].concat()).expect(2).says(&["directory"]);
    }
}

#[test]
fn a_mounted_device_is_refused_whatever_is_given() {
    let (home, card) = (Home::new(), Loop::of_mib(64));
    tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let _mounted = Mounted::new(&[], &card.path);
    let consent = ["--erase", "--yes-destroy", &card.path];
    for options in [&[][..], &consent, &["--region", "8M+8M", "--yes-destroy", &card.path]] {
        home.run(&[&["map", &card.path], options].concat()).expect(2).says(&["mounted"]);
    }
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_written() {
    let (home, card) = (Home::new(), Loop::of_mib(32));
    let before = card.content();
    let path = card.path.as_str();
    let refusals: [(&[&str], &str); 9] = [
        (&["--region", "16M+32M", "--yes-destroy", path], "beyond the end"),
        (&["--region", "18446744073709551104+1M", "--yes-destroy", path], "beyond the end"),
        (&["--region", "100+2097152", "--yes-destroy", path], "sectors"),
        (&["--region", "8M+64K", "--yes-destroy", path], "1 MiB"),
        (&["--region", "8M+8M"], "--yes-destroy"),
        (&["--erase"], "--yes-destroy"),
        (&["--erase", "--region", "8M+8M"], "--erase"),
        (&["--erase", "--read-only"], "--read-only"),
        (&["--only", "everything"], "open-blocks"),
    ];
    for (options, why) in refusals {
        home.run(&[&["map", path], options].concat()).expect(2).says(&[why]);
    }
    let wrong_name = ["map", path, "--erase", "--yes-destroy", "/dev/sdz"];
    home.run(&wrong_name).expect(2).says(&["nothing was written"]);
    assert!(card.content() == before);
}

#[test]
fn a_card_too_small_for_a_map_is_refused() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("tiny");
    std::fs::write(&file, vec![1; 512 << 10]).unwrap();
    home.run(&["map", file.to_str().unwrap()]).expect(2).says(&["1 MiB"]);
    assert!(std::fs::read(&file).unwrap() == vec![1; 512 << 10]);
}

/// A partition table on the card: the question names what the region reaches into, and nothing outside is written.
#[test]
fn a_region_that_may_go_is_asked_for_with_its_partitions_and_nothing_else_is_written() {
    let (home, card) = (Home::new(), Loop::of_mib(96));
    let table = "label: dos\nstart=1MiB, size=31MiB, type=83\nstart=32MiB, size=32MiB, type=c\n";
    tool("sh", &["-c", &format!("printf '{table}' | sfdisk -q {}", card.path)]);
    let before = card.content();
    let refused = home.run(&["map", &card.path, "--region", "40M+32M"]).expect(2);
    assert!(refused.stderr.contains("partition 2") && !refused.stderr.contains("partition 1 ("), "{refused}");
    let outcome = home
        .run(
            &[
                &["map", &card.path, "--region", "40M+32M", "--yes-destroy", &card.path, "--json", "-q"],
                parts(),
            ]
            .concat(),
        )
        .expect(0);
    let document = outcome.json();
    assert!(number(&document, "/bytes_written") > 0.0 && document["data_kept"] == false, "{outcome}");
    assert_eq!(number(&document, "/bytes_restored"), 0.0);
    let (after, region) = (card.content(), (40 * MIB) as usize..(72 * MIB) as usize);
    assert!(after[..region.start] == before[..region.start], "written before the region");
    assert!(after[region.end..] == before[region.end..], "written behind the region");
    assert!(after[region.clone()] != before[region]);
    assert!(journals(&home).is_empty());
}

#[test]
fn a_budget_too_short_says_of_each_part_that_there_was_no_time() {
    let home = Home::new();
    let arguments = ["map", "sim:noobs-8g-c6", "--budget", "1s", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    holds_what_is_promised(&document);
    let reasons: Vec<&str> = PROMISED
        .iter()
        .filter_map(|name| document.pointer(&format!("{name}/reason")).and_then(Value::as_str))
        .collect();
    assert!(reasons.len() >= 3, "{document:#}");
    assert!(reasons.iter().any(|reason| reason.contains("time")), "{reasons:?}");
    assert!(reasons.iter().all(|reason| !reason.contains("ended before")), "{reasons:?}");
}

#[test]
fn a_limit_of_bytes_written_is_kept_to() {
    let home = Home::new();
    let arguments = ["map", "sim:lexar-16g-c10", "--max-write", "4M", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    holds_what_is_promised(&document);
    assert!(number(&document, "/bytes_written") <= 4.0 * MIB as f64, "{document:#}");
}

#[test]
fn only_the_part_asked_for_is_measured() {
    let home = Home::new();
    let arguments = ["map", "sim:lexar-16g-c10", "--only", "boundaries", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    holds_what_is_promised(&document);
    assert_eq!(text(&document, "/erase_block_bytes/status"), "measured");
    assert!(text(&document, "/slc_cache_bytes/reason").contains("only other parts"), "{document:#}");
    assert_eq!(number(&document, "/bytes_written"), 0.0);
}

#[test]
fn without_a_place_for_the_journal_it_says_what_else_there_is() {
    let (home, card) = (Home::new(), Loop::of_mib(64));
    let before = card.content();
    // A file where the folder should be: root may write into any folder.
    std::fs::write(home.path("state"), "in the way").unwrap();
    let ways = ["--read-only", "--region", "--erase"];
    home.run(&["map", &card.path]).expect(2).says(&ways);
    std::fs::remove_file(home.path("state")).unwrap();
    // A disk with too little room.
    std::fs::create_dir(home.path("state")).unwrap();
    let state = home.path("state");
    tool("mount", &["-t", "tmpfs", "-o", "size=4m", "none", state.to_str().unwrap()]);
    let outcome = home.run(&["map", &card.path]);
    tool("umount", &[state.to_str().unwrap()]);
    outcome.expect(2).says(&ways);
    assert!(card.content() == before);
}

/// A map on a slow served card, stopped once it writes.
fn stopped(home: &Home, card: &str, signal: Signal) -> Outcome {
    let mut running = home.start(&["map", card, "--json", "--only", "write-curve"]);
    running.wait_for("writes by size");
    std::thread::sleep(Duration::from_secs(3));
    running.signal(signal);
    running.finish_within(Duration::from_secs(60))
}

/// A card of 64 MiB that answers as slowly as a real one, with content.
struct Slow {
    home: Home,
    card: Loop,
    content: Vec<u8>,
    _served: Served,
}

impl Slow {
    fn new() -> Self {
        let home = Home::new();
        let served = Served::start(&home, "sim:lexar-16g-c10?announced_bytes=64MiB", &[]);
        let content: Vec<u8> = (0..64 * MIB / 8).flat_map(|n| (n * 77).to_le_bytes()).collect();
        std::fs::write(served.card(), &content).unwrap();
        let card = Loop::over(&served.card(), &[]);
        Slow { home, card, content, _served: served }
    }
}

#[test]
fn ctrl_c_puts_everything_back_and_prints_what_was_measured() {
    let slow = Slow::new();
    let outcome = stopped(&slow.home, &slow.card.path, Signal::INT).expect(130).says(&["interrupted"]);
    let document = outcome.json();
    assert!(text(&document, "/error").contains("interrupted") && document["data_kept"] == true, "{outcome}");
    assert!(slow.card.content() == slow.content, "the card was changed");
    assert!(journals(&slow.home).is_empty());
}

#[test]
fn after_kill_9_restore_makes_the_card_what_it_was() {
    let slow = Slow::new();
    stopped(&slow.home, &slow.card.path, Signal::KILL);
    let left = journals(&slow.home);
    assert_eq!(left.len(), 1, "it was killed too early or too late");
    assert!(
        slow.card.content() != slow.content,
        "killed before anything was overwritten: this tests nothing"
    );
    slow.home.run(&["map", &slow.card.path]).expect(2).says(&["restore"]);
    slow.home.run(&["restore", left[0].to_str().unwrap()]).expect(0);
    assert!(slow.card.content() == slow.content && journals(&slow.home).is_empty());
}

#[test]
fn a_card_that_vanishes_leaves_a_partial_document_and_a_journal() {
    let home = Home::new();
    for after in ["faults.vanish_after_ios=300", "faults.vanish_after_s=2", "faults.vanish_after_bytes=2MiB"]
    {
        let card = format!("sim:lexar-16g-c10?{after}");
        let outcome = home.run(&["map", &card, "--json", "-q"]).expect(3);
        let document = outcome.json();
        holds_what_is_promised(&document);
        assert!(text(&document, "/error").contains("went away"), "{outcome}");
        let overwritten = number(&document, "/bytes_written") > 0.0;
        assert_eq!(document["data_kept"] == false, overwritten, "{outcome}");
        assert_eq!(claims(&document).contains(&"journal-waits".to_owned()), overwritten, "{outcome}");
        for journal in journals(&home) {
            std::fs::remove_file(journal).unwrap();
        }
    }
}

#[test]
fn failed_ios_are_listed_and_the_map_goes_on() {
    let home = Home::new();
    for fault in ["faults.read_error_p=0.01", "faults.write_error_p=0.01"] {
        let card = format!("sim:lexar-16g-c10?{fault}");
        let outcome = home.run(&["map", &card, "--json", "-q"]);
        let document = outcome.json();
        holds_what_is_promised(&document);
        assert!(document.get("error").is_none(), "{outcome}");
        assert!(!list(&document, "/troubles").is_empty(), "{outcome}");
    }
}

#[test]
fn the_text_ends_with_advice_and_shows_flashbench_tables_when_asked() {
    let home = Home::new();
    let page = home.run(&["map", "sim:lexar-16g-c10", "-q", "--flashbench"]).expect(0).stdout;
    for words in ["4 MiB", "mkfs.ext4", "align"] {
        assert!(page.contains(words), "{words:?} was expected in\n{page}");
    }
}

/// What discard does is measured where the content may go, and nothing is claimed where it may not.
#[test]
fn whether_discard_helps_is_measured_only_where_the_content_may_go() {
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

/// On this machine's own file systems: each one is either measured or says why not, and nothing stays mounted.
#[test]
fn file_systems_are_tried_on_a_card_that_may_go_and_nothing_stays_mounted() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("card");
    std::fs::File::create(&file).unwrap().set_len(700 * MIB).unwrap();
    let card = Loop::over(&file, &[]);
    home.run(&["map", &card.path, "--try-file-systems"]).expect(2).says(&["--erase"]);
    let arguments = ["map", &card.path, "--erase", "--try-file-systems", "--yes-destroy", &card.path];
    let limits = ["--only", "boundaries", "--json", "-q"];
    let document = home.run(&[&arguments[..], &limits].concat()).expect(0).json();
    let tried = list(&document, "/advice/tried");
    for name in ["ext4", "f2fs", "nilfs2", "exfat"] {
        let found =
            tried.iter().find(|t| t["what"] == name).unwrap_or_else(|| panic!("no {name} in {tried:?}"));
        let reason = found["reason"].as_str().unwrap_or_default();
        assert!(found["iops"].is_number() || !reason.is_empty(), "{found}");
    }
    let ext4 = tried.iter().find(|t| t["what"] == "ext4").unwrap();
    assert!(number(ext4, "/iops") > 0.0, "every Linux has ext4: {ext4}");
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(!mounts.contains(&card.path), "{mounts}");
    let name = Path::new(&card.path).file_name().unwrap().to_str().unwrap();
    assert!(!mounts.contains(name), "{mounts}");
}
