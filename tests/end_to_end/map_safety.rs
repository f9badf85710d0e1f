//! `map` leaves the card unchanged to the byte, however it ended, and is refused where it is not safe.

use crate::common::binary::{Home, Outcome};
use crate::common::machine::{LoopDevice, MIB, TestMount, data, image, names_in, run_tool, with_data};
use crate::common::maps::{claims, holds_what_is_promised, journals, parts};
use crate::common::served::Served;
use crate::common::{list, number, text, until};
use rustix::process::Signal;
use std::path::Path;
use std::time::Duration;

/// A whole map on a small fast card takes seconds and must not change a byte.
#[test]
fn map_preserves_loop_devices_and_files() {
    let home = Home::new();
    let card = with_data(96, &[]);
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
fn map_preserves_a_served_card() {
    let home = Home::new();
    let served = Served::start(&home, "sim:constant?announced_bytes=64MiB", &[]);
    let content = data((64 * MIB) as usize);
    std::fs::write(served.card(), &content).unwrap();
    let card = LoopDevice::over_file(served.card(), &[]);
    let outcome = home.run(&[&["map", &card.path, "--json", "-q"], parts()].concat()).expect(0);
    assert!(number(&outcome.json(), "/bytes_written") > 0.0, "{outcome}");
    assert!(card.content() == content, "the card was changed");
}

#[test]
fn map_in_a_directory_uses_its_own_file() {
    let (home, mounted) = (Home::new(), TestMount::ext4(256));
    std::fs::write(mounted.point.join("holiday.jpg"), vec![7; 1 << 20]).unwrap();
    let outcome = home.run(&[&["map", mounted.path(), "--json", "-q"], parts()].concat()).expect(0);
    let document = outcome.json();
    assert_eq!(names_in(&mounted.point), ["holiday.jpg"]);
    assert!(std::fs::read(mounted.point.join("holiday.jpg")).unwrap() == vec![7; 1 << 20]);
    assert_eq!(document["data_kept"], true);
    // Addresses in a file are not those of the card, so boundaries are neither measured nor advised.
    assert_ne!(text(&document, "/erase_block_bytes/status"), "measured", "{outcome}");
    assert!(document["advice"]["partition_start_bytes"].is_null());
    assert!(journals(&home).is_empty());
    let refused = [&["--erase"][..], &["--region", "0+1M"], &["--fat"]];
    for option in refused {
        home.run(&[&["map", mounted.path()], option].concat()).expect(2).says(&["directory"]);
    }
}

#[test]
fn map_refuses_mounted_devices() {
    let (home, card) = (Home::new(), with_data(64, &[]));
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let _mounted = TestMount::new(&[], &card.path);
    let consent = ["--erase", "--yes-destroy", &card.path];
    for options in [&[][..], &consent, &["--region", "8M+8M", "--yes-destroy", &card.path]] {
        home.run(&[&["map", &card.path], options].concat()).expect(2).says(&["mounted"]);
    }
}

#[test]
fn invalid_map_options_write_nothing() {
    let (home, card) = (Home::new(), with_data(32, &[]));
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

/// The question names the partitions in the region, and nothing outside of it is written.
#[test]
fn erased_region_needs_consent_and_limits_writes() {
    let (home, card) = (Home::new(), with_data(96, &[]));
    let table = "label: dos\nstart=1MiB, size=31MiB, type=83\nstart=32MiB, size=32MiB, type=c\n";
    run_tool("sh", &["-c", &format!("printf '{table}' | sfdisk -q {}", card.path)]);
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
fn map_keeps_to_max_write() {
    let home = Home::new();
    let arguments = ["map", "sim:lexar-16g-c10", "--max-write", "4M", "--json", "-q"];
    let document = home.run(&arguments).expect(0).json();
    holds_what_is_promised(&document);
    assert!(number(&document, "/bytes_written") <= 4.0 * MIB as f64, "{document:#}");
}

#[test]
fn missing_journal_place_gets_advice() {
    let (home, card) = (Home::new(), with_data(64, &[]));
    let before = card.content();
    // A file in place of the folder, because root may write into any folder.
    std::fs::write(home.path("state"), "in the way").unwrap();
    let ways = ["--read-only", "--region", "--erase"];
    home.run(&["map", &card.path]).expect(2).says(&ways);
    std::fs::remove_file(home.path("state")).unwrap();
    // Disk with too little space.
    std::fs::create_dir(home.path("state")).unwrap();
    let state = home.path("state");
    run_tool("mount", &["-t", "tmpfs", "-o", "size=4m", "none", state.to_str().unwrap()]);
    let outcome = home.run(&["map", &card.path]);
    run_tool("umount", &[state.to_str().unwrap()]);
    outcome.expect(2).says(&ways);
    assert!(card.content() == before);
}

/// Map on a slow served card, stopped when it writes.
fn stopped(home: &Home, card: &LoopDevice, signal: Signal) -> Outcome {
    let before = card.written_bytes();
    let mut running = home.start(&["map", &card.path, "--json", "--only", "write-curve"]);
    running.wait_for("writes by size");
    // The reader is tested first.
    until("it writes", || card.written_bytes() > before);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(signal);
    running.finish_within(Duration::from_secs(60))
}

/// Card of 64 MiB with content that is as slow as a real one.
struct Slow {
    home: Home,
    card: LoopDevice,
    content: Vec<u8>,
    _served: Served,
}

impl Slow {
    fn new() -> Self {
        let home = Home::new();
        let served = Served::start(&home, "sim:lexar-16g-c10?announced_bytes=64MiB", &[]);
        let content = data((64 * MIB) as usize);
        std::fs::write(served.card(), &content).unwrap();
        let card = LoopDevice::over_file(served.card(), &[]);
        Slow { home, card, content, _served: served }
    }
}

#[test]
fn ctrl_c_restores_data_and_prints_results() {
    let slow = Slow::new();
    let outcome = stopped(&slow.home, &slow.card, Signal::INT).expect(130).says(&["interrupted"]);
    let document = outcome.json();
    assert!(text(&document, "/error").contains("interrupted") && document["data_kept"] == true, "{outcome}");
    assert!(slow.card.content() == slow.content, "the card was changed");
    assert!(journals(&slow.home).is_empty());
}

#[test]
fn restore_recovers_a_card_after_sigkill_during_map() {
    let slow = Slow::new();
    stopped(&slow.home, &slow.card, Signal::KILL);
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

/// Each file system of this machine is either measured or has a reason, and nothing stays mounted.
#[test]
fn file_system_trials_leave_nothing_mounted() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let file = dir.path().join("card");
    std::fs::File::create(&file).unwrap().set_len(700 * MIB).unwrap();
    let card = LoopDevice::over_file(&file, &[]);
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

/// A directory has nothing to read but a file that would have to be written first.
#[test]
fn read_only_map_of_a_directory_is_refused() {
    let (home, mounted) = (Home::new(), TestMount::ext4(64));
    home.run(&["map", mounted.path(), "--read-only"]).expect(2).says(&["cardscope list"]);
    assert!(names_in(&mounted.point).is_empty());
}

/// Ctrl-C while a file system is copied to a slow card, and while its test file is created.
#[test]
fn ctrl_c_during_a_file_system_trial_cleans_up() {
    let home = Home::new();
    let served = Served::start(&home, "sim:lexar-16g-c10?announced_bytes=600MiB", &[]);
    let card = LoopDevice::over_file(served.card(), &[]);
    let arguments = ["map", &card.path, "--erase", "--try-file-systems", "--yes-destroy", &card.path];
    for after in [50, 700] {
        let mut running = home.start(&[&arguments[..], &["--only", "axis", "--json"]].concat());
        running.wait_for("small writes on ext4");
        std::thread::sleep(Duration::from_millis(after));
        running.signal(Signal::INT);
        running.finish_within(Duration::from_secs(60)).expect(130);
        assert_eq!(run_tool("wipefs", &["-p", &card.path]), "", "after {after} ms");
    }
}
