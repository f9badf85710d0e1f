//! AS SSD: reads its copied text, in English and German: a heading for each test with `Read:` and `Write:` below it, or a
//! row for each test with both figures.
//!
//! Its MB/s are MiB/s, `Seq` moves 16 MB at a time, `4K-64Thrd` runs 64 threads of one I/O each
//! (docs/reference/tools.md#as-ssd). It can show IOPS in place of speeds.

use crate::readers::{
    LogText, MIB_S, ReaderOutcome, RunBuilder, add_note, new_log, parse_date, parse_number, parse_speed,
    printed_figure, read_by_heading, trimmed_text,
};
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use cardscope_model::units::{KIB, MIB};
use serde_json::json;

/// Figures below a heading or in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum AsSsdSection {
    Speed(AccessPattern),
    /// Access times in milliseconds.
    Access,
    Score,
}

const SEQUENTIAL: AccessPattern =
    AccessPattern { order: IoOrder::Sequential, block: 16 * MIB, queue: 1, threads: 1 };
const SMALL: AccessPattern = AccessPattern { order: IoOrder::Random, block: 4 * KIB, queue: 1, threads: 1 };
const SMALL_THREADS: AccessPattern = AccessPattern { threads: 64, ..SMALL };

/// Headings in lower case; a heading that begins with another one comes first.
const SECTIONS: [(AsSsdSection, &[&str]); 5] = [
    (AsSsdSection::Speed(SMALL_THREADS), &["4k-64threads", "4k-64thrd", "4k 64 thrd"]),
    (AsSsdSection::Speed(SMALL), &["4k"]),
    (AsSsdSection::Speed(SEQUENTIAL), &["sequentiell", "sequential", "seq"]),
    (AsSsdSection::Access, &["access times", "access time", "acc.time", "zugriffszeiten", "zugr.zeit"]),
    (AsSsdSection::Score, &["score", "punkte"]),
];

/// True if the text has the program's name or its test `4K-64Thrd`, and a test with a speed.
pub(crate) fn recognise(text: &LogText) -> bool {
    let body = text.body();
    (body.contains("AS SSD") || body.contains("4K-64Thrd")) && read(text).is_ok()
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let heads = |line: &str| line.trim_start_matches(['|', '>', ' ']).starts_with("AS SSD Benchmark");
    read_by_heading(text, heads, read_report)
}

fn read_report(text: &LogText) -> ReaderOutcome {
    let mut reader = AsSsdReader { log: new_log("AS SSD", None), ..AsSsdReader::default() };
    for line in text.lines() {
        reader.read_line(line.trim().trim_start_matches(['|', '>']).trim_start());
    }
    match reader.runs.finish() {
        runs if runs.is_empty() => Err("no test has a speed".to_owned()),
        runs => Ok(vec![CardLog { runs, ..reader.log }]),
    }
}

#[derive(Default)]
struct AsSsdReader {
    log: CardLog,
    runs: RunBuilder,
    section: Option<AsSsdSection>,
}

impl AsSsdReader {
    fn read_line(&mut self, line: &str) {
        if let Some((section, rest)) = parse_section(line) {
            self.section = Some(section);
            // Read, write, and the total of a score.
            for (key, printed) in ["Read", "Write", "Total"].into_iter().zip(parse_values(rest)) {
                self.add_value(section, key, printed);
            }
        } else if let Some(version) = line.strip_prefix("AS SSD Benchmark") {
            let mut words = version.split_whitespace();
            let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            self.log.tool = new_log("AS SSD", version).tool;
        } else if let Some((key, value)) = line.split_once(':') {
            self.read_property(key.trim(), value.trim());
        }
    }

    fn read_property(&mut self, key: &str, value: &str) {
        if let (Some(section), Some(printed)) = (self.section, parse_values(value).into_iter().next()) {
            self.add_value(section, key, printed);
        }
        match key {
            "Name" => self.log.card.model = trimmed_text(value),
            "Firmware" => self.log.card.firmware = trimmed_text(value),
            "Date" | "Datum" => self.log.date = parse_date(value),
            "Controller" | "Offset" | "Size" | "Größe" => {
                let note = format!("{} {value}", key.to_lowercase());
                add_note(&mut self.log.condition, &note, ConditionOrigin::Read);
            }
            _ => {}
        }
    }

    fn add_value(&mut self, section: AsSsdSection, key: &str, (value, unit): (f64, &str)) {
        let name = match key {
            "Read" | "Lesen" => "read",
            "Write" | "Schreiben" => "write",
            "Total" | "Gesamt" => "total",
            _ => return,
        };
        match (section, name.parse::<TestOp>()) {
            (AsSsdSection::Speed(pattern), Ok(op)) => self.add_speed(TestName { pattern, op }, value, unit),
            (AsSsdSection::Access, _) if unit == "ms" => {
                self.log.other.entry("access_time_ms").or_insert_with(|| json!({}))[name] = json!(value);
            }
            (AsSsdSection::Score, _) if unit.is_empty() => {
                self.log.other.entry("score").or_insert_with(|| json!({}))[name] = json!(value);
            }
            _ => {}
        }
    }

    fn add_speed(&mut self, test: TestName, value: f64, unit: &str) {
        let (mb_s, iops) = match unit.to_lowercase().as_str() {
            "mb/s" => (MIB_S, None),
            "iops" => (test.pattern.block as f64 / 1e6, Some(value)),
            _ => return,
        };
        // A test that was not run is printed as zero.
        if value > 0.0 {
            self.runs.add_figure(TestFigure { iops, ..printed_figure(test, value, unit, mb_s) });
        }
    }
}

/// Section that a line opens, and the text after its name. Words there belong to another tool's label
/// (`Sequential Read 1MiB …`), which opens no section.
fn parse_section(line: &str) -> Option<(AsSsdSection, &str)> {
    let mut names = SECTIONS.iter().flat_map(|(s, names)| names.iter().map(move |name| (s, name)));
    names.find_map(|(section, name)| {
        line.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name))?;
        let rest = &line[name.len()..];
        let ends = rest.is_empty() || rest.starts_with([':', ' ', '\t', '|', '.']);
        let behind = rest.trim_start_matches([':', ' ', '\t', '|', '.', '-']);
        let has_values = behind.is_empty() || behind.starts_with(|c: char| c.is_ascii_digit());
        (ends && has_values).then(|| (*section, rest.trim_start_matches([':', '.'])))
    })
}

/// Numbers and their units: `507,36 MB/s 394,42 MB/s`.
fn parse_values(text: &str) -> Vec<(f64, &str)> {
    let mut found: Vec<(f64, &str)> = Vec::new();
    for word in text.split([' ', '\t', '|']).filter(|word| !word.is_empty()) {
        match (parse_number(word).is_some(), parse_speed(word), found.last_mut()) {
            (true, Some(value), _) => found.push((value, "")),
            (false, _, Some((_, unit))) if unit.is_empty() => *unit = word,
            _ => {}
        }
    }
    found
}
