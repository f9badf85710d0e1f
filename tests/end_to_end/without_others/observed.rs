//! Counts of `observe`, idle and under load, equal those of the kernel. Other tests must not run, because listing all
//! devices reads this one, too.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, run_tool, with_data};
use crate::common::{number, text, turns};
use crate::observe::Load;
use serde_json::Value;
use std::time::Duration;

fn sum(report: &Value, field: &str) -> u64 {
    report["samples"].as_array().unwrap().iter().map(|s| s[field].as_u64().unwrap()).sum()
}

/// Completed reads and writes by the kernel's counters.
fn counted(device: &LoopDevice) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    let field: Vec<u64> = stat.split_whitespace().map(|f| f.parse().unwrap()).collect();
    (field[0], field[4])
}

#[test]
fn observe_causes_no_io() {
    let _alone = turns::alone();
    let card = with_data(16, &[]);
    // Lets udev examine the new device first.
    run_tool("blockdev", &["--flushbufs", &card.path]);
    std::thread::sleep(Duration::from_millis(500));
    let before = counted(&card);
    let home = Home::new();
    let report = home.run(&["observe", &card.path, "--for", "3s", "--json"]).expect(0).json();
    assert_eq!(counted(&card), before, "watching costs the card nothing");
    let samples = report["samples"].as_array().unwrap();
    assert!((2..=3).contains(&samples.len()), "{report:#}");
    assert_eq!((sum(&report, "reads"), sum(&report, "writes")), (0, 0));
    assert_eq!(report["summary"]["utilisation"], 0.0);
    let seconds: f64 = samples.iter().map(|s| number(s, "/seconds")).sum();
    assert!((3.0..5.0).contains(&seconds), "{report:#}");
    assert!(report.get("error").is_none());
    assert_ne!(text(&report, "/summary/bottleneck"), "card");
}

#[test]
fn observe_counts_match_the_kernel() {
    let _alone = turns::alone();
    let card = with_data(64, &[]);
    let load = Load::on(&card.path);
    std::thread::sleep(Duration::from_millis(700));
    let before = counted(&card);
    let report = Home::new().run(&["observe", card.name(), "--for", "4s", "--json"]).expect(0).json();
    let after = counted(&card);
    drop(load);
    let (reads, writes) = (sum(&report, "reads"), sum(&report, "writes"));
    assert!(reads > 100 && writes > 100, "{report:#}");
    assert!(reads <= after.0 - before.0 && writes <= after.1 - before.1);
    // fio uses 4 KiB, and nothing else does I/O. The kernel counts an I/O and its bytes one after the other, so at
    // both ends of the watch they may differ by one.
    for (bytes, ios) in [(sum(&report, "read_bytes"), reads), (sum(&report, "write_bytes"), writes)] {
        assert!(bytes.abs_diff(ios * 4096) <= 2 * 4096, "{bytes} bytes in {ios} I/Os");
    }
    assert_eq!(report["summary"]["small_share"], 1.0);
    assert_eq!(report["summary"]["reads"], reads);
    let summary = &report["summary"];
    assert!(number(summary, "/utilisation") > 0.05, "{summary}");
    for sample in report["samples"].as_array().unwrap() {
        let mb_s = sample["read_bytes"].as_f64().unwrap() / number(sample, "/seconds") / 1e6;
        assert!((number(sample, "/read_mb_s") - mb_s).abs() < 0.01, "{sample}");
        assert!((0.0..=1.0).contains(&number(sample, "/utilisation")), "{sample}");
    }
    let finding = report["findings"].as_array().unwrap().iter().find(|f| f["claim"] == "bottleneck").unwrap();
    assert!(!finding["evidence"].as_array().unwrap().is_empty());
}
