//! iozone's table. Its column headings say which test stands where: tests that were not asked for are blank columns.
//!
//! iozone.c prints KiB/s under `kBytes/sec` (old versions: `KBytes/sec`), cut to whole ones; each record size is a row.
//! The order of the columns is the program's; fields are eight or nine characters wide, by version.

use crate::readers::error::ReaderOutcome;
use crate::readers::notes::log_of;
use crate::readers::numbers::{KIB_S, figure, random, sequential};
use crate::readers::runs::RunBuilder;
use crate::readers::text::{LogText, filled};
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_model::units::KIB;
use serde_json::{Value, json};

/// A column of the table.
#[derive(Debug)]
struct IozoneColumn {
    /// Its word in the heading's second line.
    word: &'static str,
    name: &'static str,
    /// The `-i` that asks for it.
    asked_by: u8,
    /// Order, operation and step, for those that are sequential or random.
    test: Option<(IoOrder, TestOp, Option<&'static str>)>,
}

const fn column(
    word: &'static str,
    name: &'static str,
    asked_by: u8,
    test: Option<(IoOrder, TestOp, Option<&'static str>)>,
) -> IozoneColumn {
    IozoneColumn { word, name, asked_by, test }
}

/// All of them, in the program's order.
static COLUMNS: [IozoneColumn; 13] = [
    column("write", "write", 0, Some((IoOrder::Sequential, TestOp::Write, None))),
    column("rewrite", "rewrite", 0, Some((IoOrder::Sequential, TestOp::Write, Some("rewrite")))),
    column("read", "read", 1, Some((IoOrder::Sequential, TestOp::Read, None))),
    column("reread", "reread", 1, Some((IoOrder::Sequential, TestOp::Read, Some("reread")))),
    column("read", "random read", 2, Some((IoOrder::Random, TestOp::Read, None))),
    column("write", "random write", 2, Some((IoOrder::Random, TestOp::Write, None))),
    column("read", "backward read", 3, None),
    column("rewrite", "record rewrite", 4, None),
    column("read", "stride read", 5, None),
    column("fwrite", "fwrite", 6, None),
    column("frewrite", "frewrite", 6, None),
    column("fread", "fread", 7, None),
    column("freread", "freread", 7, None),
];

/// One row of the table, with the file's size.
struct IozoneRow {
    file_bytes: u64,
    record_bytes: u64,
    cells: Vec<(&'static IozoneColumn, u64)>,
}

/// True where the table's heading stands in it.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| IozoneHeading::of(line).is_some())
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    refuse_other_units(text)?;
    let version = text
        .lines()
        .find_map(|line| filled(line.split_once("Version $Revision:")?.1.trim().trim_end_matches('$')));
    let mut log = log_of("iozone", version.as_deref());
    log.date =
        text.lines().find_map(|line| crate::readers::dates::date(line.trim().strip_prefix("Run began:")?));
    log.runs = runs(text);
    other(text, &mut log);
    Ok(vec![log])
}

/// The tests that are sequential or random, in runs: a new one begins with another file size, and where a record size
/// comes again.
fn runs(text: &LogText) -> Vec<Run> {
    let mut runs = RunBuilder::default();
    let mut size_bytes = None;
    for row in rows(text) {
        if size_bytes != Some(row.file_bytes) {
            size_bytes = Some(row.file_bytes);
            runs.begin(Run { size_bytes, ..Run::default() });
        }
        let figures = row.cells.iter().filter_map(|(column, kib_s)| cell(column, row.record_bytes, *kib_s));
        figures.for_each(|figure| runs.add(figure));
    }
    runs.finish()
}

/// Adds the columns that are neither sequential nor random, and says where the page cache was not kept out.
fn other(text: &LogText, log: &mut CardLog) {
    let mut others: Vec<Value> = Vec::new();
    for IozoneRow { record_bytes, cells, .. } in rows(text) {
        let strange = cells.iter().filter(|(column, _)| column.test.is_none());
        others.extend(strange.map(|(column, kib_s)| {
            json!({"test": column.name, "record_bytes": record_bytes, "mb_s": *kib_s as f64 * KIB_S})
        }));
    }
    if !others.is_empty() {
        log.other.insert("iozone".into(), Value::Array(others));
    }
    let command = text.lines().find(|line| line.contains("iozone ") && line.contains(" -"));
    if command.is_some_and(|line| !line.split_whitespace().any(|word| word == "-I")) {
        log.doubts.push("iozone ran without -I: the page cache is part of the results".to_owned());
    }
}

fn cell(column: &IozoneColumn, record_bytes: u64, kib_s: u64) -> Option<TestFigure> {
    let (test, step) = column.test(record_bytes)?;
    Some(TestFigure { step: step.map(str::to_owned), ..figure(test, kib_s as f64, "kBytes/sec", KIB_S) })
}

impl IozoneColumn {
    /// The test of a column; `None` for those that are neither sequential nor random.
    fn test(&self, record: u64) -> Option<(TestName, Option<&'static str>)> {
        let (order, op, step) = self.test?;
        let test = if order == IoOrder::Random { random(record, 1, op) } else { sequential(record, op) };
        Some((test, step))
    }
}

fn rows(text: &LogText) -> impl Iterator<Item = IozoneRow> {
    let flags = asked_for(text);
    let mut heading: Option<IozoneHeading> = None;
    text.lines().filter_map(move |line| {
        if let Some(new) = IozoneHeading::of(line) {
            heading = Some(new);
            return None;
        }
        heading.as_ref()?.row(line, &flags)
    })
}

/// The numbers after `-i` in the command, where it is shown.
fn asked_for(text: &LogText) -> Vec<u8> {
    let Some(line) = text.lines().find(|line| line.contains("iozone ") && line.contains(" -i")) else {
        return Vec::new();
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).filter(|pair| pair[0] == "-i").filter_map(|pair| pair[1].parse().ok()).collect()
}

fn refuse_other_units(text: &LogText) -> Result<(), String> {
    let other = ["Output is in operations per second", "OPS Mode. Output is in", "Output is in Microseconds"];
    match text.head().lines().find(|line| other.iter().any(|unit| line.contains(unit))) {
        None => Ok(()),
        Some(line) => Err(format!("unit {:?} is not supported; use kB per second", line.trim())),
    }
}

/// The heading's second line: where each column ends.
#[derive(Debug, Clone)]
struct IozoneHeading {
    size_end: usize,
    ends: Vec<usize>,
    /// False where blanks were lost in copying, so that places mean nothing.
    aligned: bool,
}

impl IozoneHeading {
    /// Reads the line `kB  reclen    write  rewrite …`; `None` where it is none.
    fn of(line: &str) -> Option<Self> {
        let words = line.contains("reclen").then(|| words(line))?;
        let [(size, size_end), (reclen, _), columns @ ..] = &words[..] else { return None };
        let known = columns.iter().zip(&COLUMNS).all(|((word, _), column)| *word == column.word);
        let heading = size.eq_ignore_ascii_case("kB") && *reclen == "reclen" && known;
        (heading && !columns.is_empty()).then(|| IozoneHeading {
            size_end: *size_end,
            ends: columns.iter().map(|(_, end)| *end).take(COLUMNS.len()).collect(),
            aligned: line.contains("B  reclen"),
        })
    }

    /// Sorts a row's numbers; `None` where the line is no row. `asked` are the numbers of the command's `-i`, for rows
    /// that lost their blanks.
    fn row(&self, line: &str, asked: &[u8]) -> Option<IozoneRow> {
        let words = words(line);
        let numbers: Vec<(u64, usize)> =
            words.iter().map(|(word, end)| Some((word.parse().ok()?, *end))).collect::<Option<_>>()?;
        let [(file_kib, size_end), (record_kib, _), speeds @ ..] = &numbers[..] else { return None };
        let aligned = if self.aligned { self.by_position(speeds, *size_end) } else { None };
        let cells = aligned.or_else(|| by_flags(speeds, asked))?;
        let file_bytes = file_kib.checked_mul(KIB)?;
        let record_bytes = record_kib.checked_mul(KIB).filter(|bytes| (1..=file_bytes).contains(bytes))?;
        Some(IozoneRow { file_bytes, record_bytes, cells })
    }

    /// Each number under the column that ends nearest; all shifted as far as the file's size is.
    fn by_position(
        &self,
        speeds: &[(u64, usize)],
        size_end: usize,
    ) -> Option<Vec<(&'static IozoneColumn, u64)>> {
        let mut placed: Vec<(&'static IozoneColumn, u64)> = Vec::new();
        for (speed, end) in speeds {
            let end = (end + self.size_end).checked_sub(size_end)?;
            let nearest = (0..self.ends.len()).min_by_key(|at| self.ends[*at].abs_diff(end))?;
            let column = &COLUMNS[nearest];
            // A field is eight or nine wide: farther than half of it stands in no column.
            let fits = self.ends[nearest].abs_diff(end) <= 4
                && placed.last().is_none_or(|(last, _)| !std::ptr::eq(*last, column));
            if !fits {
                return None;
            }
            placed.push((column, *speed));
        }
        Some(placed)
    }
}

/// Numbers in order under the columns that were asked for; without a command only a row of the first columns is clear.
fn by_flags(speeds: &[(u64, usize)], asked: &[u8]) -> Option<Vec<(&'static IozoneColumn, u64)>> {
    let wanted = |flag: u8| asked.is_empty() || asked.contains(&flag);
    let columns: Vec<&IozoneColumn> = COLUMNS.iter().filter(|column| wanted(column.asked_by)).collect();
    let clear = if asked.is_empty() { matches!(speeds.len(), 6 | 13) } else { speeds.len() == columns.len() };
    clear.then(|| columns.into_iter().zip(speeds.iter().map(|(speed, _)| *speed)).collect())
}

/// The words of a line, each with the place where it ends, in characters.
fn words(line: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (place, (at, c)) in line.char_indices().chain([(line.len(), ' ')]).enumerate() {
        match (start, c.is_whitespace()) {
            (None, false) => start = Some(at),
            (Some(from), true) => {
                words.push((&line[from..at], place));
                start = None;
            }
            _ => {}
        }
    }
    words
}
