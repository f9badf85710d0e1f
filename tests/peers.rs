//! The tools of others on the same targets: fio must come to the same speeds, f3probe must find the fake out, and
//! the kernel's own file systems must be able to live on a served card. The table of ±2 % is made by a bench on a
//! quiet machine; here ±5 % must hold on a busy one too.
#![allow(clippy::unwrap_used, reason = "what tests share fails by panicking, as they do")]

mod common;

use common::binary::{Home, sessions_in};
use common::machine::{Loop, MIB, Mounted, attempt, tool};
use common::served::Served;
use common::{number, result};
use rustix::process::Signal;
use serde_json::Value;

/// A card of fixed times, 8 ms a command and 32 at once: what the computer adds to each is small beside it.
const CARD: &str = "constant?command_s=0.008&mb_s=200&depth=32";
/// Attempts that a busy machine is granted.
const ATTEMPTS: usize = 5;

/// A pattern as both tools know it.
struct Pattern {
    name: &'static str,
    block: &'static str,
    rw: &'static str,
    depth: &'static str,
    jobs: &'static str,
}

/// What fio measures in three seconds, in MB/s.
fn fio(device: &str, pattern: &Pattern) -> f64 {
    let option = |name: &str, value: &str| format!("--{name}={value}");
    let told = tool(
        "fio",
        &[
            "--name=peer",
            "--direct=1",
            "--ioengine=io_uring",
            "--time_based",
            "--runtime=3",
            "--size=64M",
            "--norandommap",
            "--group_reporting",
            "--output-format=json",
            &option("filename", device),
            &option("rw", pattern.rw),
            &option("bs", pattern.block),
            &option("iodepth", pattern.depth),
            &option("numjobs", pattern.jobs),
        ],
    );
    let from = told.find('{').unwrap_or_else(|| panic!("no JSON from fio: {told}"));
    let document: Value = serde_json::from_str(&told[from..]).unwrap();
    let side = if pattern.rw.ends_with("read") { "read" } else { "write" };
    number(&document, &format!("/jobs/0/{side}/bw_bytes")) / 1e6
}

/// The same by Cardscope.
fn ours(home: &Home, device: &str, pattern: &Pattern) -> f64 {
    let tests = format!(
        "[defaults]\nseconds = 3\nflush = \"none\"\nsharing = \"same\"\nrandom = \"uniform\"\n[[test]]\ntest = \"{}\"\n",
        pattern.name
    );
    let recipe = home.recipe("size = \"64MiB\"\nprepare = false", &tests);
    let outcome =
        home.run(&["bench", device, "--recipe", &recipe, "--yes-destroy", device, "--json"]).expect(0);
    number(result(&outcome.json(), pattern.name), "/mb_s")
}

/// Compares both on a served card, one after the other, until they agree or the attempts are used up.
fn agree(patterns: &[Pattern]) {
    let home = Home::new();
    let served = Served::start(&home, CARD, &[]);
    let device = Loop::over(&served.card(), &["--direct-io=on"]);
    for pattern in patterns {
        let mut seen = Vec::new();
        let agreed = (0..ATTEMPTS).any(|_| {
            let (theirs, mine) = (fio(&device.path, pattern), ours(&home, &device.path, pattern));
            println!(
                "{}: fio {theirs:.3} MB/s, cardscope {mine:.3} MB/s, ratio {:.3}",
                pattern.name,
                mine / theirs
            );
            seen.push((theirs, mine));
            (mine / theirs - 1.0).abs() <= 0.05
        });
        assert!(
            agreed,
            "{}: fio and cardscope differ by more than 5 % each time (MB/s): {seen:?}",
            pattern.name
        );
    }
    assert!(!sessions_in(&home.archive()).is_empty());
}

#[test]
fn fio_and_cardscope_read_at_the_same_speed() {
    agree(&[
        Pattern { name: "RND4K Q1T1 read", block: "4k", rw: "randread", depth: "1", jobs: "1" },
        Pattern { name: "RND4K Q32T1 read", block: "4k", rw: "randread", depth: "32", jobs: "1" },
        Pattern { name: "RND4K Q1T8 read", block: "4k", rw: "randread", depth: "1", jobs: "8" },
        Pattern { name: "SEQ1M Q8T1 read", block: "1m", rw: "read", depth: "8", jobs: "1" },
    ]);
}

#[test]
fn fio_and_cardscope_write_at_the_same_speed() {
    agree(&[
        Pattern { name: "RND4K Q1T1 write", block: "4k", rw: "randwrite", depth: "1", jobs: "1" },
        Pattern { name: "RND4K Q32T1 write", block: "4k", rw: "randwrite", depth: "32", jobs: "1" },
        Pattern { name: "RND4K Q1T8 write", block: "4k", rw: "randwrite", depth: "1", jobs: "8" },
        Pattern { name: "SEQ1M Q8T1 write", block: "1m", rw: "write", depth: "8", jobs: "1" },
    ]);
}

/// What f3probe 8 says of a served card; its exit status tells the kind of fake.
fn f3probe(name: &str) -> String {
    let home = Home::new();
    let served = Served::start(&home, name, &["--no-timing"]);
    let card = Loop::over(&served.card(), &["--direct-io=on"]);
    let output = attempt("f3probe", &["--destructive", "--time-ops", &card.path]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn f3probe_finds_the_52_gb_in_the_fake_terabyte_of_seed_001() {
    let told = f3probe("sandian-1tb-52g");
    assert!(told.contains("counterfeit of type limbo"), "{told}");
    // "*Usable* size: 48.43 GB (101562504 blocks)": its GB are GiB.
    let line = told.lines().find(|l| l.contains("*Usable* size")).unwrap_or_else(|| panic!("{told}"));
    let blocks: f64 = line.split(['(', ' ']).filter_map(|word| word.parse().ok()).next_back().unwrap();
    assert!((blocks * 512.0 / 52e9 - 1.0).abs() < 0.01, "{told}");
}

#[test]
fn f3probe_tells_the_kinds_of_fakes_apart_and_a_genuine_card_from_them() {
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

#[test]
fn a_file_system_on_a_served_card_keeps_what_is_written() {
    let home = Home::new();
    let mut served = Served::start(&home, "lexar-16g-c10", &["--no-timing"]);
    let card = Loop::over(&served.card(), &["--direct-io=on"]);
    let films: Vec<u8> = (0..8 * MIB).map(|n| ((n * n) >> 7) as u8).collect();
    tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = Mounted::new(&[], &card.path);
    std::fs::write(mounted.point.join("films"), &films).unwrap();
    drop(mounted);
    tool("blockdev", &["--flushbufs", &card.path]);
    tool("e2fsck", &["-f", "-n", &card.path]);
    let again = Mounted::new(&["-o", "ro"], &card.path);
    assert!(std::fs::read(again.point.join("films")).unwrap() == films);
    drop(again);
    // Not every kernel can mount it; its own check reads all of it back.
    tool("mkfs.vfat", &["-F", "32", &card.path]);
    tool("blockdev", &["--flushbufs", &card.path]);
    tool("fsck.vfat", &["-n", &card.path]);
    drop(card);
    served.stop(Signal::TERM).expect(0);
}

#[test]
fn a_served_card_takes_the_time_that_its_archetype_says() {
    let home = Home::new();
    let served = Served::start(&home, "constant?command_s=0.008&mb_s=10", &[]);
    let card = served.card();
    let card = card.to_str().unwrap();
    // 64 blocks of 64 KiB, each 8 ms and 64 KiB at 10 MB/s: 0.93 s. A busy machine makes it longer, nothing shorter.
    let before = std::time::Instant::now();
    tool("dd", &[&format!("if={card}"), "of=/dev/null", "bs=64k", "count=64", "iflag=direct"]);
    let took = before.elapsed().as_secs_f64();
    let expected = 64.0 * (0.008 + 65536.0 / 10e6);
    assert!((expected * 0.99..expected * 1.5).contains(&took), "{took:.3} s and not {expected:.3} s");
}
