//! Timing of served cards: fio measures the model's times through the kernel and over NBD, and the server reports its
//! own lag and cards too fast for the machine.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, run_tool};
use crate::common::nbd::Nbd;
use crate::common::served::Served;
use crate::common::{number, result, turns};
use rustix::process::Signal;
use serde_json::Value;

/// Attempts on a busy machine.
const ATTEMPTS: usize = 5;

/// Median latency in µs of single 4 KiB reads by fio.
fn fio_median(way: &[String], seconds: u32) -> f64 {
    fio_percentiles(way, seconds)[PERCENTILES.len() / 2]
}

/// Latency of a card with constant read time: the middle of the narrowest range with a quarter of the reads. Other
/// load scatters some reads and shifts a median, but undisturbed reads stay together.
fn fio_constant(way: &[String], seconds: u32) -> f64 {
    let latencies = fio_percentiles(way, seconds);
    let ranges = latencies.windows(6).map(|range| (range[5] - range[0], (range[0] + range[5]) / 2.0));
    ranges.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(f64::NAN, |(_, middle)| middle)
}

/// Every fifth percentile; fio accepts 20 at most.
const PERCENTILES: [u32; 19] = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95];

/// Options of fio for a file or block device.
fn through_the_kernel(file: &str) -> [String; 4] {
    ["--direct=1".into(), "--ioengine=psync".into(), "--size=256M".into(), format!("--filename={file}")]
}

/// Percentiles of the latency in µs.
fn fio_percentiles(way: &[String], seconds: u32) -> [f64; PERCENTILES.len()] {
    let list =
        format!("--percentile_list={}", PERCENTILES.map(|percentile| percentile.to_string()).join(":"));
    let runtime = format!("--runtime={seconds}");
    let mut options = vec!["--name=served", "--rw=randread", "--bs=4k", "--time_based"];
    options.extend(["--output-format=json", &list, &runtime]);
    options.extend(way.iter().map(String::as_str));
    let told = run_tool("fio", &options);
    let document: Value =
        serde_json::from_str(&told[told.find('{').unwrap_or_else(|| panic!("{told}"))..]).unwrap();
    let at = |percentile| format!("/jobs/0/read/clat_ns/percentile/{percentile}.000000");
    PERCENTILES.map(|percentile| number(&document, &at(percentile)) / 1e3)
}

/// Measures until the result is within 5 % or the attempts are used up.
#[track_caller]
fn within_5_percent(expected: f64, mut measure: impl FnMut() -> f64) {
    let mut seen = Vec::new();
    let agreed = (0..ATTEMPTS).any(|_| {
        seen.push(measure());
        seen.last().is_some_and(|found| (found / expected - 1.0).abs() <= 0.05)
    });
    println!("{seen:.1?} µs, expected {expected:.1}");
    assert!(agreed, "{seen:.1?} µs, and not {expected:.1} within 5 %");
}

#[test]
fn served_card_keeps_its_model_times() {
    let _alone = turns::alone();
    let home = Home::new();
    let served = Served::start(&home, "constant?command_s=0.008&mb_s=10", &[]);
    let card = served.card();
    let card = card.to_str().unwrap();
    // 64 blocks of 64 KiB with 8 ms and 10 MB/s each take 0.93 s. Other load can only add to that.
    let before = std::time::Instant::now();
    run_tool("dd", &[&format!("if={card}"), "of=/dev/null", "bs=64k", "count=64", "iflag=direct"]);
    let took = before.elapsed().as_secs_f64();
    let expected = 64.0 * (0.008 + 65536.0 / 10e6);
    assert!((expected * 0.99..expected * 1.5).contains(&took), "{took:.3} s and not {expected:.3} s");
}

#[test]
fn fio_measures_the_latency_of_served_cards() {
    let _alone = turns::alone();
    let home = Home::new();
    // 50 µs a command is the shortest supported time, and includes 4 KiB at 4 GB/s.
    for (command_s, expected) in [("0.0005", 501.0), ("0.000049", 50.0)] {
        // Mounting measures the path through the kernel, and load at that time would spoil every attempt.
        within_5_percent(expected, || {
            let served = Served::start(&home, &format!("constant?command_s={command_s}&mb_s=4096"), &[]);
            fio_constant(&through_the_kernel(served.card().to_str().unwrap()), 2)
        });
    }
}

#[test]
fn fio_over_nbd_measures_the_card_latency() {
    let _quiet = turns::quiet();
    let home = Home::new();
    let card = "constant?announced_bytes=32MiB&command_s=0.004&mb_s=100";
    let nbd = Nbd::start(&home, &[card], "127.0.0.1:0", &[]);
    let way = ["--ioengine=nbd".into(), format!("--uri={}", nbd.uri(0))];
    let expected = 4000.0 + 4096.0 / 100.0;
    let medians = [(); 3].map(|()| fio_median(&way, 3));
    let best = medians.into_iter().fold(f64::INFINITY, f64::min);
    assert!((best / expected - 1.0).abs() < 0.05, "{medians:?} µs and not {expected}");
}

#[test]
fn served_random_reads_match_virtual_time() {
    let _alone = turns::alone();
    let home = Home::new();
    let name = "sandisk-extremepro-32g-a1";
    let tests = "[defaults]\nseconds = 3\nrandom = \"uniform\"\n[[test]]\ntest = \"RND4K Q1T1 read\"\n";
    let recipe = home.recipe("size = \"256MiB\"\nprepare = false", tests);
    let outcome = home.run(&["bench", &format!("sim:{name}"), "--recipe", &recipe, "--json"]).expect(0);
    let virtual_us = 4096.0 / number(result(&outcome.json(), "RND4K Q1T1 read"), "/mb_s");
    within_5_percent(virtual_us, || {
        let served = Served::start(&home, name, &[]);
        fio_median(&through_the_kernel(served.card().to_str().unwrap()), 2)
    });
}

#[test]
fn a_loop_device_adds_less_than_60_us_to_a_card_of_a_millisecond() {
    let _alone = turns::alone();
    let home = Home::new();
    let served = Served::start(&home, "constant?command_s=0.001&mb_s=4096", &[]);
    let device = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let mut added = Vec::new();
    let is_near = (0..ATTEMPTS).any(|_| {
        added.push(fio_constant(&through_the_kernel(&device.path), 1) - 1001.0);
        added.last().is_some_and(|us| *us < 60.0)
    });
    println!("{added:.1?} µs");
    assert!(is_near, "{added:.1?} µs");
}

#[test]
fn server_reports_its_lag() {
    let home = Home::new();
    let mut served = Served::start(&home, "constant?command_s=0.001", &["--json"]);
    fio_median(&through_the_kernel(served.card().to_str().unwrap()), 1);
    let live = served.document("counters.json");
    let outcome = served.stop(Signal::TERM).expect(0).says(&["lag: p50 ", " µs, p99 ", " commands"]);
    let document = outcome.json();
    let card = &document["cards"][0];
    assert_eq!(card["target"], "sim:constant?command_s=0.001");
    assert!(number(card, "/reads") > 300.0 && number(card, "/reads") >= number(&live, "/reads"), "{card:#}");
    assert_eq!(card["lag"]["answers"], card["reads"]);
    let (p50, p99) = (number(card, "/lag/all_us/p50"), number(card, "/lag/all_us/p99"));
    assert!(p50 <= p99 && p99 <= number(card, "/lag/all_us/max"), "{card:#}");
    assert!((0.0..0.5).contains(&number(card, "/lag/later_than_1_ms")), "{card:#}");
}

#[test]
fn a_card_too_fast_for_any_kernel_warns_of_its_lag() {
    let home = Home::new();
    // Commands take no time, so every answer is late by the path through the kernel.
    let options = ["--without", "allowance,spinner,priority,inline,latency-hold"];
    let mut served = Served::start(&home, "constant?command_s=0&mb_s=100000", &options);
    run_tool(
        "fio",
        &[
            "--name=x",
            "--rw=randread",
            "--bs=1m",
            "--direct=1",
            "--ioengine=libaio",
            "--iodepth=32",
            "--size=1G",
            "--runtime=2",
            "--time_based",
            &format!("--filename={}", served.card().display()),
        ],
    );
    let outcome = served.stop(Signal::TERM).expect(0);
    outcome.says(&["warning", "answered late", "virtual time"]);
}

#[test]
fn unknown_serving_measure_is_refused() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().to_str().unwrap();
    home.run(&["sim", "serve", "constant", "--mount", place, "--without", "magic"]).expect(2).says(&[
        "latency-hold",
        "spinner",
        "allowance",
    ]);
}
