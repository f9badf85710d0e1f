//! H2testw: its summary, in English and German.
//!
//! KByte, MByte and GByte are powers of 1024. `H2testw version 1.3` among the error lines is the version of the data, not
//! of the program. Counts are identified by their order, since no real log with the details in German was available.

use crate::readers::{
    LogText, ReaderOutcome, binary_mb_s, new_log, parse_amount, read_by_heading, sequential_test,
    step_figure, strip_start,
};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestOp;
use cardscope_model::units::MIB;
use cardscope_model::verify::{SectorCounts, Verdict};
use serde_json::{Value, json};

/// Beginnings of lines with speeds.
const SPEED_LINES: [(&str, TestOp); 4] = [
    ("Writing speed:", TestOp::Write),
    ("Schreibrate:", TestOp::Write),
    ("Reading speed:", TestOp::Read),
    ("Leserate:", TestOp::Read),
];

/// Final message without losses.
const WITHOUT_ERRORS: [&str; 2] = ["Test finished without errors", "kein Fehler aufgetreten"];

/// Final message with losses.
const DEFECTIVE: [&str; 2] = ["The media is likely to be defective", "wahrscheinlich defekt"];

/// Content of the summary.
#[derive(Debug, Default)]
struct H2testwSummary {
    sectors: SectorCounts,
    /// Lost sectors according to the summary.
    lost: Option<u64>,
    /// Offset of the first wrong sector, its expected content, and the actual one.
    first_error: Vec<u64>,
    /// MByte tested, and MByte of the card.
    tested: Option<(u64, u64)>,
    without_errors: bool,
    defective: bool,
}

/// True if the text has the program's name or one of its speeds.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("H2testw v") || parse_figure(line).is_some())
}

/// Reads the text; each report, which begins with its verdict, is a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let verdict = |line: &str| contains_any(line, WITHOUT_ERRORS) || contains_any(line, DEFECTIVE);
    read_by_heading(text, verdict, read_report)
}

fn contains_any(line: &str, texts: [&str; 2]) -> bool {
    texts.iter().any(|text| line.contains(text))
}

fn read_report(text: &LogText) -> ReaderOutcome {
    let mut versions = text.lines().filter_map(|line| line.trim().strip_prefix("H2testw v"));
    let version = versions.rfind(|version| !version.starts_with("ersion"));
    let mut log = new_log("H2testw", version.map(str::trim));
    let summary = H2testwSummary::from_text(text);
    let results: Vec<TestFigure> = text.lines().filter_map(parse_figure).collect();
    if !results.is_empty() {
        log.runs.push(Run { run: 1, size_bytes: summary.tested_bytes(), results, ..Run::default() });
    }
    log.other.extend(summary.has_result().then(|| ("h2testw".to_owned(), summary.to_document())));
    Ok(vec![log])
}

fn parse_figure(line: &str) -> Option<TestFigure> {
    let (rest, op) = strip_start(line.trim(), &SPEED_LINES)?;
    let speed = parse_amount(rest).filter(|speed| speed.unit.ends_with("Byte/s"))?;
    Some(step_figure("h2testw", sequential_test(MIB, op), speed, binary_mb_s(speed.unit)?))
}

impl H2testwSummary {
    fn from_text(text: &LogText) -> Self {
        let mut summary = H2testwSummary::default();
        let mut counts = Vec::new();
        for line in text.lines() {
            counts.extend(parse_sectors(line));
            summary.first_error.extend(parse_offset(line));
            summary.tested = summary.tested.or_else(|| parse_tested(line));
            summary.without_errors |= contains_any(line, WITHOUT_ERRORS);
            summary.defective |= contains_any(line, DEFECTIVE);
        }
        let mut counts = counts.into_iter();
        let sectors = &mut summary.sectors;
        sectors.ok = counts.next().unwrap_or(0);
        summary.lost = counts.next();
        let SectorCounts { overwritten, changed, corrupted, aliased, .. } = sectors;
        [overwritten, changed, corrupted, aliased].into_iter().zip(counts).for_each(|(place, n)| *place = n);
        summary
    }

    fn has_result(&self) -> bool {
        self.without_errors || self.defective || self.lost.is_some() || self.tested.is_some()
    }

    fn verdict(&self) -> Verdict {
        match (self.lost, self.without_errors) {
            (Some(1..), _) => Verdict::Damaged,
            _ if self.defective => Verdict::Damaged,
            (Some(0), _) | (None, true) => Verdict::Genuine,
            _ => Verdict::Inconclusive,
        }
    }

    fn tested_bytes(&self) -> Option<u64> {
        let counted = self.sectors.ok.checked_add(self.lost.unwrap_or(0)).filter(|n| *n > 0);
        counted.and_then(|n| n.checked_mul(512)).or_else(|| self.tested?.0.checked_mul(MIB))
    }

    /// Result in the form of `verify --files`. An untested last megabyte is not a fault of the card.
    fn to_document(&self) -> Value {
        let first = &self.first_error;
        let known = [
            ("announced_bytes", self.tested.map(|(_, all)| json!(all.checked_mul(MIB)))),
            ("good_bytes", self.lost.map(|_| json!(self.sectors.ok.checked_mul(512)))),
            ("lost_bytes", self.lost.map(|lost| json!(lost.checked_mul(512)))),
            ("sectors", self.lost.map(|_| json!(self.sectors))),
            (
                "first_error",
                first
                    .first()
                    .map(|at| json!({"offset": at, "expected": first.get(1), "found": first.get(2)})),
            ),
        ];
        let mut document = json!({ "verdict": self.verdict(), "tested_bytes": self.tested_bytes() });
        known.into_iter().for_each(|(n, value)| value.into_iter().for_each(|value| document[n] = value));
        document
    }
}

/// Count in `57 KByte corrupted (114 sectors)` or `(< 8 bit/sector, 0 sectors)`.
fn parse_sectors(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once('(')?;
    let words = rest.trim_end().strip_suffix(')')?;
    let count = words.strip_suffix(" sectors").or_else(|| words.strip_suffix(" Sektoren"))?;
    count.rsplit(' ').next()?.parse().ok()
}

/// Number in `First error at offset: 0x0000000171279c00`, and in the two lines after it.
fn parse_offset(line: &str) -> Option<u64> {
    let (_, digits) = line.split_once(": 0x")?;
    u64::from_str_radix(digits.trim(), 16).ok().filter(|_| digits.trim().len() == 16)
}

/// MByte tested and of the card in `Warning: Only 30107 of 30108 MByte tested.`
fn parse_tested(line: &str) -> Option<(u64, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "MByte").filter(|at| *at >= 3)?;
    let between = matches!(words[at - 2], "of" | "von");
    Some((words[at - 3].parse().ok()?, words[at - 1].parse().ok()?)).filter(|_| between)
}
