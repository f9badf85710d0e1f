//! Cards over FUSE and a loop device with occasional I/O errors or stalls of seconds: the data survives, at worst
//! through a journal, and no clean verdict hides the errors.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{LoopDevice, names_in};
use crate::common::served::Served;
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Filled card without delays; only its errors matter.
const CARD: &str = "constant?announced_bytes=48MiB&state=filled";
/// Same, slow enough to be interrupted at any point.
const SLOW: &str = "constant?announced_bytes=24MiB&state=filled&command_s=0.004&mb_s=50";

fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = home.path("state/cardscope");
    let all = if folder.exists() { names_in(&folder) } else { Vec::new() };
    all.iter().filter(|name| name.starts_with("journal-")).map(|name| folder.join(name)).collect()
}

/// Runs a verb on a served card and compares the data; returns the outcome, and true if a journal had to be restored.
#[track_caller]
fn data_survives(
    spec: &str,
    io: &str,
    arguments: &[&str],
    meanwhile: impl FnOnce(&mut Running, &Served),
) -> (Outcome, bool) {
    let home = Home::new();
    let served = Served::start(&home, spec, if spec.starts_with(CARD) { &["--no-timing"] } else { &[] });
    let before = served.content();
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let mut command = home.command(CARDSCOPE);
    command.arg(arguments[0]).arg(&card.path).args(&arguments[1..]).env("CARDSCOPE_IO", io);
    let mut running = Running::of(command);
    meanwhile(&mut running, &served);
    let outcome = running.finish_within(Duration::from_secs(400));
    let waiting = journals(&home);
    for journal in &waiting {
        home.run(&["restore", journal.to_str().unwrap(), &card.path]).expect(0);
    }
    assert!(served.content() == before, "the data is as it was\n{outcome}");
    assert!(journals(&home).is_empty(), "{outcome}");
    (outcome, !waiting.is_empty())
}

/// Asserts that errors prevent a clean verdict, and that a responding card is not called silent.
#[track_caller]
fn says_no_more_than_it_knows(outcome: &Outcome) {
    let document = outcome.json();
    let failed = document.get("error").is_some_and(Value::is_string);
    assert_eq!(outcome.status.code() == Some(3), failed, "{outcome}");
    assert!(!(failed && document["verdict"] == "genuine"), "{outcome}");
    assert!(!outcome.stderr.contains("no longer answers"), "{outcome}");
}

#[test]
fn io_errors_lose_no_data() {
    let (verify, check) = (&["verify", "--json"] as &[&str], &["check", "--budget", "10s", "--json"]);
    for (io, fault, verb) in [
        ("auto", "read_error_p=0.005", check as &[&str]),
        ("preads", "write_error_p=0.005", check),
        ("auto", "write_error_p=0.005", verify),
        ("auto", "read_error_p=0.003", &["map", "--budget", "10s", "--json"]),
    ] {
        let (outcome, waited) = data_survives(&format!("{CARD}&faults.{fault}"), io, verb, |_, _| ());
        says_no_more_than_it_knows(&outcome);
        assert!(!waited, "the card answers, so nothing has to wait\n{outcome}");
    }
}

/// Unreadable places are not overwritten, and the rest is restored.
#[test]
fn bad_sectors_lose_no_data() {
    let spec = format!("{CARD}&faults.failing_share=0.02&faults.unit_bytes=65536");
    let home = Home::new();
    let served = Served::start(&home, &spec, &["--no-timing"]);
    let before = served.content();
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let outcome = home.run(&["verify", &card.path, "--json"]);
    says_no_more_than_it_knows(&outcome);
    for journal in journals(&home) {
        home.run(&["restore", journal.to_str().unwrap(), &card.path]);
    }
    assert!(served.content() == before, "the data is as it was\n{outcome}");
}

#[test]
fn stall_of_seconds_ends_no_verb() {
    let (outcome, waited) = data_survives(SLOW, "auto", &["verify", "--json"], |running, served| {
        running.wait_for("writing test data");
        std::thread::sleep(Duration::from_millis(300));
        let frozen = served.freeze();
        std::thread::sleep(Duration::from_secs(8));
        drop(frozen);
    });
    let outcome = outcome.expect(0);
    assert!(!waited && outcome.json()["data_kept"] == true, "{outcome}");
}

/// After Ctrl-C in a stall the program waits for the card, in a flush as in an I/O, and says so.
#[test]
fn ctrl_c_in_a_stall_restores_after_it() {
    for (io, stage) in [("preads", "writing test data"), ("auto", "restoring")] {
        let (outcome, waited) = data_survives(SLOW, io, &["verify", "--json"], |running, served| {
            running.wait_for(stage);
            std::thread::sleep(Duration::from_millis(300));
            let frozen = served.freeze();
            std::thread::sleep(Duration::from_millis(500));
            running.signal(Signal::INT);
            std::thread::sleep(Duration::from_secs(5));
            drop(frozen);
        });
        assert!(!waited, "{stage}: the card answers again, so its data is restored\n{outcome}");
        assert!(outcome.stderr.contains("interrupted"), "{stage}: {outcome}");
    }
}
