//! Cardscope and f3probe on the same fakes: the quick probe in virtual time and on the same card served in real time
//! as a loop device, and f3probe on that device.
//!
//! `UPDATE_DOCS=1 CARDSCOPE_LONG=1 cargo test --profile long -p cardscope --test end_to_end geometries::` runs all of
//! them and writes the table in `docs/accuracy.md`. Otherwise a few are run.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, try_tool};
use crate::common::served::Served;
use serde_json::Value;
use std::fmt::Write;

/// Description, card, and real bytes. The first eleven are the geometries of f3's own unit test (except for block
/// sizes), the next two those that f3 8 and 10 get wrong.
const GEOMETRIES: &[(&str, &str, &str, u64)] = &[
    ("good, 2 MiB", "announced_bytes=2MiB", "genuine", 2 << 20),
    ("good, 1 GiB", "announced_bytes=1GiB", "genuine", 1 << 30),
    ("bad, 4 GiB", "announced_bytes=4GiB&fake=limbo&fake_bytes=0", "dead", 0),
    (
        "limbo, 1.66 of 30.3 GiB",
        "announced_bytes=32505331712&fake=limbo&fake_bytes=1777645568",
        "limbo",
        1_777_645_568,
    ),
    (
        "wraparound, 2 of 16 GiB",
        "announced_bytes=16GiB&fake=wraparound&wrap_bytes=2GiB",
        "wraparound",
        2 << 30,
    ),
    (
        "chain, 2 of 16 GiB, 2^32",
        "announced_bytes=16GiB&fake=chain&fake_bytes=2GiB&wrap_bytes=4GiB",
        "chain",
        2 << 30,
    ),
    ("limbo, 1 MiB + 512 of 1 TiB", "announced_bytes=1TiB&fake=limbo&fake_bytes=1049088", "limbo", 1_049_088),
    (
        "limbo, 7.1 of 62.5 GiB",
        "announced_bytes=67108864000&fake=limbo&fake_bytes=7600799744",
        "limbo",
        7_600_799_744,
    ),
    ("0 bytes of 1 TiB", "announced_bytes=1TiB&fake=limbo&fake_bytes=0", "dead", 0),
    (
        "last 0.5 % missing",
        "announced_bytes=62534712320&fake=limbo&fake_bytes=62223319040",
        "limbo",
        62_223_319_040,
    ),
    (
        "32 GiB + 16 KiB announced",
        "announced_bytes=34359754752&fake=limbo&fake_bytes=7600799744",
        "limbo",
        7_600_799_744,
    ),
    (
        "wraparound, 625 000 448 sectors",
        "announced_bytes=2000398934016&fake=wraparound&wrap_bytes=320000229376",
        "wraparound",
        320_000_229_376,
    ),
    (
        "chain, 1 GiB, every 3 GB",
        "announced_bytes=16GiB&fake=chain&fake_bytes=1GiB&wrap_bytes=3000000000",
        "chain",
        1 << 30,
    ),
    (
        "holes, a quarter",
        "announced_bytes=16GiB&fake=damaged&damaged_share=0.25&damaged_unit_bytes=2GiB&seed=2",
        "damaged",
        0,
    ),
    (
        "late failure",
        "announced_bytes=8GiB&faults.lost_share=0.2&faults.begin_after_bytes=100MiB",
        "damaged",
        0,
    ),
    ("flipped bits", "announced_bytes=8GiB&faults.flip_p=0.00002", "damaged", 0),
];

/// Caches of a fake: none, or so many bytes, which answer only for their own address (strict) or for any address of
/// their place (loose).
const CACHES: &[(&str, &str)] = &[
    ("none", ""),
    ("4 MiB strict", "&cache_bytes=4MiB"),
    ("4 MiB loose", "&cache_bytes=4MiB&lost=stale"),
    ("64 MiB strict", "&cache_bytes=64MiB"),
    ("64 MiB loose", "&cache_bytes=64MiB&lost=stale"),
    ("256 MiB strict", "&cache_bytes=256MiB"),
    ("256 MiB loose", "&cache_bytes=256MiB&lost=stale"),
    ("2 GiB strict, --thorough", "&cache_bytes=2GiB"),
    ("2 GiB loose, --thorough", "&cache_bytes=2GiB&lost=stale"),
];

/// Geometries that are also tested with `--thorough`.
const THOROUGH: &[&str] = &["bad, 4 GiB", "limbo, 7.1 of 62.5 GiB"];

/// Cases that no probe can decide, with the reason.
const LIMITS: &[(&str, &str)] = &[
    ("bad, 4 GiB|2 GiB loose, --thorough", SAME_THING),
    ("holes, a quarter|64 MiB strict", CACHED_HOLE),
    ("holes, a quarter|64 MiB loose", CACHED_HOLE),
    ("holes, a quarter|256 MiB strict", CACHED_HOLE),
    ("holes, a quarter|256 MiB loose", CACHED_HOLE),
];
const SAME_THING: &str = "a memory that gives any address the content of its place is addresses that repeat";
const CACHED_HOLE: &str =
    "the cache keeps all that was written into the holes: such a card really keeps the test";

/// Row of the table.
struct Case {
    what: &'static str,
    cache: &'static str,
    name: String,
    verdict: &'static str,
    usable: u64,
}

impl Case {
    fn thorough(&self) -> bool {
        self.cache.contains("thorough")
    }

    fn limit(&self) -> Option<&'static str> {
        let name = format!("{}|{}", self.what, self.cache);
        LIMITS.iter().find(|(which, _)| *which == name).map(|(_, why)| *why)
    }

    /// True if verdict and usable bytes are right, or cannot be known.
    fn is_right(&self, report: &Value) -> bool {
        let usable = report["usable_bytes"].as_u64();
        let near = usable.map_or(self.verdict == "damaged", |bytes| bytes.abs_diff(self.usable) <= 1 << 20);
        report["verdict"] == self.verdict && near
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (what, card, verdict, usable) in GEOMETRIES {
        let loses = ["limbo", "chain", "damaged"].iter().any(|kind| card.contains(kind));
        for (cache, keys) in CACHES.iter().take(if loses { CACHES.len() } else { 1 }) {
            // Each moves 13 GB through the kernel, so two are enough; the probe's own tests have all.
            if keys.contains("2GiB") && !THOROUGH.contains(what) {
                continue;
            }
            let name = format!("constant?{card}{keys}");
            cases.push(Case { what, cache, name, verdict, usable: *usable });
        }
    }
    cases
}

fn verify(home: &Home, target: &str, case: &Case) -> Value {
    let mut arguments =
        vec!["verify", target, "--erase", "--yes-destroy", target, "--json", "--quiet", "--seed", "7"];
    if case.thorough() {
        arguments.push("--thorough");
    }
    home.run(&arguments).json()
}

/// Kind and usable bytes by f3probe.
fn f3probe(device: &str) -> (String, Option<u64>) {
    let output = try_tool("f3probe", &["--destructive", "--time-ops", device]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let kind = match told.lines().find(|l| l.starts_with("Good news") || l.starts_with("Bad news")) {
        Some(line) if line.starts_with("Good") => "good".to_owned(),
        Some(line) => line.split("of type ").nth(1).map_or_else(
            || if line.contains("damaged") { "damaged".to_owned() } else { line.to_owned() },
            |kind| kind.to_owned(),
        ),
        None => "no answer".to_owned(),
    };
    let line = told.lines().find(|l| l.contains("*Usable* size"));
    let blocks = line.and_then(|l| l.split(['(', ' ']).filter_map(|w| w.parse::<u64>().ok()).next_back());
    (kind, blocks.map(|blocks| blocks * 512))
}

fn served_on_loop(home: &Home, case: &Case) -> (Served, LoopDevice) {
    let served = Served::start(home, &case.name, &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    (served, card)
}

#[test]
fn loop_device_and_virtual_time_agree() {
    let wanted =
        ["limbo, 7.1 of 62.5 GiB", "wraparound, 2 of 16 GiB", "good, 1 GiB", "chain, 1 GiB, every 3 GB"];
    for case in
        cases().iter().filter(|c| wanted.contains(&c.what) && ["none", "4 MiB loose"].contains(&c.cache))
    {
        let home = Home::new();
        let (_served, card) = served_on_loop(&home, case);
        let report = verify(&home, &card.path, case);
        assert!(case.is_right(&report), "{} with cache {}: {report:#}", case.what, case.cache);
    }
}

#[test]
fn fake_geometries_are_detected_in_virtual_time() {
    for case in cases().iter().filter(|case| case.cache == "none") {
        let report = verify(&Home::new(), &format!("sim:{}", case.name), case);
        assert!(case.is_right(&report), "{}: {report:#}", case.what);
    }
}

#[test]
fn fake_geometries_are_compared_with_f3probe() {
    if !std::env::var("CARDSCOPE_LONG").is_ok_and(|value| !value.is_empty()) {
        eprintln!("all geometries through the kernel, with f3probe beside: part of ./check --long");
        return;
    }
    let mut table = "| card | cache | virtual time | loop device | written | f3probe 8 | written |\n| --- | --- | --- | --- | ---: | --- | ---: |\n".to_owned();
    let mut wrong = Vec::new();
    for case in cases() {
        let home = Home::new();
        let virtual_time = verify(&home, &format!("sim:{}", case.name), &case);
        let (_served, card) = served_on_loop(&home, &case);
        let real_time = verify(&home, &card.path, &case);
        drop(card);
        drop(_served);
        let (served, card) = served_on_loop(&home, &case);
        let (kind, usable) = f3probe(&card.path);
        let f3_written = served.document("counters.json")["written_bytes"].as_u64().unwrap_or(0);
        for (how, report) in [("virtual", &virtual_time), ("loop", &real_time)] {
            if !case.is_right(report) && case.limit().is_none() {
                wrong.push(format!("{}, cache {}, {how}: {report:#}", case.what, case.cache));
            }
        }
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {:.0} MB | {} | {:.0} MB |",
            case.what,
            case.cache,
            answer(&case, &virtual_time),
            answer(&case, &real_time),
            real_time["bytes_written"].as_u64().unwrap_or(0) as f64 / 1e6,
            peer(&case, &kind, usable),
            f3_written as f64 / 1e6
        );
        eprintln!("{}", table.lines().last().unwrap_or_default());
    }
    publish(&table);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn answer(case: &Case, report: &Value) -> String {
    let mark = match (case.is_right(report), case.limit()) {
        (true, _) => String::new(),
        (false, Some(why)) => format!("**wrong** ({why}): "),
        (false, None) => "**wrong**: ".to_owned(),
    };
    let usable = report["usable_bytes"].as_u64().map(|b| format!(", {b}")).unwrap_or_default();
    format!("{mark}{}{usable}", report["verdict"].as_str().unwrap_or("none"))
}

/// True kind in f3's terms. It calls cards that keep nothing damaged, and has no other term for holes and flipped bits.
fn peer(case: &Case, kind: &str, usable: Option<u64>) -> String {
    let expected = match case.verdict {
        "genuine" => "good",
        "dead" => "damaged",
        other => other,
    };
    let near = case.verdict == "damaged" || usable.is_none_or(|b| b.abs_diff(case.usable) <= 1 << 20);
    let mark = if kind == expected && near { "" } else { "**wrong**: " };
    format!("{mark}{kind}{}", usable.map(|b| format!(", {b}")).unwrap_or_default())
}

/// Writes the table between its marks in `docs/accuracy.md`.
fn publish(table: &str) {
    if std::env::var_os("UPDATE_DOCS").is_none() {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accuracy.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- geometries -->\n", "<!-- /geometries -->");
    let from = page.find(begin).expect("the page has the mark") + begin.len();
    let to = page.find(end).expect("the page has the end mark");
    std::fs::write(path, format!("{}\n{table}\n{}", &page[..from], &page[to..])).unwrap();
}
