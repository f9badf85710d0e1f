//! bonnie++: its CSV line (versions 1.96, 1.97, 1.98, 2.00), else its table.
//!
//! K/sec is KiB/s; since 2.00 the table has a letter after the number. `+++++` is too fast to be measured, so it is no
//! figure. The CSV's first field is the version of the line; 1.98 has two more fields before the speeds. Latencies are the
//! last twelve fields, the file tests the twelve before them. Block writes and reads go through the page cache, in chunks
//! of 8 KiB by default. Rewriting, seeks and file tests are not such tests, so they are stored separately.

use crate::readers::{
    KIB_S, LogText, PrintedAmount, ReaderOutcome, RunBuilder, add_other, new_log, parse_scaled, parse_speed,
    sequential_test, step_figure, strip_start,
};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestOp;
use cardscope_model::units::{KIB, parse_size};
use csv::ReaderBuilder;
use serde_json::{Map, Value, json};

/// bonnie++'s default chunk.
const DEFAULT_CHUNK: u64 = 8 * KIB;

/// Names of the six sequential and random measurements, in the line's order.
const SPEED_NAMES: [&str; 6] =
    ["per_char_write", "block_write", "rewrite", "per_char_read", "block_read", "seeks"];

/// Names of the six file tests, in the line's order.
const FILE_TEST_NAMES: [&str; 6] = [
    "sequential_create",
    "sequential_stat",
    "sequential_delete",
    "random_create",
    "random_stat",
    "random_delete",
];

#[derive(Debug, Default)]
struct BonnieRun {
    version: Option<String>,
    size_bytes: Option<u64>,
    chunk: u64,
    /// KiB/s, seeks a second; `None` for `+++++` and for a skipped test.
    speeds: [Option<f64>; 6],
    /// Longest latencies of these tests, in microseconds.
    latencies_us: [Option<f64>; 6],
    /// Files a second.
    files: [Option<f64>; 6],
}

/// True if the text has the program's line or table.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| parse_csv(line).is_some() || is_heading(line))
}

/// Reads the text; each line, or each table in a log without such lines, is a run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut all: Vec<BonnieRun> = text.lines().filter_map(parse_csv).collect();
    if all.is_empty() {
        let lines: Vec<&str> = text.lines().collect();
        let rows = lines.windows(2).filter(|pair| is_heading(pair[0]));
        all = rows.filter_map(|pair| parse_row(pair[1])).collect();
    }
    let mut log = new_log("bonnie++", all.iter().find_map(|one| one.version.as_deref()));
    let mut runs = RunBuilder::default();
    for one in &all {
        runs.begin_run(Run { size_bytes: one.size_bytes, ..Run::default() });
        one.block_figures().for_each(|figure| runs.add_figure(figure));
    }
    log.runs = runs.finish();
    let others: Vec<_> = all.iter().map(BonnieRun::other_values).filter(|other| !other.is_empty()).collect();
    add_other(&mut log, "bonnie", json!(others));
    Ok(vec![log])
}

impl BonnieRun {
    fn block_figures(&self) -> impl Iterator<Item = TestFigure> {
        [(1, TestOp::Write), (4, TestOp::Read)].into_iter().filter_map(|(at, op)| {
            let printed = PrintedAmount { value: self.speeds[at]?, unit: "K/sec" };
            let figure = step_figure("bonnie++ block", sequential_test(self.chunk, op), printed, KIB_S);
            Some(TestFigure { max_latency_us: self.latencies_us[at], ..figure })
        })
    }

    /// All values by name that are not figures.
    fn other_values(&self) -> Map<String, Value> {
        let speeds = SPEED_NAMES.iter().zip(self.speeds).filter(|(name, _)| !name.starts_with("block"));
        let speeds = speeds.map(|(name, value)| match *name {
            "seeks" => ("seeks_per_s".to_owned(), value),
            _ => (format!("{name}_mb_s"), value.map(|kib_s| kib_s * KIB_S)),
        });
        let files = FILE_TEST_NAMES.iter().zip(self.files).map(|(name, v)| (format!("{name}_per_s"), v));
        speeds.chain(files).filter_map(|(name, value)| Some((name, json!(value?)))).collect()
    }
}

/// Parses the CSV line; `None` for any other line. A line that is cut off keeps its speeds.
fn parse_csv(line: &str) -> Option<BonnieRun> {
    let (_, first) = strip_start(line.trim(), &[("1.96,", 7), ("1.97,", 7), ("1.98,", 9)])?;
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line.trim().as_bytes());
    let cells = reader.records().next()?.ok()?;
    cells.get(first)?;
    let value = |at: usize| cells.get(at).and_then(parse_speed);
    let from_end = |back: usize| (cells.len() >= first + 40).then(|| cells.len() - back);
    let size_bytes = cells.get(5).and_then(|cell| parse_size(cell.split(':').next()?).ok());
    Some(BonnieRun {
        version: Some(cells.get(1)?.to_owned()).filter(|v| !v.is_empty()),
        size_bytes,
        chunk: cells.get(6).and_then(|c| parse_size(c).ok()).filter(|n| *n > 0).unwrap_or(DEFAULT_CHUNK),
        // Without a size nothing was measured, and an old version omits a field then.
        speeds: std::array::from_fn(|n| size_bytes.and_then(|_| value(first + 2 * n))),
        // `21806us`, `15431ms`.
        latencies_us: std::array::from_fn(|n| {
            parse_scaled(cells.get(from_end(12)? + n)?, &[("us", 1.0), ("ms", 1e3), ("s", 1e6)])
        }),
        files: std::array::from_fn(|n| value(from_end(24)? + 2 * n)),
    })
}

/// True for the heading above the speeds: `Machine        Size K/sec %CP …`, `Name:Size etc        /sec %CP …`.
fn is_heading(line: &str) -> bool {
    line.matches("/sec %CP").count() == 6 && (line.starts_with("Machine") || line.starts_with("Name:Size"))
}

/// Parses `host          512M   568  96  5275   0 …`: six values, each with its share of the processor.
fn parse_row(line: &str) -> Option<BonnieRun> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.len().checked_sub(12)?;
    let (size, chunk) = words[at.checked_sub(1)?].split_once(':').unwrap_or((words[at - 1], ""));
    Some(BonnieRun {
        size_bytes: parse_size(size).ok(),
        chunk: parse_size(chunk).unwrap_or(DEFAULT_CHUNK).max(1),
        speeds: std::array::from_fn(|n| parse_lettered(words[at + 2 * n])),
        ..BonnieRun::default()
    })
}

/// Parses `978k`, as printed since 2.00; the older headings state `k`.
fn parse_lettered(text: &str) -> Option<f64> {
    parse_scaled(text, &[("k", 1.0), ("m", 1024.0), ("g", 1024.0 * 1024.0), ("", 1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "1.97,1.97,host,1,1400000000,256M,,500,90,6100,1,3100,1,1500,98,17100,2,55.5,1,2,102400,2,,100,7,0,+++++,+++,301,1,8,0,+++++,+++,902,3,20100us,9011ms,8022ms,5033us,44us,55us,21066us,577us,388us,20199ms,4110us,1211us\n";

    #[test]
    fn line_may_be_cut_off_anywhere() {
        for end in 0..LINE.len() {
            let _ = read(&LogText::from_decoded(&LINE[..end]));
        }
        let cut = &LINE[..LINE.find("17100").unwrap()];
        assert_eq!(read(&LogText::from_decoded(cut)).unwrap()[0].runs[0].results.len(), 1);
    }
}
