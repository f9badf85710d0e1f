//! Reports of the CrystalDiskMark family, one log each.
//!
//! A report has a heading with program and version, result lines, and a footer. Pasted reports may lack any of these, so
//! a repeated test, or a result after a footer, also begins a report.

use super::footer;
use super::line::{self, SpeedLine};
use crate::readers::{
    LogText, ReaderOutcome, RunBuilder, add_doubts, add_note, name_reports, new_log, printed_figure,
};
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::{CardLog, LogTool};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::{IoOrder, TestName, TestOp};

/// CrystalDiskMark 3 to 9, and AmorphousDiskMark, which prints the same form on the Mac. Their MB/s are 10^6 bytes a second,
/// which IOPS times block confirms. The programs copy English text in every language; translations come from users.
static CRYSTALDISKMARK: DiskMarkDialect = DiskMarkDialect {
    format: "crystaldiskmark",
    programs: &["CrystalDiskMark", "AmorphousDiskMark"],
    mb_s: 1.0,
};

/// KDiskMark 1.6 to 3.3. It prints fio's `bw`, which is KiB/s, divided by 1000 as MB/s: 1.024 MB/s each. Its IOPS are
/// exact, and agree with the speed only then. Before 3.3.0 it halved tests of several threads. Its mix is a mean of read
/// and write speed weighted by the share of reads, where the card moved their sum.
static KDISKMARK: DiskMarkDialect =
    DiskMarkDialect { format: "kdiskmark", programs: &["KDiskMark"], mb_s: 1.024 };

/// Differences between the programs of the family.
struct DiskMarkDialect {
    format: &'static str,
    /// Names that precede the version in a heading; the first is the default.
    programs: &'static [&'static str],
    /// 10^6 bytes a second in one printed MB/s.
    mb_s: f64,
}

impl DiskMarkDialect {
    /// Program and version of a heading: `KDiskMark (3.0.0): …`, `CrystalDiskMark 8.0.4 x64 …`.
    fn heading(&self, line: &str) -> Option<LogTool> {
        self.programs.iter().find_map(|program| {
            let rest = line.split_once(program)?.1.trim_start_matches([' ', '(']);
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let version = rest[..end].trim_end_matches('.');
            let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
            is_version.then(|| LogTool { name: (*program).to_owned(), version: Some(version.to_owned()) })
        })
    }
}

static DIALECTS: [&DiskMarkDialect; 2] = [&KDISKMARK, &CRYSTALDISKMARK];

/// KDiskMark: recognised by its heading, since its lines are the same as CrystalDiskMark's.
pub(crate) mod kdiskmark {
    use super::{KDISKMARK, LogText, ReaderOutcome, crystaldiskmark};

    pub(crate) fn recognise(text: &LogText) -> bool {
        text.lines().any(|line| KDISKMARK.heading(line).is_some()) && crystaldiskmark::recognise(text)
    }

    pub(crate) fn read(text: &LogText) -> ReaderOutcome {
        super::read_reports(text, &KDISKMARK)
    }
}

/// CrystalDiskMark or AmorphousDiskMark: recognised by a result line, with or without a heading.
pub(crate) mod crystaldiskmark {
    use super::{CRYSTALDISKMARK, LogText, ReaderOutcome, is_sure_result};

    pub(crate) fn recognise(text: &LogText) -> bool {
        text.lines().any(is_sure_result)
    }

    pub(crate) fn read(text: &LogText) -> ReaderOutcome {
        super::read_reports(text, &CRYSTALDISKMARK)
    }
}

/// Reads all reports in the text. Those without a heading are of `usual`.
fn read_reports(text: &LogText, usual: &'static DiskMarkDialect) -> ReaderOutcome {
    let (logs, prose, lost_doubts) = Default::default();
    let report = DiskMarkReport::new(usual);
    let mut reader = DiskMarkReader { dialect: usual, logs, report, prose, lost_doubts };
    text.lines().for_each(|line| reader.read_line(line));
    reader.end_report();
    let mut logs = reader.finish()?;
    logs.iter_mut().filter(|log| log.format == KDISKMARK.format).for_each(add_kdiskmark_doubts);
    Ok(logs)
}

struct DiskMarkReader {
    dialect: &'static DiskMarkDialect,
    logs: Vec<CardLog>,
    report: DiskMarkReport,
    /// Last line of prose, which becomes the name of the report below it.
    prose: Option<String>,
    /// Doubts of reports without any result.
    lost_doubts: Vec<String>,
}

#[derive(Default)]
struct DiskMarkReport {
    log: CardLog,
    runs: RunBuilder,
    section: Option<TestOp>,
    has_footer: bool,
    comment_next: bool,
    not_run: usize,
    results_without_op: usize,
}

impl DiskMarkReport {
    fn new(dialect: &DiskMarkDialect) -> Self {
        let log = CardLog { format: dialect.format.to_owned(), ..new_log(dialect.programs[0], None) };
        DiskMarkReport { log, ..DiskMarkReport::default() }
    }
}

impl DiskMarkReader {
    fn read_line(&mut self, text: &str) {
        if let Some(line) = line::parse_line(text) {
            self.add_result(&line);
        } else if let Some((dialect, tool)) = parse_heading(text) {
            self.dialect = dialect;
            self.end_report();
            self.report.log.tool = Some(tool);
        } else if !self.read_section(text) && !self.read_footer(text) {
            self.read_prose(text.trim());
        }
    }

    fn add_result(&mut self, line: &SpeedLine<'_>) {
        if self.report.has_footer {
            self.end_report();
        }
        if self.report.log.part.is_none() {
            self.report.log.part = self.prose.take();
        }
        let own = line.op.map(|op| match (op, self.report.section) {
            (TestOp::Mix(_), Some(mix @ TestOp::Mix(_))) => mix,
            _ => op,
        });
        // A test that was not run is printed as zero.
        let op = match own.or(self.report.section) {
            None => return self.report.results_without_op += 1,
            Some(_) if line.value == 0.0 => return self.report.not_run += 1,
            Some(op) => op,
        };
        let name = TestName { pattern: line.pattern, op };
        if self.report.runs.has_test(name, None) {
            let section = self.report.section;
            self.end_report();
            self.report.section = section;
        }
        let mut result = printed_figure(name, line.value, line.unit, self.dialect.mb_s);
        result.iops = line.iops.filter(|iops| *iops > 0.0);
        result.latency_us = line.latency_us.filter(|latency| *latency > 0.0);
        self.report.runs.add_figure(result);
    }

    /// `[Read]`, `[Mix] Read 70%/Write 30%`.
    fn read_section(&mut self, text: &str) -> bool {
        let text = text.trim_start_matches(['>', ' ', '\t']);
        let (name, rest) = text.strip_prefix('[').and_then(|text| text.split_once(']')).unwrap_or_default();
        let Some(op) = line::parse_op(name.trim()) else { return false };
        if self.report.has_footer {
            self.end_report();
        }
        self.report.section = Some(match (op, share_of_reads(rest)) {
            (TestOp::Mix(_), Some(reads)) => TestOp::Mix(reads),
            _ => op,
        });
        true
    }

    fn read_footer(&mut self, text: &str) -> bool {
        let mut head = Run::default();
        if !footer::read_line(text, &mut self.report.log, &mut head) {
            return false;
        }
        let run = self.report.runs.current_run();
        run.size_bytes = head.size_bytes.or(run.size_bytes);
        run.loops = head.loops.or(run.loops);
        // Footer lines above the results belong to them, so they do not end the report.
        self.report.has_footer = !run.results.is_empty();
        self.report.comment_next = text.trim_start_matches(['>', ' ']).starts_with("OS");
        true
    }

    /// Handles any other line. After the system follows the comment in versions 3 to 6; other prose names the next report.
    fn read_prose(&mut self, text: &str) {
        if !text.chars().any(char::is_alphanumeric) {
            self.report.comment_next = false;
        } else if std::mem::take(&mut self.report.comment_next) {
            add_note(&mut self.report.log.condition, text, ConditionOrigin::Stated);
        } else if !text.starts_with('*') && !text.contains("://") {
            self.prose = Some(text.trim_start_matches(['#', '>', ' ']).to_owned());
        }
    }

    fn end_report(&mut self) {
        let report = std::mem::replace(&mut self.report, DiskMarkReport::new(self.dialect));
        let mut log = CardLog { runs: report.runs.finish(), ..report.log };
        let (zeros, outside) = (report.not_run, report.results_without_op);
        log.doubts.extend((zeros > 0).then(|| format!("{zeros} tests with 0.000 were not run")));
        let skipped = || format!("skipped {outside} lines outside of [Read] and [Write]");
        log.doubts.extend((outside > 0).then(skipped));
        if log.runs.is_empty() {
            self.lost_doubts.append(&mut log.doubts);
        } else {
            self.logs.push(log);
        }
    }

    /// Returns the logs. They have part names only if there are several.
    fn finish(self) -> ReaderOutcome {
        let mut logs = self.logs;
        if logs.is_empty() {
            let nothing = || "it has no complete line with a test and a speed".to_owned();
            return Err(self.lost_doubts.into_iter().next().unwrap_or_else(nothing));
        }
        if let [only] = &mut logs[..] {
            only.part = None;
        }
        name_reports(&mut logs);
        Ok(logs)
    }
}

fn parse_heading(line: &str) -> Option<(&'static DiskMarkDialect, LogTool)> {
    DIALECTS.iter().find_map(|dialect| Some((*dialect, dialect.heading(line)?)))
}

/// `Read 70%/Write 30%`.
fn share_of_reads(text: &str) -> Option<u8> {
    let share = text.split_once('%')?.0.split_whitespace().next_back()?.parse().ok()?;
    (1..=99).contains(&share).then_some(share)
}

/// True for a result in a form that only these programs print: with a queue in brackets, or sequential with three decimals.
/// Prose and source code have lines such as `Sequential Read: 100 MB/s`, too.
fn is_sure_result(line: &str) -> bool {
    let sure = |result: &SpeedLine<'_>| {
        let queue = line.split_once('(').is_some_and(|(_, rest)| rest.contains('='));
        queue || (result.pattern.order == IoOrder::Sequential && has_three_decimals(line))
    };
    line::parse_line(line).is_some_and(|result| sure(&result))
}

/// True if a number has three decimals, as in all output of these programs: `20.505`, `91,559`.
fn has_three_decimals(line: &str) -> bool {
    let numbers = line.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    numbers.filter_map(|number| number.rsplit_once(['.', ','])).any(|(_, decimals)| decimals.len() == 3)
}

fn add_kdiskmark_doubts(log: &mut CardLog) {
    let any = |test: fn(&TestFigure) -> bool| log.runs.iter().flat_map(|run| &run.results).any(test);
    let halved = any(|figure| figure.test.threads > 1) && !log.tool.as_ref().is_some_and(counts_all_threads);
    let mixed = any(|figure| matches!(figure.op, TestOp::Mix(_)));
    let doubts = [
        (halved, "this version of KDiskMark prints tests of several threads at half their speed"),
        (mixed, "KDiskMark's mix is a weighted mean of read and write speed, below the real total"),
    ];
    add_doubts(log, doubts);
}

/// True since KDiskMark 3.3.0.
fn counts_all_threads(tool: &LogTool) -> bool {
    let version = tool.version.as_deref().unwrap_or_default();
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    numbers.as_slice() >= [3, 3].as_slice()
}
