//! mfst: the statistics of its endurance test (`--stats-file`), with a row about every minute.
//!
//! Column headings are the program's (mfst.c); rates are in bytes a second over the row's interval. This time includes the
//! making and comparing of data, and the block size is not in the file, so the log has no figure of a test, only the
//! course of the endurance test.

use crate::readers::table::{TableRow, TextTable};
use crate::readers::{LogText, ReaderOutcome, new_log, parse_date, parse_speed};
use serde_json::{Value, json};

/// True if the first line has the program's headings.
pub(crate) fn recognise(text: &LogText) -> bool {
    let head = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    head.starts_with("Date/Time,Rounds Completed,Bytes Written")
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let table = TextTable::parse(text.body());
    let rows: Vec<MfstRow> = table.rows().filter_map(|row| MfstRow::from_row(&row)).collect();
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else {
        return Err("it has no complete row".to_owned());
    };
    let mut log = new_log("mfst", None);
    log.date = parse_date(&first.at);
    log.other.insert(
        "mfst".into(),
        json!({
            "rows": rows.len(),
            "from": first.at, "to": last.at,
            "rounds_completed": last.rounds,
            "bytes_written": last.written,
            "bytes_read": last.read,
            "write_mb_s": mean_min_max(rows.iter().filter_map(|row| row.write_mb_s)),
            "read_mb_s": mean_min_max(rows.iter().filter_map(|row| row.read_mb_s)),
            "bad_sectors": last.bad,
            "first_error": rows.iter().find(|row| row.bad > 0.0).map(MfstRow::to_json),
        }),
    );
    Ok(vec![log])
}

struct MfstRow {
    at: String,
    rounds: f64,
    written: f64,
    read: f64,
    bad: f64,
    write_mb_s: Option<f64>,
    read_mb_s: Option<f64>,
}

impl MfstRow {
    fn from_row(row: &TableRow<'_>) -> Option<Self> {
        let value = |name: &str| row.get(name).and_then(parse_speed);
        // An interval without writes has no rate.
        let rate = |name: &str| value(name).map(|bytes| bytes / 1e6).filter(|mb_s| *mb_s > 0.0);
        Some(MfstRow {
            at: row.get("Date/Time")?.to_owned(),
            rounds: value("Rounds Completed")?,
            written: value("Total Bytes Written")?,
            read: value("Total Bytes Read")?,
            // The program misspells this heading; the correct spelling is for versions that fix it.
            bad: value("Total Bad Sesctors").or_else(|| value("Total Bad Sectors"))?,
            write_mb_s: rate("Write Rate (bytes/sec)"),
            read_mb_s: rate("Read Rate (bytes/sec)"),
        })
    }

    fn to_json(&self) -> Value {
        json!({"at": self.at, "rounds_completed": self.rounds, "bytes_written": self.written, "bad_sectors": self.bad})
    }
}

/// Mean, minimum and maximum; `None` without values.
fn mean_min_max(values: impl Iterator<Item = f64> + Clone) -> Option<Value> {
    let (low, high) = (values.clone().reduce(f64::min)?, values.clone().reduce(f64::max)?);
    let n = values.clone().count() as f64;
    Some(json!({"mean": values.sum::<f64>() / n, "min": low, "max": high}))
}
