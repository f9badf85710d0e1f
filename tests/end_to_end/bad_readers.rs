//! Verbs that preserve data, on cards in bad readers, over FUSE and a loop device. Afterwards the card is unchanged,
//! or a journal restores it in a good reader. A few readers each; all of them with CARDSCOPE_LONG=1.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, data, first_difference};
use crate::common::maps::{journals, parts};
use crate::common::served::Served;
use rustix::process::Signal;

/// Bytes of the card.
const BYTES: usize = 64 << 20;

/// Name of the card with this fault, which continues from and saves to its state file.
fn name(home: &Home, fault: &str, is_new: bool) -> String {
    let state = home.path("card.state");
    let load = if is_new { String::new() } else { format!("&state={}", state.display()) };
    format!("constant?announced_bytes={BYTES}&save={}{load}{fault}", state.display())
}

/// Runs a verb on the card in a bad reader and asserts that the data survives.
#[track_caller]
fn data_survives(fault: &str, verb: &[&str], behind_a_loop_device: bool) {
    let home = Home::new();
    let mut served = Served::start(&home, &name(&home, "", true), &["--no-timing"]);
    let before = data(BYTES);
    std::fs::write(served.card(), &before).unwrap();
    served.stop(Signal::TERM);
    served.serve(&home, &name(&home, fault, false), &["--no-timing"]);
    let card = behind_a_loop_device.then(|| LoopDevice::over_file(served.card(), &["--direct-io=on"]));
    let path = card.as_ref().map_or(served.card().display().to_string(), |card| card.path.clone());
    let outcome = home.run(&[&[verb[0], &path, "--json", "-q"], &verb[1..]].concat());
    drop(card);
    served.stop(Signal::TERM);
    served.serve(&home, &name(&home, "", false), &["--no-timing"]);
    let card = behind_a_loop_device.then(|| LoopDevice::over_file(served.card(), &[]));
    let path = card.as_ref().map_or(served.card().display().to_string(), |card| card.path.clone());
    for journal in journals(&home) {
        home.run(&["restore", journal.to_str().unwrap(), &path, "--yes-destroy", &path]).expect(0);
    }
    drop(card);
    let now = std::fs::read(served.card()).unwrap();
    let first = first_difference(&before, &now);
    assert!(now.len() == BYTES && first.is_none(), "{fault}: byte {first:?} was changed: {outcome}");
    // A map measures times, which wrong data does not affect.
    assert!(verb[0] == "map" || outcome.status.code() != Some(0), "{fault}: {outcome}");
}

/// Runs a verb in the first `few` of these readers, or in all of them in the long tests.
#[track_caller]
fn data_survives_all(faults: &[&str], few: usize, verb: &[&str], behind_a_loop_device: bool) {
    let long = std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty());
    for fault in faults.iter().take(if long { faults.len() } else { few }) {
        data_survives(fault, verb, behind_a_loop_device);
    }
}

#[test]
fn verify_preserves_data_in_every_bad_reader() {
    let faults = [
        "&flip_read_every=100",
        "&repeat_bytes=64KiB",
        "&error_ranges=30MB+100kB",
        "&repeat_bytes=128KiB",
        "&align_bytes=64KiB",
        "&stale_reads=following",
        "&stale_reads=backwards",
        "&end_bytes=67108352",
    ];
    data_survives_all(&faults, 3, &["verify"], false);
}

#[test]
fn map_preserves_data_in_a_bad_reader_behind_a_loop_device() {
    let faults = ["&flip_read_every=100", "&repeat_bytes=64KiB", "&error_ranges=30MB+100kB"];
    data_survives_all(&faults, 1, &[&["map"], parts()].concat(), true);
}

#[test]
fn check_preserves_data_in_a_bad_reader_behind_a_loop_device() {
    let faults = ["&repeat_bytes=128KiB", "&flip_read_every=100", "&end_bytes=67108352"];
    data_survives_all(&faults, 1, &["check", "--budget", "12s"], true);
}

#[test]
fn writing_verbs_report_a_reader_that_announces_too_much() {
    let home = Home::new();
    let card = "constant?announced_bytes=48MiB&state=filled&extra_sectors=1";
    let served = Served::start(&home, card, &["--no-timing"]);
    let target = served.card();
    for verb in [&["verify"][..], &["map", "--budget", "10s"], &["check", "--budget", "12s"]] {
        let outcome = home.run(&[&[verb[0], target.to_str().unwrap(), "-q"], &verb[1..]].concat()).expect(4);
        let page = outcome.one_line();
        assert!(page.contains("failed twice") && page.contains("reader"), "{verb:?}: {page}");
    }
}
