//! iozone: its table. The column headings identify the tests; a column is blank if its test was not requested.
//!
//! iozone.c prints KiB/s under `kBytes/sec` (old versions: `KBytes/sec`), rounded down; each record size is a row. The
//! columns have a fixed order; their width is eight or nine characters, depending on the version.

use crate::readers::{
    KIB_S, LogText, ReaderOutcome, RunBuilder, add_doubts, add_other, new_log, parse_date, printed_figure,
    trimmed_text,
};
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::KIB;
use serde_json::{Value, json};

/// Column of the table.
#[derive(Debug)]
struct IozoneColumn {
    /// Word in the second line of the heading.
    word: &'static str,
    name: &'static str,
    /// Number after `-i` that requests the test.
    flag: u8,
    /// Order, operation and step of a sequential or random test.
    test: ColumnTest,
}

type ColumnTest = Option<(IoOrder, TestOp, Option<&'static str>)>;

const fn new_column(word: &'static str, name: &'static str, flag: u8, test: ColumnTest) -> IozoneColumn {
    IozoneColumn { word, name, flag, test }
}

const fn new_test(order: IoOrder, op: TestOp, step: Option<&'static str>) -> ColumnTest {
    Some((order, op, step))
}

/// All columns, in the program's order.
static COLUMNS: [IozoneColumn; 13] = [
    new_column("write", "write", 0, new_test(IoOrder::Sequential, TestOp::Write, None)),
    new_column("rewrite", "rewrite", 0, new_test(IoOrder::Sequential, TestOp::Write, Some("rewrite"))),
    new_column("read", "read", 1, new_test(IoOrder::Sequential, TestOp::Read, None)),
    new_column("reread", "reread", 1, new_test(IoOrder::Sequential, TestOp::Read, Some("reread"))),
    new_column("read", "random read", 2, new_test(IoOrder::Random, TestOp::Read, None)),
    new_column("write", "random write", 2, new_test(IoOrder::Random, TestOp::Write, None)),
    new_column("read", "backward read", 3, None),
    new_column("rewrite", "record rewrite", 4, None),
    new_column("read", "stride read", 5, None),
    new_column("fwrite", "fwrite", 6, None),
    new_column("frewrite", "frewrite", 6, None),
    new_column("fread", "fread", 7, None),
    new_column("freread", "freread", 7, None),
];

struct IozoneRow {
    file_bytes: u64,
    record_bytes: u64,
    cells: RowCells,
}

type RowCells = Vec<(&'static IozoneColumn, u64)>;

pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| IozoneHeading::parse(line).is_some())
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    refuse_other_units(text)?;
    let version = text
        .lines()
        .find_map(|line| trimmed_text(line.split_once("Version $Revision:")?.1.trim().trim_end_matches('$')));
    let mut log = new_log("iozone", version.as_deref());
    log.date = text.lines().find_map(|l| parse_date(l.trim().strip_prefix("Run began:")?));
    log.runs = read_runs(text);
    add_other_columns(text, &mut log);
    Ok(vec![log])
}

/// Sequential and random tests as runs. Another file size, or a repeated record size, begins a run.
fn read_runs(text: &LogText) -> Vec<Run> {
    let mut runs = RunBuilder::default();
    let mut size_bytes = None;
    for row in table_rows(text) {
        if size_bytes != Some(row.file_bytes) {
            size_bytes = Some(row.file_bytes);
            runs.begin_run(Run { size_bytes, ..Run::default() });
        }
        let figures = row.cells.iter().filter_map(|(c, kib_s)| cell_figure(c, row.record_bytes, *kib_s));
        figures.for_each(|figure| runs.add_figure(figure));
    }
    runs.finish()
}

/// Adds the other columns, and a doubt if the page cache was not bypassed.
fn add_other_columns(text: &LogText, log: &mut CardLog) {
    let mut others: Vec<Value> = Vec::new();
    for IozoneRow { record_bytes, cells, .. } in table_rows(text) {
        let strange = cells.iter().filter(|(column, _)| column.test.is_none());
        others.extend(strange.map(|(column, kib_s)| {
            json!({"test": column.name, "record_bytes": record_bytes, "mb_s": *kib_s as f64 * KIB_S})
        }));
    }
    add_other(log, "iozone", Value::Array(others));
    let command = text.lines().find(|line| line.contains("iozone ") && line.contains(" -"));
    let cached = command.is_some_and(|line| !line.split_whitespace().any(|word| word == "-I"));
    add_doubts(log, [(cached, "iozone ran without -I: the page cache is part of the results")]);
}

/// Figure of a cell; `None` if its test is neither sequential nor random.
fn cell_figure(column: &IozoneColumn, record: u64, kib_s: u64) -> Option<TestFigure> {
    let (order, op, step) = column.test?;
    let pattern = AccessPattern { order, block: record, queue: 1, threads: 1 };
    let figure = printed_figure(TestName { pattern, op }, kib_s as f64, "kBytes/sec", KIB_S);
    Some(TestFigure { step: step.map(str::to_owned), ..figure })
}

fn table_rows(text: &LogText) -> impl Iterator<Item = IozoneRow> {
    let flags = requested_flags(text);
    let mut heading: Option<IozoneHeading> = None;
    text.lines().filter_map(move |line| {
        if let Some(new) = IozoneHeading::parse(line) {
            heading = Some(new);
            return None;
        }
        heading.as_ref()?.parse_row(line, &flags)
    })
}

/// Numbers after `-i` in the command, if the log has it.
fn requested_flags(text: &LogText) -> Vec<u8> {
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

/// Positions in the heading's second line at which the columns end.
#[derive(Debug, Clone)]
struct IozoneHeading {
    size_end: usize,
    ends: Vec<usize>,
    /// False if blanks were lost in copying, so that positions are meaningless.
    aligned: bool,
}

impl IozoneHeading {
    /// Parses the line `kB  reclen    write  rewrite …`; `None` for any other line.
    fn parse(line: &str) -> Option<Self> {
        let words = line.contains("reclen").then(|| words_with_ends(line))?;
        let [(size, size_end), (reclen, _), columns @ ..] = &words[..] else { return None };
        let known = columns.iter().zip(&COLUMNS).all(|((word, _), column)| *word == column.word);
        let heading = size.eq_ignore_ascii_case("kB") && *reclen == "reclen" && known;
        (heading && !columns.is_empty()).then(|| IozoneHeading {
            size_end: *size_end,
            ends: columns.iter().map(|(_, end)| *end).take(COLUMNS.len()).collect(),
            aligned: line.contains("B  reclen"),
        })
    }

    /// Assigns a row's numbers to columns; `None` if the line is not a row. `asked` are the numbers after `-i`, for rows
    /// without their blanks.
    fn parse_row(&self, line: &str, asked: &[u8]) -> Option<IozoneRow> {
        let words = words_with_ends(line);
        let numbers: Vec<(u64, usize)> =
            words.iter().map(|(word, end)| Some((word.parse().ok()?, *end))).collect::<Option<_>>()?;
        let [(file_kib, size_end), (record_kib, _), speeds @ ..] = &numbers[..] else { return None };
        let aligned = if self.aligned { self.assign_by_position(speeds, *size_end) } else { None };
        let cells = aligned.or_else(|| assign_by_flags(speeds, asked))?;
        let file_bytes = file_kib.checked_mul(KIB)?;
        let record_bytes = record_kib.checked_mul(KIB).filter(|bytes| (1..=file_bytes).contains(bytes))?;
        Some(IozoneRow { file_bytes, record_bytes, cells })
    }

    /// Assigns each number to the column that ends nearest, after a shift by the offset of the file size.
    fn assign_by_position(&self, speeds: &[(u64, usize)], size_end: usize) -> Option<RowCells> {
        let mut placed: RowCells = Vec::new();
        for (speed, end) in speeds {
            let end = (end + self.size_end).checked_sub(size_end)?;
            let nearest = (0..self.ends.len()).min_by_key(|at| self.ends[*at].abs_diff(end))?;
            let column = &COLUMNS[nearest];
            // A field is eight or nine characters wide: a number farther than half of that is in no column.
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

/// Assigns numbers in order to the requested columns. Without a command only a row of all first columns is unambiguous.
fn assign_by_flags(speeds: &[(u64, usize)], asked: &[u8]) -> Option<RowCells> {
    let wanted = |flag: u8| asked.is_empty() || asked.contains(&flag);
    let columns: Vec<&IozoneColumn> = COLUMNS.iter().filter(|column| wanted(column.flag)).collect();
    let clear = if asked.is_empty() { matches!(speeds.len(), 6 | 13) } else { speeds.len() == columns.len() };
    clear.then(|| columns.into_iter().zip(speeds.iter().map(|(speed, _)| *speed)).collect())
}

/// Words of a line, each with the position of its end, in characters.
fn words_with_ends(line: &str) -> Vec<(&str, usize)> {
    let mut end = 0;
    let words = line.split_inclusive(char::is_whitespace).map(|part| {
        let word = part.trim_end();
        let at = end + word.chars().count();
        end += part.chars().count();
        (word, at)
    });
    words.filter(|(word, _)| !word.is_empty()).collect()
}
