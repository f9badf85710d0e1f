//! Tools that detect fakes, on served cards: f3probe finds kind and size, f3write and f3read lose what does not fit,
//! and a genuine card passes.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, TestMount, run_tool, try_tool};
use crate::common::served::Served;

/// Output of f3probe 8 for a served card; its exit status encodes the kind of fake.
fn f3probe(name: &str) -> String {
    let home = Home::new();
    let served = Served::start(&home, name, &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let output = try_tool("f3probe", &["--destructive", "--time-ops", &card.path]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn f3probe_finds_52_gb_in_the_fake_terabyte() {
    let told = f3probe("sandian-1tb-52g");
    assert!(told.contains("counterfeit of type limbo"), "{told}");
    // "*Usable* size: 48.43 GB (101562504 blocks)": its GB are GiB.
    let line = told.lines().find(|l| l.contains("*Usable* size")).unwrap_or_else(|| panic!("{told}"));
    let blocks: f64 = line.split(['(', ' ']).filter_map(|word| word.parse().ok()).next_back().unwrap();
    assert!((blocks * 512.0 / 52e9 - 1.0).abs() < 0.01, "{told}");
}

#[test]
fn f3probe_recognizes_kinds_of_served_fakes() {
    // f3probe shows GiB as GB. It writes 2 GiB in a row to get past a cache, so a shorter wrap looks damaged to it.
    let told = f3probe("constant?announced_bytes=64GiB&fake=wraparound&wrap_bytes=8GiB");
    assert!(
        told.contains("counterfeit of type wraparound") && told.contains("8.00 GB (16777216 blocks)"),
        "{told}"
    );
    let told = f3probe("constant?announced_bytes=1GiB&fake=limbo&fake_bytes=300MiB");
    assert!(
        told.contains("counterfeit of type limbo") && told.contains("300.00 MB (614400 blocks)"),
        "{told}"
    );
    let told = f3probe("constant?announced_bytes=1GiB");
    assert!(told.contains("Good news"), "{told}");
}

/// Fills a file system on a served card with f3write; returns the output of f3read.
fn f3(name: &str) -> String {
    let home = Home::new();
    let served = Served::start(&home, name, &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    // Without a journal, and the tables made at once: what the file system itself writes stays at the start.
    run_tool(
        "mkfs.ext4",
        &["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=0", &card.path],
    );
    let mounted = TestMount::new(&[], &card.path);
    run_tool("f3write", &["--end-at=2", mounted.path()]);
    drop(mounted);
    run_tool("blockdev", &["--flushbufs", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    let output = try_tool("f3read", &["--end-at=2", mounted.path()]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Number and unit after a label in f3read's table.
fn line<'a>(told: &'a str, word: &str) -> &'a str {
    let line = told.lines().find(|l| l.trim_start().starts_with(word));
    line.and_then(|l| l.split_once(':')).unwrap_or_else(|| panic!("no {word} in {told}")).1.trim()
}

#[test]
fn f3_passes_a_genuine_card() {
    let told = f3("constant?announced_bytes=1GiB");
    for word in ["Corrupted", "Slightly changed", "Overwritten"] {
        assert!(line(&told, word).starts_with("0.00 Byte (0 sectors)"), "{told}");
    }
    assert!(line(&told, "Data OK").contains("MB"), "{told}");
}

#[test]
fn f3_detects_a_limbo_card() {
    // Half of it is lost: ext4's groups and their tables, spread over the card, read as zeros there too, so it is the
    // data of f3's files in the upper half that must be missing.
    let told = f3("constant?announced_bytes=1GiB&fake=limbo&fake_bytes=768MiB");
    let lost: f64 = line(&told, "Data LOST").split(' ').next().unwrap().parse().unwrap();
    assert!(line(&told, "Data LOST").contains("MB"), "{told}");
    assert!((lost - 256.0).abs() < 40.0, "256 MiB do not fit: {told}");
}
