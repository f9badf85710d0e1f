//! Answers of `verify` and `check` on all kinds of cards: verdict, label and next step.

use crate::common::binary::Home;
use crate::common::text;
use serde_json::Value;

/// Document of a verb with this exit status.
#[track_caller]
fn document(home: &Home, arguments: &[&str], status: i32) -> Value {
    home.run(&[arguments, &["--json", "--seed", "5"]].concat()).expect(status).json()
}

#[test]
fn card_smaller_than_its_label_is_returned() {
    let home = Home::new();
    for verb in ["verify", "check"] {
        let asked = [verb, "sim:samsung-32g-c10", "--label", "64GB U1"];
        let found = document(&home, &asked, 1);
        assert_eq!(text(&found, "/answer"), "FAKE LABEL: announces 31.4 GB, printed 64 GB. Return it.");
        assert_eq!(text(&found, "/verdict"), "genuine", "its capacity is whole");
        assert_eq!(text(&found, "/next/0/what"), "return it");
    }
    // On a fake the real size matters more than the label.
    let fake = document(&home, &["verify", "sim:sandian-1tb-52g", "--label", "2TB"], 1);
    assert_eq!(text(&fake, "/answer"), "FAKE: holds 52 GB of 1 TB. Return it.");
}

#[test]
fn missed_printed_speed_is_in_the_answer() {
    let home = Home::new();
    let asked = ["check", "sim:usb-stick-tlc", "--label", "64GB up to 300 MB/s", "--budget", "90s"];
    let found = document(&home, &asked, 1);
    let answer = text(&found, "/answer");
    assert!(answer.starts_with("PASSED, but slower than printed: reads 1"), "{answer}");
    assert!(answer.ends_with(" of 300 MB/s."), "{answer}");
}

#[test]
fn losses_without_verdict_advise_a_longer_test() {
    let home = Home::new();
    let found = document(&home, &["verify", "sim:sandian-1tb-52g", "--budget", "20s"], 1);
    let answer = text(&found, "/answer");
    assert!(
        answer.starts_with("NOT PROVEN: ") && answer.contains(" lost data; the test ended too early"),
        "{answer}"
    );
    let next = text(&found, "/next/0/command");
    assert!(next.starts_with("cardscope verify sim:sandian-1tb-52g --seed 5"), "{next}");
    assert!(!next.contains("--budget"), "{next}");
}

#[test]
fn truncating_reader_is_suspected_and_data_kept() {
    let home = Home::new();
    let found = document(&home, &["verify", "sim:evoplus-256g-a2?rig.address_limit_bytes=128GiB"], 4);
    let answer = text(&found, "/answer");
    assert!(answer.starts_with("SUSPECT READER: ") && answer.contains("128 GiB"), "{answer}");
    assert_eq!(found["data_kept"], true, "{found:#}");
    assert!(text(&found, "/next/0/command").contains(" --condition reader="));
}

#[test]
fn quick_test_advises_the_full_test() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=64MiB";
    let quick = document(&home, &["verify", card], 0);
    assert!(text(&quick, "/next/0/command").contains(" --full"), "{quick:#}");
    let full = document(&home, &["verify", card, "--full", "--yes-destroy", card], 0);
    assert_eq!(full["next"], serde_json::json!([]), "{full:#}");
}

#[test]
fn image_size_is_not_compared_with_the_label() {
    let home = Home::new();
    let image = home.path("card.img");
    std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    let image = image.to_str().unwrap();
    let found = document(&home, &["verify", image, "--label", "64GB U3"], 0);
    assert!(text(&found, "/answer").starts_with("PASSED"), "{found:#}");
}

#[test]
fn next_steps_warn_of_data_loss() {
    let home = Home::new();
    for (arguments, loses, status) in [
        (&["map", "sim:lexar-16g-c10", "--erase", "--budget", "3s"][..], true, 0),
        (&["map", "sim:lexar-16g-c10", "--budget", "3s"], false, 0),
        (&["bench", "sim:lexar-16g-c10", "--budget", "10s"], true, 4),
        (&["check", "sim:random-7", "--erase", "--budget", "20s"], true, 4),
        (&["check", "sim:random-7", "--budget", "20s"], false, 4),
    ] {
        let found = document(&home, arguments, status);
        let last = found["next"].as_array().and_then(|steps| steps.last()).unwrap();
        let command = last["command"].as_str().unwrap();
        assert!(command.starts_with(&format!("cardscope {}", arguments[0])), "{last}");
        assert_eq!(last["what"].as_str().unwrap().contains("is lost"), loses, "{last}");
    }
}
