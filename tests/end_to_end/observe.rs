//! `observe` on loop devices under load, idle, and removed: it does not touch the device and names the bottleneck.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{TestMount, run_tool, with_data};
use crate::common::{number, text, without_answer};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Random load on a device until dropped.
pub(crate) struct Load(Child);

impl Load {
    pub(crate) fn on(device: &str) -> Self {
        Load::of(device, &["--rw=randrw", "--time_based", "--runtime=120"])
    }

    /// Load of `kind` by fio, in blocks of 4 KiB one after the other.
    pub(crate) fn of(device: &str, kind: &[&str]) -> Self {
        let arguments = [
            "--name=load",
            &format!("--filename={device}"),
            "--bs=4k",
            "--direct=1",
            "--ioengine=psync",
            // As a thread: a process of its own would survive the killed one.
            "--thread",
        ]
        .map(str::to_owned);
        let mut fio = Command::new("fio");
        fio.args(arguments).args(kind).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Load(fio.spawn().expect("fio is needed for this test"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Numbers rounded to nine decimals, because parsing may change the last bit.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(n) => n.as_f64().map_or(Value::Null, |n| json!((n * 1e9).round() / 1e9)),
        Value::Array(all) => all.iter().map(rounded).collect(),
        Value::Object(all) => all.iter().map(|(k, v)| (k.clone(), rounded(v))).collect(),
        other => other.clone(),
    }
}

#[test]
fn watch_starts_after_the_archive_is_open() {
    let card = with_data(8, &[]);
    let home = Home::new();
    let watch = ["observe", card.path.as_str(), "--for", "1s", "--json"];
    home.run(&watch).expect(0);
    let hold = "import sqlite3, sys, time
held = sqlite3.connect(sys.argv[1])
held.execute('BEGIN EXCLUSIVE')
print(flush=True)
time.sleep(3)";
    let mut holder = Command::new("python3");
    holder.args(["-c", hold, home.archive().to_str().unwrap()]).stdout(Stdio::piped());
    let mut holder = holder.spawn().expect("python3 is needed for this test");
    holder.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let run = home.run(&watch).expect(0);
    assert!(holder.wait().unwrap().success());
    assert!(run.took > Duration::from_secs(3), "it waited for the archive: {:?}", run.took);
    let report = run.json();
    let first = &report["samples"][0];
    let before = number(first, "/uptime_seconds") - number(first, "/seconds");
    let began = number(&report, "/began_uptime_seconds");
    assert!((before - began).abs() < 1.0, "what moved before belongs to no sample: {report:#}");
}

#[test]
fn ctrl_c_ends_an_unlimited_watch_successfully() {
    let card = with_data(8, &[]);
    let home = Home::new();
    for (arguments, status, error) in [(&["--json"][..], 0, false), (&["--json", "--for", "60s"], 130, true)]
    {
        let mut watch = home.start(&[&["observe", card.path.as_str()], arguments].concat());
        watch.wait_for("watching");
        std::thread::sleep(Duration::from_millis(2300));
        watch.signal(Signal::INT);
        let report = watch.finish().expect(status).json();
        assert!((1..=4).contains(&report["samples"].as_array().unwrap().len()), "{report:#}");
        assert_eq!(report.get("error").is_some(), error, "{report:#}");
    }
}

#[test]
fn watch_is_archived_and_saved() {
    let card = with_data(8, &[]);
    let home = Home::new();
    let file = home.path("watch.json");
    let arguments = ["observe", &card.path, "--for", "2s", "--json", "--save", file.to_str().unwrap()];
    let report = home.run(&arguments).expect(0).json();
    let saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved, without_answer(report.clone()));
    let session = text(&report, "/session");
    let shown = home.run(&["archive", "show", session, "--json"]).expect(0).json();
    assert_eq!(rounded(&shown), rounded(&report));
    let page = home.run(&["archive", "show", session]).expect(0).stdout;
    assert!(page.contains("device at work"), "{page}");
    let listed = home.run(&["archive", "list", "--json"]).expect(0).json();
    assert_eq!(
        (text(&listed, "/sessions/0/kind"), text(&listed, "/sessions/0/state")),
        ("observe", "complete")
    );
}

/// Document of an earlier watch: some seconds of waiting for the card, then an idle minute.
fn start(file: &Path, busy: usize) {
    let second = |at: usize| {
        let waits = at < busy;
        json!({
            "uptime_seconds": 20 + at + 1, "seconds": 1.0, "reads": 100, "writes": 20, "read_bytes": 409_600,
            "write_bytes": 81_920, "read_mb_s": 0.4096, "write_mb_s": 0.08192, "wait_ms": 9.0,
            "utilisation": if waits { 0.99 } else { 0.02 }, "queue": 2.0, "in_flight": 1,
            "io_some": if waits { 0.95 } else { 0.01 }, "io_full": 0.0, "memory_some": 0.0, "cpu_some": 0.0,
            "cpu_busy": 0.1, "iowait": 0.5, "cpu_idle": 0.9, "steal": 0.0, "blocked": 2, "swap_bytes": 0,
            "load": 3.0, "other_utilisation": 0.0
        })
    };
    let samples: Vec<Value> = (0..busy + 60).map(second).collect();
    let report = json!({
        "target": "/dev/mmcblk0", "device": "mmcblk0", "session": null, "began_uptime_seconds": 20.0,
        "every_seconds": 1.0, "from_boot": null, "samples": samples, "partitions": [], "summary": null,
        "comparison": null, "findings": [], "caveats": []
    });
    std::fs::write(file, report.to_string()).unwrap();
}

#[test]
fn watch_compares_with_file_or_session() {
    let card = with_data(8, &[]);
    let home = Home::new();
    let old = home.path("old.json");
    start(&old, 590);
    let watch =
        |against: &str| home.run(&["observe", &card.path, "--for", "2s", "--json", "--against", against]);
    let report = watch(old.to_str().unwrap()).expect(0).json();
    let calm = &report["comparison"]["figures"][0];
    assert!(text(calm, "/what").starts_with("at rest after (now "), "two seconds tell a bound only: {calm}");
    // Busy from 20 s to 610 s after boot, averaged over five seconds.
    assert!(
        (number(calm, "/before") - 590.0).abs() <= 5.0 || (number(calm, "/before") - 610.0).abs() <= 5.0,
        "{calm}"
    );
    let session = text(&report, "/session").to_owned();
    let again = watch(&session).expect(0).json();
    assert_eq!(text(&again, "/comparison/against"), session);
    let claims: Vec<&str> = list(&again, "findings").iter().map(|f| text(f, "/claim")).collect();
    assert!(claims.contains(&"start-alike"), "{again:#}");
    let page = home.run(&["observe", &card.path, "--for", "1s", "--against", &session]).expect(0).stdout;
    assert!(page.contains("before") && page.contains("now"), "{page}");
}

fn list<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().unwrap()
}

#[test]
fn invalid_names_are_refused_before_a_watch() {
    let card = with_data(8, &[]);
    let home = Home::new();
    home.run(&["observe", "/dev/none-such", "--for", "1s"]).expect(2).says(&["/dev/none-such", "list --all"]);
    home.run(&["observe", "/etc/hostname", "--for", "1s"]).expect(2).says(&["/etc/hostname"]);
    home.run(&["observe", &card.path, "--for", "1s", "--against", "no-such"]).expect(2).says(&["no-such"]);
    let other = home.path("other.json");
    std::fs::write(&other, "{\"verdict\":\"genuine\"}").unwrap();
    let other = other.to_str().unwrap();
    home.run(&["observe", &card.path, "--for", "1s", "--against", other])
        .expect(2)
        .says(&[other, "not made by `observe`"]);
    home.run(&["observe", &card.path, "--for", "1s", "--save", "/no/such/place/x.json"])
        .expect(2)
        .says(&["/no/such/place"]);
    home.run(&["observe", &card.path, "--for", "1s", "--every", "0.01s"]).expect(2).says(&["--every"]);
    home.run(&["observe", &card.path, "--from-boot", "--against", "x"]).expect(2).says(&["--for"]);
}

#[test]
fn save_replaces_only_earlier_watches() {
    let card = with_data(8, &[]);
    let home = Home::new();
    let refused = |file: &Path, word: &str| {
        home.run(&["observe", &card.path, "--for", "1s", "--save", file.to_str().unwrap()])
            .expect(2)
            .says(&["--save", word]);
    };
    let (letter, link) = (home.path("letter.json"), home.path("link.json"));
    std::fs::write(&letter, "{\"dear\": \"aunt\"}").unwrap();
    std::os::unix::fs::symlink(&letter, &link).unwrap();
    refused(&letter, "is not a Cardscope file");
    refused(&link, "that is a link");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "{\"dear\": \"aunt\"}");
    let other = with_data(8, &[]);
    refused(Path::new(&other.path), "not a plain file");
    refused(Path::new(&card.path), "not a plain file");
    refused(Path::new("/dev/full"), "not a plain file");
    use std::os::unix::fs::FileTypeExt;
    assert!(std::fs::metadata(&other.path).unwrap().file_type().is_block_device(), "the node is still there");
    // Image file of the watched device.
    let image = std::fs::read(&card.image).unwrap();
    refused(&card.image, "loop");
    assert!(std::fs::read(&card.image).unwrap() == image);
    // An earlier watch may be replaced.
    let again = home.path("again.json");
    for _ in 0..2 {
        let name = again.to_str().unwrap();
        home.run(&["observe", &card.path, "--for", "1s", "--save", name]).expect(0);
    }
    let saved: Value = serde_json::from_slice(&std::fs::read(&again).unwrap()).unwrap();
    assert_eq!(text(&saved, "/target"), card.path);
}

#[test]
fn vanished_device_keeps_samples() {
    let mut card = with_data(8, &[]);
    let home = Home::new();
    let mut watch = home.start(&["observe", &card.path, "--for", "60s", "--json"]);
    watch.wait_for("watching");
    std::thread::sleep(Duration::from_millis(2300));
    card.detach_now();
    let outcome = watch.finish().expect(3).says(&["went away"]);
    let report = outcome.json();
    assert!((1..=4).contains(&report["samples"].as_array().unwrap().len()), "{report:#}");
    assert!(text(&report, "/error").contains("went away"));
    assert!(report["summary"].is_object());
    let kept = home.run(&["archive", "show", text(&report, "/session"), "--json"]).expect(0).json();
    assert_eq!(rounded(&kept), rounded(&report));
}

#[test]
fn watched_card_is_not_written_during_the_watch() {
    let mounted = TestMount::ext4(64);
    let device = run_tool("findmnt", &["-no", "SOURCE", mounted.path()]);
    let home = Home::new();
    let on_card = mounted.point.join("archive.sqlite");
    let saved = mounted.point.join("watch.json");
    let mut command = home.command(CARDSCOPE);
    command.args(["observe", &device, "--for", "3s", "--json", "--archive", on_card.to_str().unwrap()]);
    command.args(["--save", saved.to_str().unwrap()]);
    let mut watch = Running::of(command);
    watch.wait_for("watching");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(!on_card.exists() && !saved.exists(), "the log would be part of what is watched");
    let report = watch.finish().expect(0).json();
    assert!(on_card.exists() && saved.exists(), "it is written afterwards");
    let caveats = list(&report, "caveats");
    assert_eq!(caveats.iter().filter(|c| text(c, "/text").contains("is on")).count(), 2, "{report:#}");
}

/// Recorded machine two minutes after boot.
fn recorded(files: &[(&str, &str)]) -> (tempfile::TempDir, Outcome) {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let sysfs = dir.path().to_str().unwrap().to_owned();
    let outcome = Home::new().run(&["observe", "mmcblk0", "--from-boot", "--sysfs", &sysfs, "--json"]);
    (dir, outcome)
}

// reads merged sectors ms, writes merged sectors ms, in flight, busy ms, queue ms: Documentation/block/stat.rst.
const STAT: &str = " 9000 0 900000 54000 1000 0 100000 46000 2 96000 300000\n";

#[test]
fn from_boot_reads_counters_only() {
    let (_dir, outcome) = recorded(&[
        ("sys/block/mmcblk0/stat", STAT),
        ("sys/block/mmcblk0/size", "62333952\n"),
        ("proc/uptime", "120.00 100.00\n"),
        (
            "proc/pressure/io",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=90000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=30000000\n",
        ),
        ("proc/stat", "cpu  2000 0 1000 6000 15000 0 0 0 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nprocs_blocked 4\n"),
    ]);
    let report = outcome.expect(0).json();
    let boot = &report["from_boot"];
    assert_eq!((&boot["reads"], &boot["read_bytes"]), (&json!(9000), &json!(900_000u64 * 512)));
    assert_eq!(number(boot, "/utilisation"), 0.8);
    assert_eq!((number(boot, "/io_some"), number(boot, "/io_full")), (0.75, 0.25));
    assert_eq!(number(boot, "/wait_ms"), 10.0);
    assert_eq!((number(boot, "/cpu_busy"), number(boot, "/iowait")), (0.125, 0.625));
    assert_eq!(boot["blocked"], 4);
    assert!(report["samples"].as_array().unwrap().is_empty() && report["summary"].is_null());
}

#[test]
fn kernel_without_psi_gets_a_caveat() {
    let (dir, outcome) = recorded(&[("sys/block/mmcblk0/stat", STAT), ("proc/uptime", "120.00 100.00\n")]);
    let report = outcome.expect(0).json();
    assert!(report["from_boot"]["io_some"].is_null() && report["from_boot"]["cpu_busy"].is_null());
    assert!(text(&report, "/caveats/0/text").contains("psi=1"), "{report:#}");
    let sysfs = dir.path().to_str().unwrap();
    let home = Home::new();
    home.run(&["observe", "mmcblk0", "--from-boot", "--for", "1s", "--sysfs", sysfs])
        .expect(2)
        .says(&["does not change over time"]);
}
