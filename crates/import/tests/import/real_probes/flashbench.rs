//! flashbench files by the table of the index: numbers of rows, and spot checks.

use super::{data, figures, log, printed};
use cardscope_model::log::CardLog;

struct Indexed<'a> {
    file: &'a str,
    other_card: bool,
    fdisk: Option<u64>,
    counts: Vec<usize>,
    checks: &'a str,
}

fn indexed(index: &str) -> Vec<Indexed<'_>> {
    let rows = index.lines().filter(|line| line.starts_with("| result_"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let counts =
            cells[6].split('/').map(|n| n.parse().expect("a count of the index is a number")).collect();
        Indexed {
            file: cells[0],
            other_card: cells[5].contains("other card"),
            fdisk: cells[4].parse().ok(),
            counts,
            checks: cells[7],
        }
    })
    .collect()
}

/// Number of rows in a table under `other.flashbench`.
fn rows(log: &CardLog, table: &str) -> usize {
    let tables = log.other.get("flashbench").and_then(|tables| tables.get(table));
    tables.and_then(|rows| rows.as_array()).map_or(0, Vec::len)
}

#[test]
fn flashbench_tables_match_the_index() {
    let Some(data) = data() else { return };
    let index = std::fs::read_to_string(data.join("INDEX.md")).unwrap();
    let indexed = indexed(&index);
    assert_eq!(indexed.len(), 38);
    for row in &indexed {
        let log = log(&data.join("flashbench"), row.file);
        let step = |begin: &str| {
            figures(&log).filter(|f| f.step.as_deref().is_some_and(|s| s.starts_with(begin))).count()
        };
        let failures = log.other.get("dd_failures").and_then(|list| list.as_array()).map_or(0, Vec::len);
        let counts = vec![
            rows(&log, "align"),
            rows(&log, "fat"),
            rows(&log, "open_au"),
            step("dd") + failures,
            step("hdparm"),
        ];
        assert_eq!(counts, row.counts, "{}", row.file);
        assert_eq!(
            row.other_card,
            log.doubts.iter().any(|d| d.contains("are from another card")),
            "{}",
            row.file
        );
        assert!(
            !row.other_card || log.card.cid.is_none() && log.other.contains_key("slot_identity"),
            "{}",
            row.file
        );
        assert!(row.fdisk.is_none() || log.card.capacity_bytes == row.fdisk, "{}", row.file);
        row.checks.split(';').for_each(|check| holds(check.trim(), &log, row.file));
    }
}

/// Asserts one spot check of the index.
fn holds(check: &str, log: &CardLog, file: &str) {
    let words: Vec<&str> = check.split_whitespace().collect();
    let number = |text: &str| -> f64 {
        text.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().expect("a check names a number")
    };
    let tables = &log.other.get("flashbench").cloned().unwrap_or_default();
    let near =
        |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-6 * wanted, "{file}: {check}: {found}");
    match words[..] {
        ["align", bytes, "(test", "1)", "diff", us] => {
            let rows = tables["align"].as_array().expect("a table of boundaries");
            let row = rows.iter().find(|r| r["align_bytes"].as_u64() == bytes.parse().ok() && r["test"] == 1);
            let row = row.expect("a row of that alignment");
            near(row["diff_us"].as_f64().expect("a difference"), number(us));
        }
        [count, "linear", "4MiB", speed] => {
            let rows = tables["open_au"].as_array().expect("a table of open units");
            let is_it = |r: &&serde_json::Value| {
                format!("AU={}", r["au_count"]) == count
                    && r["random"] == false
                    && r["block_bytes"] == 4 << 20
            };
            let mb_s =
                rows.iter().find(is_it).and_then(|row| row["mb_s"].as_f64()).expect("a row of that size");
            near(mb_s, number(speed) * if speed.ends_with("K/s") { 1e-3 } else { 1.0 });
        }
        ["hdparm", "run", "1", mib_s, "MB/sec"] => {
            near(printed(log, "SEQ2M Q1T1 read", Some("hdparm -t")), number(mib_s))
        }
        ["dd", "read", "run", _, mb_s, "MB/s"] => near(printed(log, "SEQ4M Q1T1 read", None), number(mb_s)),
        _ => panic!("{file}: {check:?} is a check that nobody knows"),
    }
}

#[test]
fn flashbench_log_with_a_megabyte_of_messages_is_read_fast() {
    let Some(data) = data() else { return };
    let start = std::time::Instant::now();
    log(&data.join("flashbench"), "result_3_2.txt");
    assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
}
