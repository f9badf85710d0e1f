//! `check` on the command line: it keeps to its time and preserves the data.

use crate::common::binary::Home;
use crate::common::machine::with_data;
use crate::common::{list, number, text, without_answer};
use serde_json::Value;

fn part<'a>(document: &'a Value, name: &str) -> &'a Value {
    let found = list(document, "/parts").iter().find(|p| p["part"] == name);
    found.unwrap_or_else(|| panic!("no part {name} in {:#}", document["parts"]))
}

fn speed(document: &Value, name: &str) -> Option<f64> {
    let named = |r: &&Value| format!("{} {}", text(r, "/test"), text(r, "/op")) == name;
    list(document, "/bench").iter().find(named).map(|r| number(r, "/mb_s"))
}

#[test]
fn class_10_card_is_tested_in_three_minutes_and_keeps_its_data() {
    let home = Home::new();
    let document =
        home.run(&["check", "sim:lexar-16g-c10", "--json", "--quiet", "--seed", "1"]).expect(0).json();
    assert_eq!((text(&document, "/verdict"), &document["data_kept"]), ("genuine", &Value::Bool(true)));
    assert!(number(&document, "/seconds") <= 180.0 * 1.1, "{:#}", document["parts"]);
    assert!(number(&document, "/proven_bytes") > 200.0e6, "{document:#}");
    let read = speed(&document, "SEQ1M Q1T1 read").unwrap();
    assert!((read / 20.4 - 1.0).abs() < 0.1, "published: 20.4 MB/s, read: {read}");
    let write = speed(&document, "SEQ1M Q1T1 write").unwrap();
    assert!((write / 13.06 - 1.0).abs() < 0.15, "and writes 13 MB/s: {write}");
    for result in list(&document, "/bench") {
        let (mb_s, iops) = (number(result, "/mb_s"), number(result, "/iops"));
        let block = if text(result, "/test").starts_with("SEQ1M") { 1_048_576.0 } else { 4096.0 };
        assert!((mb_s * 1e6 / (iops * block) - 1.0).abs() < 1e-9, "{result:#}");
    }
}

#[test]
fn fast_card_gets_all_parts_and_an_offline_page() {
    let home = Home::new();
    let page = home.path("page.html");
    let arguments =
        ["check", "sim:sandisk-256g-express", "--json", "--quiet", "--html", page.to_str().unwrap()];
    let document = home.run(&arguments).expect(0).json();
    for name in ["info", "verify", "bench", "map"] {
        assert_ne!(text(part(&document, name), "/state"), "left-out", "{:#}", document["parts"]);
    }
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.starts_with("<!DOCTYPE html>\n<!-- Cardscope page -->\n") && html.contains("PASSED"));
    // The name of the SVG namespace is not loaded.
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains(" src="), "nothing is fetched");
}

#[test]
fn parts_have_their_own_archive_rows() {
    let home = Home::new();
    let document =
        home.run(&["check", "sim:sandisk-256g-express", "--json", "--quiet", "--seed", "1"]).expect(0).json();
    let all = home.run(&["archive", "list", "--json"]).expect(0).json();
    let kinds: Vec<&str> = list(&all, "/sessions").iter().map(|session| text(session, "/kind")).collect();
    assert_eq!(kinds, ["check", "verify", "bench", "map", "marks", "sustain"]);
    let row = |kind: usize| {
        let session = text(&all, &format!("/sessions/{kind}/session"));
        home.run(&["archive", "show", session, "--json"]).expect(0).json()
    };
    assert_eq!(without_answer(row(1)), document["verify"]);
    assert_eq!(row(2)["runs"][0]["results"], document["bench"]);
    assert_eq!(without_answer(row(3)), document["map"]);
    assert_eq!(row(4)["marks"], document["marks"]);
    assert_eq!(row(5)["series"], document["sustain"]["series"]);
    for (part, kind) in kinds.iter().enumerate().skip(1) {
        let seed = row(part)["seed"].as_u64().unwrap();
        assert!(seed < 1 << 53, "a JSON reader keeps the seed {seed} of {kind}");
    }
}

#[test]
fn fake_is_in_the_answer_and_not_mapped() {
    let home = Home::new();
    // With the last three seeds one of the first large writes is so slow that the rest seems to have no time.
    for seed in ["1", "16", "38", "85"] {
        let arguments = ["check", "sim:sandian-1tb-52g", "--label", "1TB A2", "--details", "--seed", seed];
        let run = home.run(&arguments).expect(1);
        let told = run.one_line();
        assert_eq!(run.stdout.lines().next(), Some("FAKE: holds 52 GB of 1 TB. Return it."), "{seed}");
        assert!(told.contains("Writes beyond 52 GB are lost") && told.contains("Return it."), "{told}");
        assert!(told.contains("mapped only if the card keeps its data"), "{told}");
    }
}

#[test]
fn harmful_queue_is_reported() {
    let told = Home::new().run(&["check", "sim:evoplus-32g-u1-fakeq", "--seed", "1", "--details"]);
    let told = told.expect(0).one_line();
    assert!(told.contains("32 random writes at once") && told.contains("queue is fake"), "{told}");
    assert!(told.contains("data preserved"), "{told}");
}

#[test]
fn erased_data_is_not_reported_as_restored() {
    let name = "sim:sandisk-su04g";
    let arguments = ["check", name, "--erase", "--yes-destroy", name, "--budget", "40s", "--seed", "1"];
    let told = Home::new().run(&arguments).expect(0).stdout;
    assert!(told.contains("not preserved, as agreed") && !told.contains("not all restored"), "{told}");
}

#[test]
fn device_content_is_identical_after_check() {
    let home = Home::new();
    let card = with_data(96, &[]);
    let before = card.content();
    let written_before = card.written_bytes();
    // Enough on a machine with three builds running; two seconds suffice on an idle one.
    let document = home.run(&["check", &card.path, "--budget", "60s", "--json", "--quiet"]).expect(0).json();
    assert_eq!((text(&document, "/verdict"), &document["data_kept"]), ("genuine", &Value::Bool(true)));
    assert!(card.content() == before, "a byte is not what it was");
    // Counts of the kernel: all bytes of all parts, with preparation and warm-up.
    let said = number(&document, "/bytes_written") + number(&document, "/bytes_restored");
    assert_eq!(said, (card.written_bytes() - written_before) as f64);
    let left: Vec<_> = std::fs::read_dir(home.path("state/cardscope")).unwrap().flatten().collect();
    assert!(left.is_empty(), "no journal stays: {left:?}");
    let kinds = home.run(&["archive", "list"]).expect(0).stdout;
    assert!(kinds.contains("check"), "{kinds}");
}

#[test]
fn read_only_writes_nothing_and_lists_skipped_parts() {
    let home = Home::new();
    let card = with_data(64, &["-r"]);
    let document = home
        .run(&["check", &card.path, "--read-only", "--budget", "10s", "--json", "--quiet"])
        .expect(4)
        .json();
    assert_eq!(number(&document, "/bytes_written"), 0.0);
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(text(part(&document, "verify"), "/reason").contains("--read-only"));
    assert!(list(&document, "/bench").iter().all(|r| r["op"] == "read"), "{:#}", document["bench"]);
}

#[test]
fn read_only_check_of_a_directory_is_refused() {
    let home = Home::new();
    let disk = crate::common::machine::TestMount::ext4(64);
    home.run(&["check", disk.path(), "--read-only"])
        .expect(2)
        .says(&["--read-only", "name the card's device"]);
    assert_eq!(crate::common::machine::names_in(&disk.point), Vec::<String>::new());
}

#[test]
fn late_io_errors_prevent_a_clean_verdict() {
    // No failure in verify, bench and map; then one I/O in 200 fails.
    let name = "sim:constant?faults.begin_after_bytes=1650000000&faults.read_error_p=0.005";
    let document = Home::new().run(&["check", name, "--json", "--quiet", "--seed", "1"]).expect(1).json();
    assert_eq!(text(&document, "/verify/verdict"), "genuine", "what it tested was good");
    assert_eq!(text(&document, "/verdict"), "unstable");
    let failed: Vec<&Value> =
        list(&document, "/findings").iter().filter(|f| f["claim"] == "io-errors").collect();
    assert_eq!(failed.len(), 1, "said, and once: {failed:#?}");
}

#[test]
fn check_spares_the_start_and_shows_caveats() {
    let arguments = ["check", "sim:constant?announced_bytes=64MiB", "--budget", "60s", "--details"];
    let told = Home::new().run(&arguments).expect(0).one_line();
    assert!(told.contains("spare its start"), "{told}");
    assert!(told.contains("4 tests: the 95 % interval is ±"), "{told}");
}

#[test]
fn unmeasured_figures_give_no_job_score() {
    let told = Home::new().run(&["check", "sim:lexar-16g-c10", "--budget", "30s"]).expect(4).stdout;
    let camera = told.lines().find(|line| line.trim_start().starts_with("camera-4k")).unwrap();
    assert!(camera.contains("not known"), "nobody knows its writes: {told}");
    assert!(camera.contains("not measured: sustained write"), "{told}");
}

#[test]
fn directory_check_writes_only_its_own_files() {
    let home = Home::new();
    let disk = crate::common::machine::TestMount::ext4(512);
    std::fs::write(disk.point.join("mine.txt"), "keep me").unwrap();
    let target = disk.path().to_owned();
    let document = home
        .run(&["check", &target, "--budget", "90s", "--max-write", "2G", "--json", "--quiet"])
        .expect(0)
        .json();
    assert!(!list(&document, "/bench").is_empty(), "{document:#}");
    let marks = &document["marks"];
    assert!(marks["read_mb_s"].is_number(), "the file was written, then read: {:#}", marks["left_out"]);
    let mut names: Vec<String> = std::fs::read_dir(&disk.point)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n != "lost+found")
        .collect();
    names.sort();
    assert_eq!(names, ["mine.txt"]);
}

#[test]
fn short_budget_lists_skipped_parts() {
    let home = Home::new();
    let document =
        home.run(&["check", "sim:lexar-16g-c10", "--budget", "5s", "--json", "--quiet"]).expect(4).json();
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(list(&document, "/parts").iter().any(|p| p["state"] != "done"), "{:#}", document["parts"]);
    assert!(
        list(&document, "/next")
            .iter()
            .any(|n| n["command"].as_str().is_some_and(|c| c.contains("--budget")))
    );
    home.run(&["check", "sim:lexar-16g-c10", "--budget", "100ms"]).expect(2).says(&["--budget"]);
}

#[test]
fn vanished_card_keeps_results_and_names_the_journal() {
    let home = Home::new();
    let arguments = ["check", "sim:lexar-16g-c10?faults.vanish_after_s=60", "--json", "--quiet"];
    let document = home.run(&arguments).expect(3).json();
    assert!(document["error"].as_str().is_some_and(|e| e.contains("went away")), "{document:#}");
    assert_eq!(text(&document, "/parts/0/part"), "info");
    // Without results the page begins with the reason, and advises no more time.
    let gone = Home::new().run(&["check", "sim:lexar-16g-c10?faults.vanish_after_s=1"]).expect(3).stdout;
    let at = |words: &str| gone.find(words).unwrap_or_else(|| panic!("{words} in {gone}"));
    assert!(at("NOT TESTED") < at("The card went away") && at("The card went away") < at("Next"), "{gone}");
    assert!(gone.contains("Run it again:") && !gone.contains("--budget"), "{gone}");
}

#[test]
fn unwritable_page_is_refused_before_the_test() {
    let home = Home::new();
    let run = |html: &str| home.run(&["check", "sim:constant?announced_bytes=64MiB", "--html", html]);
    run("/nowhere/page.html").expect(2).says(&["does not exist"]);
    let dir = tempfile::tempdir().unwrap();
    run(dir.path().to_str().unwrap()).expect(2).says(&["a folder, not a plain file"]);
    run("/dev/full").expect(2).says(&["not a plain file"]);
}

#[test]
fn page_does_not_replace_other_files() {
    let home = Home::new();
    let image = crate::common::machine::image(home.path("").as_path(), 16);
    let before = std::fs::read(&image).unwrap();
    let (link, hard, letter) = (home.path("link.html"), home.path("hard.html"), home.path("letter.html"));
    std::os::unix::fs::symlink("card.img", &link).unwrap();
    std::fs::hard_link(&image, &hard).unwrap();
    std::fs::write(&letter, "<!DOCTYPE html>\n<p>Dear aunt</p>\n").unwrap();
    let run = |target: &str, html: &str| {
        let mut command = home.command(crate::common::binary::CARDSCOPE);
        command.current_dir(home.path("")).args(["check", target, "--budget", "5s", "--html", html]);
        crate::common::binary::Running::of(command).finish()
    };
    let whole = image.to_str().unwrap();
    for (target, html) in [
        ("card.img", "card.img"),
        ("card.img", "./card.img"),
        ("./card.img", "card.img"),
        ("card.img", whole),
        (whole, "card.img"),
        ("link.html", "card.img"),
        ("card.img", "hard.html"),
    ] {
        run(target, html).expect(2).says(&["--html", "the card itself"]);
    }
    run("card.img", "link.html").expect(2).says(&["--html", "that is a link"]);
    run("card.img", "letter.html").expect(2).says(&["is not a Cardscope file"]);
    assert!(std::fs::read(&image).unwrap() == before, "not a byte of the card is touched");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "<!DOCTYPE html>\n<p>Dear aunt</p>\n");
    // An older page may be replaced.
    let page = home.path("page.html");
    run("sim:constant?announced_bytes=64MiB", "page.html").expect(4);
    std::fs::write(&page, std::fs::read_to_string(&page).unwrap() + "old").unwrap();
    run("sim:constant?announced_bytes=64MiB", "page.html").expect(4);
    assert!(std::fs::read_to_string(&page).unwrap().ends_with("</html>\n"));
}

#[test]
fn a_mounted_device_is_refused() {
    let home = Home::new();
    let disk = crate::common::machine::TestMount::ext4(64);
    home.run(&["check", disk.device_path()]).expect(2).says(&["mounted"]);
}

#[test]
fn claimed_marks_are_tested_before_the_map() {
    let home = Home::new();
    let label = "A1 'up to 300 MB/s'";
    let arguments = ["check", "sim:pro-64g-u3", "--label", label, "--json", "--quiet", "--seed", "1"];
    let document = home.run(&arguments).json();
    let parts: Vec<&str> = list(&document, "/parts").iter().map(|part| text(part, "/part")).collect();
    assert_eq!(parts, ["info", "verify", "bench", "marks", "map", "sustain"]);
    assert_eq!(text(&document, "/marks/form"), "short");
    let a1 = list(&document, "/marks/judged").iter().find(|judged| judged["mark"] == "A1").unwrap();
    assert_ne!(text(a1, "/outcome"), "not_tested", "{a1:#}");
    assert_eq!(text(&document, "/marks/other_tests/0/mark"), "A1");
    let printed = &list(&document, "/printed_speeds")[0];
    assert_eq!(text(printed, "/outcome"), "not_testable", "{printed:#}");
}

#[test]
fn marks_with_erase_use_the_specification_form() {
    let home = Home::new();
    let target = "sim:constant?announced_bytes=1GiB";
    let arguments =
        ["check", target, "--marks", "--erase", "--yes-destroy", target, "--label", "A1", "--quiet"];
    let document = home.run(&[&arguments[..], &["--json"]].concat()).expect(0).json();
    let parts: Vec<&str> = list(&document, "/parts").iter().map(|part| text(part, "/part")).collect();
    assert_eq!(parts, ["info", "verify", "marks"]);
    assert_eq!(text(&document, "/marks/form"), "specification", "{:#}", document["marks"]["left_out"]);
    assert!(document["marks"]["full_card_mb_s"].is_number());
    assert_eq!(document["budget_s"], 0.0);
}
