//! `verify --full` on the command line: fakes, limits, resuming, later reads, and restored data.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, MIB, with_data};
use crate::common::{number, text};
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::FileExt;

fn full(home: &Home, target: &str, more: &[&str], status: i32) -> Value {
    let mut arguments = vec!["verify", target, "--full", "--json", "--quiet", "--yes-destroy", target];
    arguments.extend(more);
    home.run(&arguments).expect(status).json()
}

#[test]
fn genuine_card_is_verified_with_a_speed_map() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=64MiB";
    let document = full(&home, card, &[], 0);
    assert_eq!(text(&document, "/verdict"), "genuine");
    for field in ["announced_bytes", "usable_bytes", "good_bytes", "proven_bytes"] {
        assert_eq!(document[field], 64 * MIB, "{field}");
    }
    assert_eq!(document["data_kept"], false);
    let cells = document["map"]["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 64);
    // 1 MiB takes 0.5 ms and the transfer at 50 MB/s.
    let mb_s = number(&document, "/map/write/mean_mb_s");
    assert!((mb_s / 48.84 - 1.0).abs() < 0.02, "{mb_s}");
    let told = home.run(&["verify", card, "--full"]).expect(0).stdout;
    assert!(
        told.starts_with("GENUINE: every byte verified (67.1 MB).\n")
            && told.contains('█')
            && told.contains("MB/s"),
        "{told}"
    );
}

#[test]
fn full_verify_detects_fakes_early() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=256MiB&fake=limbo&fake_bytes=52428800";
    let document = full(&home, card, &[], 1);
    assert_eq!((text(&document, "/verdict"), number(&document, "/usable_bytes")), ("limbo", 52_428_800.0));
    assert!(number(&document, "/bytes_written") < 200e6, "it ends early");
    assert!(document["disproofs"].as_array().is_some_and(|list| !list.is_empty()));
    let wraps = "sim:constant?announced_bytes=256MiB&fake=wraparound&wrap_bytes=52429312";
    let document = full(&home, wraps, &["--two-passes"], 1);
    assert_eq!(text(&document, "/verdict"), "wraparound");
    assert_eq!(
        (number(&document, "/wrap_bytes"), number(&document, "/usable_bytes")),
        (52_429_312.0, 52_429_312.0)
    );
}

#[test]
fn limits_give_a_valid_partial_result() {
    let home = Home::new();
    let document = full(&home, "sim:constant?announced_bytes=64MiB", &["--max-write", "20M"], 4);
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    let proven = number(&document, "/proven_bytes");
    assert!(proven > 15e6 && proven <= 20.0 * MIB as f64, "{proven}");
    assert!(number(&document, "/bytes_written") <= 20.0 * MIB as f64);
    // 64 MiB take 1.4 s in each direction.
    let document = full(&home, "sim:constant?announced_bytes=64MiB", &["--budget", "1s"], 4);
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(number(&document, "/seconds") < 1.3, "{document:#}");
    let bad = "sim:constant?announced_bytes=64MiB&fake=limbo&fake_bytes=4MiB";
    let document = full(&home, bad, &["--max-write", "30M"], 1);
    assert_eq!(
        (text(&document, "/verdict"), number(&document, "/usable_bytes")),
        ("limbo", 4.0 * MIB as f64)
    );
}

#[test]
fn later_reads_ignore_overwritten_blocks() {
    let home = Home::new();
    let card = with_data(64, &[]);
    full(&home, &card.path, &[], 0);
    let again = |status| {
        home.run(&["verify", &card.path, "--full", "--read-only", "--json", "--quiet"]).expect(status).json()
    };
    let document = again(0);
    assert_eq!((text(&document, "/verdict"), number(&document, "/bytes_written")), ("genuine", 0.0));
    let image = std::fs::File::options().write(true).open(&card.image).unwrap();
    image.write_all_at(&[7; 8192], 10 * MIB).unwrap();
    image.sync_all().unwrap();
    crate::common::machine::run_tool("blockdev", &["--flushbufs", &card.path]);
    let document = again(4);
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert_eq!(number(&document, "/good_bytes"), 64.0 * MIB as f64 - 8192.0);
    assert_eq!(number(&document, "/map/cells/10/bad_bytes"), 8192.0);
}

/// True if the pass itself, not just a sample, has reached this address.
fn written_at(card: &LoopDevice, address: u64) -> bool {
    let image = std::fs::File::open(&card.image).unwrap();
    [address, address + (64 << 10)].iter().all(|at| {
        let mut bytes = [0; 8];
        image.read_exact_at(&mut bytes, *at).unwrap();
        bytes == *b"CARDSCOP"
    })
}

#[test]
fn full_verify_resumes_on_the_same_card_only() {
    let home = Home::new();
    let card = with_data(128, &[]);
    let arguments = ["verify", &card.path, "--full", "--json", "--yes-destroy", &card.path];
    let running = home.start(&arguments);
    crate::common::until("half of it is written", || written_at(&card, 64 * MIB));
    running.signal(Signal::KILL);
    running.finish();
    card.wait_until_released();
    let document = full(&home, &card.path, &["--resume"], 0);
    assert_eq!(text(&document, "/verdict"), "genuine");
    // The other half, and up to 16 MiB again that may have been in flight.
    let again = number(&document, "/bytes_written") / MIB as f64;
    assert!(again <= 64.0 + 16.0, "{again} MiB written");
    let other = with_data(64, &[]);
    let before = other.content();
    home.run(&["verify", &other.path, "--full", "--resume", "--yes-destroy", &other.path])
        .expect(2)
        .says(&["has no data of an earlier --full"]);
    // Stamps of the first card on a card of another size.
    let copied = with_data(64, &[]);
    let bytes = &card.content()[..(64 * MIB) as usize];
    std::fs::write(&copied.image, bytes).unwrap();
    crate::common::machine::run_tool("blockdev", &["--flushbufs", &copied.path]);
    home.run(&["verify", &copied.path, "--full", "--resume", "--yes-destroy", &copied.path])
        .expect(2)
        .says(&["another card"]);
    assert!(other.content() == before, "the other card is unchanged");
}

#[test]
fn ctrl_c_keeps_partial_results() {
    let home = Home::new();
    let card = with_data(512, &[]);
    let mut running = home.start(&["verify", &card.path, "--full", "--json", "--yes-destroy", &card.path]);
    running.wait_for("plan:");
    running.signal(Signal::INT);
    let document = running.finish().expect(130).json();
    assert!(document["error"].is_string() && number(&document, "/bytes_written") > 0.0, "{document:#}");
    assert!(document["session"].is_string(), "it is in the archive");
}

#[test]
fn full_verify_restores_the_backup() {
    let home = Home::new();
    let card = with_data(32, &[]);
    let before = card.content();
    let image = home.path("backup.img");
    let document = full(&home, &card.path, &["--backup", image.to_str().unwrap()], 0);
    assert_eq!((text(&document, "/verdict"), &document["data_kept"]), ("genuine", &Value::Bool(true)));
    assert!(card.content() == before, "every byte is as before");
}

#[test]
fn contradictory_options_and_directories_are_refused() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=64MiB";
    for (more, word) in
        [(["--read-only", "--resume"], "--resume"), (["--read-only", "--two-passes"], "--two-passes")]
    {
        home.run(&[&["verify", card, "--full"], &more[..]].concat()).expect(2).says(&[word]);
    }
    let directory = home.path("");
    home.run(&["verify", directory.to_str().unwrap(), "--full"]).expect(2).says(&["--files"]);
    let device = with_data(16, &[]);
    home.run(&["verify", &device.path, "--full"]).expect(2).says(&["--yes-destroy"]);
}

/// A card that vanishes during the test gives exit status 3 with partial results.
#[test]
fn a_card_that_goes_away_leaves_a_partial_document() {
    let home = Home::new();
    for fault in
        ["faults.vanish_after_bytes=30MiB", "fake=overcommitted&fake_bytes=20MiB&fake.pool_full=dies"]
    {
        let card = format!("sim:constant?announced_bytes=64MiB&{fault}");
        let document = full(&home, &card, &[], 3);
        assert_eq!(text(&document, "/verdict"), "inconclusive", "{fault}");
        assert!(text(&document, "/error").contains("went away"), "{fault}: {document:#}");
    }
}
