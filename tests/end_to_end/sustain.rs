//! `sustain` in virtual time, on a served card behind a loop device, and in a directory; refusals and early ends.

use crate::common::binary::Home;
use crate::common::machine::{TestMount, names_in, with_data};
use crate::common::until;
use rustix::process::Signal;
use serde_json::Value;

fn numbers(document: &Value, key: &str) -> Vec<f64> {
    document["series"].as_array().unwrap().iter().filter_map(|s| s[key].as_f64()).collect()
}

fn kinds(document: &Value) -> Vec<String> {
    let events = document["events"].as_array().unwrap();
    events.iter().map(|e| e["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sustain_finds_the_cache_and_archives_it() {
    let home = Home::new();
    let run = home.run(&["sustain", "sim:pro-64g-u3", "--duration", "3m", "--seed", "7", "--json"]).expect(0);
    let document = run.json();
    let cache = document["cache_bytes"]["value"].as_f64().unwrap();
    assert!((cache / 600e6 - 1.0).abs() < 0.1, "{cache}\n{run}");
    assert!(kinds(&document).contains(&"cache-end".to_owned()) && numbers(&document, "at_s").len() > 60);
    assert_eq!(document["data_kept"], false);
    let session = document["session"].as_str().unwrap();
    let shown = home.run(&["archive", "show", session, "--json"]).expect(0).json();
    assert_eq!(shown["cache_bytes"], document["cache_bytes"]);
    let page = home.run(&["sustain", "sim:pro-64g-u3", "--duration", "3m", "--seed", "7"]).expect(0);
    assert!(page.one_line().contains(&format!("MB/s after {:.0} MB (cache full)", cache / 1e6)), "{page}");
}

#[test]
fn cooled_and_uncooled_runs_are_compared() {
    let home = Home::new();
    let file = home.path("fan.json");
    let cooled = home
        .run(&["sustain", "sim:lexar-1tb-express?cooling=active", "--read", "--duration", "25m", "--json"])
        .expect(0);
    std::fs::write(&file, &cooled.stdout).unwrap();
    let hot = home
        .run(&[
            "sustain",
            "sim:lexar-1tb-express?cooling=passive",
            "--read",
            "--duration",
            "40m",
            "--json",
            "--against",
            file.to_str().unwrap(),
        ])
        .expect(0);
    let document = hot.json();
    assert!(document["throttling"]["at_celsius"].as_f64().unwrap() >= 79.0, "{hot}");
    let against = &document["against"];
    assert_eq!(against["conditions"][0][0], "cooling");
    let line =
        |what: &str| against["lines"].as_array().unwrap().iter().find(|l| l["what"] == what).unwrap().clone();
    assert_eq!(line("slowest level")["says"], "slower", "{against}");
    assert!(line("warmest")["here"].as_f64() > line("warmest")["there"].as_f64());
    // Invalid runs are refused first.
    home.run(&["sustain", "sim:constant", "--against", "nothing-of-that-name"]).expect(2);
}

#[test]
fn nothing_is_written_to_a_device_without_consent() {
    let (home, device) = (Home::new(), with_data(64, &[]));
    let before = device.content();
    let name = device.path.as_str();
    for arguments in [
        vec!["sustain", name, "--write", "--duration", "2s"],
        vec!["sustain", name, "--erase", "--duration", "2s"],
        vec!["sustain", name, "--region", "16M+32M", "--duration", "2s"],
        vec!["sustain", name, "--erase", "--yes-destroy", "/dev/other", "--duration", "2s"],
        vec!["sustain", name, "--erase", "--region", "16M+32M", "--yes-destroy", name],
        vec!["sustain", name, "--erase", "--read", "--yes-destroy", name],
        vec!["sustain", name, "--region", "60M+32M", "--yes-destroy", name],
        vec!["sustain", name, "--region", "16M+4M", "--yes-destroy", name],
    ] {
        home.run(&arguments).expect(2);
    }
    // Only the region is at stake, not the whole device.
    let region = ["sustain", name, "--region", "16M+32M", "--duration", "2s"];
    home.run(&region).expect(2).says(&["bytes 16 777 216 to 50 331 647 of"]);
    let read = home.run(&["sustain", name, "--duration", "2s", "--json"]).expect(0).says(&["reads only"]);
    assert_eq!(
        (read.json()["bytes_written"].as_u64(), &read.json()["data_kept"]),
        (Some(0), &Value::Bool(true))
    );
    assert!(device.content() == before, "the content changed");
}

#[test]
fn a_region_is_written_and_nothing_outside_of_it() {
    let (home, device) = (Home::new(), with_data(128, &[]));
    let before = device.content();
    let name = device.path.as_str();
    let run = home
        .run(&["sustain", name, "--region", "32M+64M", "--yes-destroy", name, "--duration", "3s", "--json"])
        .expect(0);
    let document = run.json();
    assert!(document["bytes_written"].as_u64().unwrap() > 0 && document["work"] == "write", "{run}");
    let after = device.content();
    let mib = 1 << 20;
    assert!(
        after[..32 * mib] == before[..32 * mib] && after[96 * mib..] == before[96 * mib..],
        "beyond the region"
    );
    assert!(after[32 * mib..96 * mib] != before[32 * mib..96 * mib], "nothing was written");
    // A reader that hides the temperature is reported.
    assert!(run.one_line().contains("the card's temperature is unknown"), "{run}");
}

#[test]
fn sustain_in_a_directory_removes_its_file() {
    let (home, mounted) = (Home::new(), TestMount::ext4(200));
    std::fs::write(mounted.point.join("photo.jpg"), b"keep me").unwrap();
    let run = home
        .run(&[
            "sustain",
            mounted.path(),
            "--max-write",
            "64G",
            "--size",
            "64M",
            "--duration",
            "3s",
            "--mixed",
            "--json",
        ])
        .expect(0);
    let document = run.json();
    assert_eq!(
        (document["region_bytes"].as_u64(), &document["data_kept"]),
        (Some(64 << 20), &Value::Bool(true))
    );
    assert!(!numbers(&document, "write_mb_s").is_empty() && !numbers(&document, "read_mb_s").is_empty());
    assert_eq!(names_in(&mounted.point), ["photo.jpg"]);
    // A full disk is reported before anything is written.
    let full = home
        .run(&["sustain", mounted.path(), "--max-write", "64G", "--size", "4G", "--duration", "3s"])
        .expect(2);
    assert!(full.stderr.contains("free some space"), "{full}");
    home.run(&["sustain", mounted.path(), "--max-write", "64G", "--size", "4M", "--duration", "3s"])
        .expect(2);
    assert_eq!(names_in(&mounted.point), ["photo.jpg"]);
}

#[test]
fn vanished_card_keeps_the_series() {
    let home = Home::new();
    let run = home
        .run(&["sustain", "sim:pro-64g-u3?faults.vanish_after_s=30", "--duration", "5m", "--json"])
        .expect(3);
    let document = run.json();
    assert!(
        numbers(&document, "at_s").len() >= 20 && document["error"].as_str().unwrap().contains("went away"),
        "{run}"
    );
    assert!(document["cache_bytes"]["value"].is_u64());
    let session = document["session"].as_str().unwrap();
    let shown = home.run(&["archive", "show", session, "--json"]).expect(0).json();
    assert_eq!(shown["series"], document["series"]);
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_removes_the_file() {
    let (home, mounted) = (Home::new(), TestMount::ext4(200));
    let running = home.start(&[
        "sustain",
        mounted.path(),
        "--max-write",
        "64G",
        "--size",
        "64M",
        "--duration",
        "5m",
        "--json",
    ]);
    // One sample a second is stored during the run.
    until("two samples in the archive", || {
        let kept = home.run(&["archive", "list", "--json"]).json();
        let Some(session) = kept["sessions"][0]["session"].as_str() else { return false };
        let so_far = home.run(&["archive", "show", session, "--json"]).expect(0).json();
        so_far["series"].as_array().is_some_and(|samples| samples.len() >= 2)
    });
    running.signal(Signal::INT);
    let run = running.finish().expect(130);
    assert!(numbers(&run.json(), "at_s").len() >= 2, "{run}");
    assert!(names_in(&mounted.point).is_empty());
}

#[test]
fn failing_thermometer_is_reported_once() {
    let (home, device) = (Home::new(), with_data(64, &[]));
    let csv = home.path("probe.csv");
    std::fs::write(&csv, "time,case\n1,33.5\n").unwrap();
    let file = format!("reader=csv:{}#case", csv.display());
    let run = home
        .run(&[
            "sustain",
            device.path.as_str(),
            "--duration",
            "4s",
            "--json",
            "--thermometer",
            "card surface=command:echo 41.5",
            "--thermometer",
            "soc 2=command:echo rubbish",
            "--thermometer",
            "fan=command:exit 3",
            "--thermometer",
            &file,
        ])
        .expect(0);
    let document = run.json();
    let last = document["series"].as_array().unwrap().last().unwrap();
    let at = |place: &str| {
        last["temperatures"]
            .as_array()
            .unwrap()
            .iter()
            .find(|t| t["place"] == place)
            .and_then(|t| t["celsius"].as_f64())
    };
    assert_eq!((at("card surface"), at("reader"), at("soc 2")), (Some(41.5), Some(33.5), None), "{run}");
    assert_eq!(run.stderr.matches("gave no temperature").count(), 2, "one line each\n{run}");
    assert_eq!(document["max_celsius"].as_f64(), Some(41.5));
    home.run(&["sustain", device.path.as_str(), "--thermometer", "card=ntc:1"]).expect(2);
    // Heat ends the run, also with an external thermometer.
    let hot = home
        .run(&[
            "sustain",
            device.path.as_str(),
            "--duration",
            "60s",
            "--json",
            "--max-temp",
            "40",
            "--thermometer",
            "card surface=command:echo 41.5",
        ])
        .expect(0);
    assert_eq!(hot.json()["ended_by"], "--max-temp", "{hot}");
    assert!(hot.took.as_secs() < 30 && kinds(&hot.json()).contains(&"too-hot".to_owned()));
}

#[test]
fn a_target_that_is_too_small_is_refused() {
    let home = Home::new();
    let small = home.run(&["sustain", "sim:constant?announced_bytes=8388608", "--duration", "5s"]).expect(2);
    assert!(small.stderr.contains("too little"), "{small}");
    home.run(&["sustain", "sim:constant", "--cooling", "passive"]).expect(2);
    home.run(&["sustain", "sim:constant", "--max-temp", "900"]).expect(2);
}

#[test]
fn read_only_card_ends_sustain_as_bad() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=1GiB&faults.write_error_p=1";
    let run = home.run(&["sustain", card, "--write", "--duration", "60s", "--json"]).expect(1);
    let document = run.json();
    assert!(kinds(&document).contains(&"no-more-writes".to_owned()), "{run}");
    let claims: Vec<&str> =
        document["findings"].as_array().unwrap().iter().map(|f| f["claim"].as_str().unwrap()).collect();
    assert!(claims.contains(&"no-more-writes"), "{claims:?}");
    assert!(document["troubles"].as_array().unwrap().len() <= 100 && document["bytes_written"] == 0);
    let page = home.run(&["sustain", card, "--write", "--duration", "60s"]).expect(1);
    assert!(page.stdout.starts_with(document["answer"].as_str().unwrap()), "{page}");
    // A card that stalls for minutes is reported, too, and the run ends.
    let stalls = "sim:samsung-32g-c10?write.merge_s=120";
    let run = home.run(&["sustain", stalls, "--pattern", "rnd", "--duration", "60s"]).expect(1);
    assert!(run.stdout.starts_with("Stops answering."), "{run}");
}

#[test]
fn slow_usb_rig_is_blamed_instead_of_the_card() {
    let home = Home::new();
    // From 100 s on the bus carries a third, also for commands without flash access.
    let card = "sim:constant?disturb_every_s=100&disturb_for_s=100&disturb_share=0.65";
    let run = |condition: &str| {
        let arguments = ["sustain", card, "--read", "--duration", "5m", "--condition", condition, "--json"];
        home.run(&arguments).expect(0).json()
    };
    let hot = |document: &Value| {
        document["findings"].as_array().unwrap().iter().find(|f| f["claim"] == "hot-usb-host").cloned()
    };
    let document = run("reader=USB 3 reader");
    let finding = hot(&document).unwrap_or_else(|| panic!("{}", document["findings"]));
    assert!(finding["confidence"].as_f64().unwrap() >= 0.85, "its pings tell: {finding}");
    assert!(hot(&run("reader=internal")).is_none(), "no USB, no USB host");
}
