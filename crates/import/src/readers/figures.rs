//! Tables of figures, CSV: typed from a photograph or a page, or written by `cardscope report -o x.csv`.
//!
//! A row is one figure of one test. The headings are those of that report; a table that was typed needs three of them:
//! `card`, `test` (`RND4K Q1T1 read`, or the operation in a column `op`), and the figure as `mb_s`, or as `value` with its
//! `unit` (MB/s is 10^6 here, MiB/s 2^20, IOPS count blocks). `source` names the origin of typed figures. Words of the
//! condition are columns, too, with or without the prefix `condition_`.

use crate::readers::table::{TableRow, TextTable};
use crate::readers::{LogText, ReaderOutcome, add_note, parse_date, parse_speed, true_mb_s};
use cardscope_model::card::CardFacts;
use cardscope_model::condition::{Condition, ConditionOrigin, WORDS};
use cardscope_model::log::{CardLog, LogTool, TYPED_FROM};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::{LatencyPercentiles, Run, TestFigure};
use cardscope_model::test_name::{TestName, TestNameError};
use cardscope_model::units::{MB, parse_size};
use cardscope_model::untrusted_text::{shorten_message, shorten_text};
use cardscope_sd::label;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Most doubts listed for one table; the rest are counted.
const MOST_DOUBTS: usize = 8;

/// Separator of the values of several settings in a report, which does not state the runs they belong to.
const VALUE_SEPARATOR: &str = " | ";

/// True if the first line has the headings of such a table.
pub(crate) fn recognise(text: &LogText) -> bool {
    let head = text.head().lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !head.contains("test") {
        return false;
    }
    let table = TextTable::parse(head);
    let has = |name| table.has_heading(name);
    ["card", "brand", "name"].into_iter().any(has)
        && has("test")
        && (has("mb_s") || has("value") && has("unit"))
}

/// Reads a table; the rows of one card under one condition become a log. Without a column `run`, a repeated test begins the
/// next run.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let table = TextTable::parse(text.body());
    let mut parts: Vec<FigureGroup> = Vec::new();
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut doubts: Vec<String> = Vec::new();
    // A report lists averages and intervals in addition to the runs.
    let is_run = |row: &TableRow<'_>| row.get("figure").is_none_or(|what| what == "run");
    for (number, row) in (1..).zip(table.rows()).filter(|(_, row)| is_run(row)) {
        let head = row_head(&row);
        // The key is text, since a card has neither an order nor a hash.
        let index = *indices.entry(format!("{head:?}")).or_insert_with(|| {
            parts.push(FigureGroup { head, ..FigureGroup::default() });
            parts.len() - 1
        });
        if let Err(why) = row_figure(&row).and_then(|figure| parts[index].add_figure(&row, figure)) {
            doubts.push(format!("row {number}: {}", shorten_message(&why, &[])));
        }
    }
    let logs = parts.into_iter().map(FigureGroup::finish).filter(|log| !log.runs.is_empty());
    let mut logs: Vec<CardLog> = logs.collect();
    let Some(first) = logs.first_mut() else {
        return Err(doubts.into_iter().next().unwrap_or("no row has a result".to_owned()));
    };
    let more = doubts.len().saturating_sub(MOST_DOUBTS);
    doubts.truncate(MOST_DOUBTS);
    first.doubts.extend(doubts);
    first.doubts.extend((more > 0).then(|| format!("{more} more rows could not be read")));
    Ok(logs)
}

/// Rows of one card under one condition.
#[derive(Default)]
struct FigureGroup {
    head: CardLog,
    runs: BTreeMap<(Option<u64>, u32), Run>,
    figure_keys: HashSet<(TestName, Option<String>, Option<u64>, u32)>,
    /// Number of rows of a test and size without a run number.
    repetitions: HashMap<(TestName, Option<String>, Option<u64>), u32>,
}

impl FigureGroup {
    fn add_figure(&mut self, row: &TableRow<'_>, figure: TestFigure) -> Result<(), String> {
        let (test, step, size_bytes) = (figure.name(), figure.step.clone(), row_size(row)?);
        let run = match row.get("run") {
            Some(text) => text.parse().map_err(|_| format!("{text:?} is not a run number"))?,
            None => {
                let times = self.repetitions.entry((test, step.clone(), size_bytes)).or_default();
                *times += 1;
                *times
            }
        };
        if !self.figure_keys.insert((test, step, size_bytes, run)) {
            return Err(format!("run {run} has {test} twice"));
        }
        let loops = row.get("loops").and_then(|loops| loops.parse().ok());
        let new = Run { size_bytes, loops, ..Run::default() };
        self.runs.entry((size_bytes, run)).or_insert(new).results.push(figure);
        Ok(())
    }

    /// Numbers the runs across all sizes, since each run of a log needs its own number.
    fn finish(self) -> CardLog {
        let runs = self.runs.into_values().zip(1..).map(|(run, number)| Run { run: number, ..run });
        CardLog { runs: runs.collect(), ..self.head }
    }
}

/// Everything in a row except its figure.
fn row_head(row: &TableRow<'_>) -> CardLog {
    let mut log = CardLog { card: row_card(row), part: row.get_owned("card"), ..CardLog::default() };
    let tool = first_value(row, &["tool", "recipe"]);
    log.tool = tool.map(|name| LogTool { name, version: row.get_owned("tool_version") });
    log.date = row.get("date").and_then(parse_date);
    log.condition = row_condition(row, &mut log.doubts);
    if let Some(source) = first_value(row, &["source"]) {
        add_note(&mut log.condition, &format!("results typed from {source}"), ConditionOrigin::Stated);
        log.other.insert(TYPED_FROM.to_owned(), source.into());
    }
    log
}

fn row_card(row: &TableRow<'_>) -> CardFacts {
    let text = |name| first_value(row, &[name]);
    let mut facts = CardFacts {
        brand: text("brand"),
        name: text("name"),
        model: text("model"),
        capacity_bytes: row.get("capacity_bytes").and_then(|bytes| bytes.parse().ok()),
        capacity_label: text("capacity"),
        generation: text("generation"),
        marks: text("marks").unwrap_or_default().split_whitespace().map(str::to_owned).collect(),
        ..CardFacts::default()
    };
    let is_named = facts.brand.is_some() || facts.name.is_some() || facts.model.is_some();
    if let Some(card) = text("card").filter(|_| !is_named) {
        facts.fill_missing_from(&parse_card_name(&card));
    }
    facts
}

/// Condition of a row. Several values in one cell become a doubt, since their runs are unknown.
fn row_condition(row: &TableRow<'_>, doubts: &mut Vec<String>) -> Condition {
    let mut condition = Condition::default();
    for (word, _) in WORDS {
        let Some(value) = first_value(row, &[&format!("condition_{word}"), word]) else { continue };
        if value.contains(VALUE_SEPARATOR) {
            doubts.push(format!("mixed {}: {}", word.replace('_', " "), shorten_text(&value)));
        } else if *word != "tool" {
            condition.set(word, value, ConditionOrigin::Stated);
        }
    }
    condition
}

fn row_figure(row: &TableRow<'_>) -> Result<TestFigure, String> {
    let test = row_test(row)?;
    let number = |names: &[&str], what: &str| -> Result<Option<f64>, String> {
        let Some(text) = first_value(row, names) else { return Ok(None) };
        parse_speed(&text).map(Some).ok_or_else(|| format!("{text:?} under {what} is not a number"))
    };
    let (true_speed, printed) = (number(&["mb_s"], "mb_s")?, number(&["printed_value", "value"], "value")?);
    let unit = first_value(row, &["printed_unit", "unit"]).unwrap_or_else(|| "MB/s".to_owned());
    let mb_s = match (true_speed, printed) {
        (Some(mb_s), _) => mb_s,
        (None, Some(value)) => value * mb_s_per_unit(&unit, test)?,
        (None, None) => return Err("it has no value".to_owned()),
    };
    let iops = number(&["iops"], "iops")?.or(printed.filter(|_| unit == "IOPS"));
    if !mb_s.is_finite() {
        return Err("its speed is too large".to_owned());
    }
    let as_printed = match printed {
        Some(value) => ToolPrints { value, unit },
        None => ToolPrints { value: mb_s, unit: "MB/s".to_owned() },
    };
    let time = |name: &str| row.get(name).and_then(parse_speed);
    Ok(TestFigure {
        step: first_value(row, &["step"]),
        iops,
        latency_us: time("latency_us"),
        max_latency_us: time("max_latency_us"),
        percentiles_us: LatencyPercentiles {
            p50: time("p50_us"),
            p99: time("p99_us"),
            p999: time("p999_us"),
        },
        as_printed: Some(as_printed),
        ..TestFigure::from_speed(test, mb_s)
    })
}

/// Name of the test, with the operation from its column if there is one.
fn row_test(row: &TableRow<'_>) -> Result<TestName, String> {
    let name = row.get("test").ok_or("it has no test name")?;
    let op = row.get("op").map(|op| format!(" {}", op.to_lowercase())).unwrap_or_default();
    format!("{name}{op}").parse().map_err(|error: TestNameError| error.to_string())
}

/// MB/s (10^6) in one unit.
fn mb_s_per_unit(unit: &str, test: TestName) -> Result<f64, String> {
    let known = match unit {
        "IOPS" => Some(test.pattern.block as f64 / MB),
        "MB/s" | "kB/s" | "KB/s" | "GB/s" | "MiB/s" | "KiB/s" => true_mb_s(unit),
        _ => None,
    };
    let units = "MB/s, MiB/s, KiB/s, kB/s, GB/s or IOPS";
    known.ok_or_else(|| format!("{unit:?} is not a unit of speed; write {units}"))
}

fn row_size(row: &TableRow<'_>) -> Result<Option<u64>, String> {
    let size = first_value(row, &["test_size_bytes", "size"]).filter(|text| !text.contains(VALUE_SEPARATOR));
    size.map(|text| parse_size(&text).map_err(|error| error.to_string())).transpose()
}

/// First non-empty value of several columns.
fn first_value(row: &TableRow<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| row.get(name)).map(|text| without_apostrophe(text).to_owned())
}

/// Removes the apostrophe by which a report marks text that a spreadsheet would take for a formula.
fn without_apostrophe(text: &str) -> &str {
    let signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    text.strip_prefix('\'').filter(|rest| rest.starts_with(signs)).unwrap_or(text)
}

/// Parses a card's name in a table, `Samsung Pro Endurance U1 32GB`. The brand is the first word; words with marks and
/// sizes are not part of the name.
///
/// Descriptions on a page (`page::described`) are parsed otherwise: there a name ends at the first mark, and commas and
/// brackets begin an explanation.
fn parse_card_name(text: &str) -> CardFacts {
    let mut card = CardFacts::default();
    if let Ok(label) = label::parse(text) {
        card.capacity_label = label.capacity.map(|capacity| capacity.printed);
        card.marks = label.marks.iter().map(ToString::to_string).collect();
    }
    let named = without_marks_and_sizes(text);
    let mut words = named.split_whitespace();
    card.brand = words.next().map(str::to_owned);
    card.name = Some(words.collect::<Vec<_>>().join(" ")).filter(|name| !name.is_empty());
    card
}

/// Removes marks and sizes. Other text in brackets keeps its brackets: `Example (old, C6)` becomes `Example (old)`.
fn without_marks_and_sizes(text: &str) -> String {
    let of_word = |word: &str| match is_mark_or_size(word) {
        true => word.chars().filter(|c| matches!(c, '(' | ')')).collect(),
        false => word.to_owned(),
    };
    let words: Vec<String> = text.split_whitespace().map(of_word).filter(|word| !word.is_empty()).collect();
    let tidied = [("( ", "("), (" )", ")"), (",)", ")"), ("()", "")];
    tidied.iter().fold(words.join(" "), |text, (from, to)| text.replace(from, to))
}

fn is_mark_or_size(word: &str) -> bool {
    let plain = word.trim_matches(|c: char| matches!(c, '(' | ')' | ','));
    label::parse(plain).is_ok_and(|l| l.unknown.is_empty() && (l.capacity.is_some() || !l.marks.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_name_splits_into_brand_name_size_and_marks() {
        let card = parse_card_name("Example Pro+ U3 V30 A2 64GB");
        assert_eq!((card.brand.as_deref(), card.name.as_deref()), (Some("Example"), Some("Pro+")));
        assert_eq!(
            (card.capacity_label.as_deref(), card.marks.join(" ")),
            (Some("64GB"), "U3 V30 A2".to_owned())
        );
        assert_eq!(parse_card_name("Example (C10) 16GB").name, None);
        for (text, name) in [
            ("Example Pi (1.4, C6) 8GB", "Pi (1.4)"),
            ("Example Turbo (U1, old) 16GB", "Turbo (old)"),
            ("Example Turbo (C10, U1) 16GB", "Turbo"),
            ("Example (C10 U1 of a friend) (red) 16GB", "(of a friend) (red)"),
        ] {
            assert_eq!(parse_card_name(text).name.as_deref(), Some(name), "{text}");
        }
        assert_eq!(parse_card_name(""), CardFacts::default());
    }
}
