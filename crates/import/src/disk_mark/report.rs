//! Reads the reports of the family, one log each.
//!
//! A report is a heading with program and version, result lines, and a footer. Any part can be missing where people
//! pasted it, so a report also begins where a test comes a second time or figures follow a footer.

use super::dialect::{CRYSTALDISKMARK, Dialect, KDISKMARK, doubts};
use super::footer;
use super::line::{self, Direction, Line};
use crate::error::ImportError;
use crate::notes::add_note;
use crate::numbers::figure;
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, Tool};
use cardscope_model::run::Run;
use cardscope_model::test_name::TestName;

/// Share of reads in percent of a mix that does not say it: the programs' own choice.
const USUAL_MIX: u8 = 70;

/// All programs; a heading of any begins its report.
static DIALECTS: [&Dialect; 2] = [&KDISKMARK, &CRYSTALDISKMARK];

/// Reads all reports in the text, one log each; those without a heading are of `usual`.
pub(super) fn read(text: &Text, usual: &'static Dialect) -> Result<Vec<Log>, ImportError> {
    let mut reader = Reader::new(usual);
    for line in text.lines() {
        reader.line(line);
    }
    reader.end_report();
    let mut logs = reader.finish()?;
    for log in logs.iter_mut().filter(|log| log.format == KDISKMARK.format) {
        let doubts = doubts(log);
        log.doubts.extend(doubts);
    }
    Ok(logs)
}

/// Where the reader is.
struct Reader {
    dialect: &'static Dialect,
    logs: Vec<Log>,
    report: Report,
    /// The last line that is prose: what a pasted report stands under.
    prose: Option<String>,
    /// What reports lost of which nothing could be kept.
    lost: Vec<String>,
}

/// The report that is being read.
struct Report {
    log: Log,
    runs: Runs,
    section: Option<Direction>,
    reads: u8,
    footer_seen: bool,
    comment_next: bool,
    not_run: usize,
    without_direction: usize,
}

impl Report {
    fn new(dialect: &Dialect) -> Self {
        let mut log = Log::new(dialect.format);
        log.tool = dialect.programs.first().map(|name| Tool { name: (*name).to_owned(), version: None });
        Report {
            log,
            runs: Runs::default(),
            section: None,
            reads: USUAL_MIX,
            footer_seen: false,
            comment_next: false,
            not_run: 0,
            without_direction: 0,
        }
    }
}

impl Reader {
    fn new(dialect: &'static Dialect) -> Self {
        Reader { dialect, logs: Vec::new(), report: Report::new(dialect), prose: None, lost: Vec::new() }
    }

    fn line(&mut self, text: &str) {
        if let Some(line) = line::read(text) {
            self.result(&line);
        } else if let Some((dialect, tool)) = headed(text) {
            self.dialect = dialect;
            self.end_report();
            self.report.log.tool = Some(tool);
        } else if !self.section(text) && !self.footer(text) {
            self.other(text.trim());
        }
    }

    fn result(&mut self, line: &Line<'_>) {
        if self.report.footer_seen {
            self.end_report();
        }
        if self.report.log.part.is_none() {
            self.report.log.part = self.prose.take();
        }
        let Some(direction) = line.direction.or(self.report.section) else {
            self.report.without_direction += 1;
            return;
        };
        // A test that was not run is printed as zero.
        if line.value == 0.0 {
            self.report.not_run += 1;
            return;
        }
        let name = TestName { pattern: line.pattern, op: direction.op(self.report.reads) };
        if self.report.runs.has(name, None) {
            let (section, reads) = (self.report.section, self.report.reads);
            self.end_report();
            (self.report.section, self.report.reads) = (section, reads);
        }
        let mut result = figure(name, line.value, line.unit, self.dialect.mb_s);
        result.iops = line.iops.filter(|iops| *iops > 0.0);
        result.latency_us = line.latency_us.filter(|latency| *latency > 0.0);
        self.report.runs.add(result);
    }

    /// `[Read]`, `[Mix] Read 70%/Write 30%`.
    fn section(&mut self, text: &str) -> bool {
        let text = text.trim_start_matches(['>', ' ', '\t']);
        let Some((name, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) else {
            return false;
        };
        let Some(direction) = line::direction(name.trim()) else { return false };
        if self.report.footer_seen {
            self.end_report();
        }
        self.report.section = Some(direction);
        self.report.reads = share_of_reads(rest).unwrap_or(USUAL_MIX);
        true
    }

    fn footer(&mut self, text: &str) -> bool {
        let mut head = Run::default();
        if !footer::read(text, &mut self.report.log, &mut head) {
            return false;
        }
        let run = self.report.runs.last_mut();
        run.size_bytes = head.size_bytes.or(run.size_bytes);
        run.loops = head.loops.or(run.loops);
        // What stands above the figures belongs to them.
        self.report.footer_seen = !run.results.is_empty();
        self.report.comment_next = text.trim_start_matches(['>', ' ']).starts_with("OS");
        true
    }

    /// The line after the system is the comment in versions 3 to 6; elsewhere prose is what the next report stands under.
    fn other(&mut self, text: &str) {
        if !text.chars().any(char::is_alphanumeric) {
            self.report.comment_next = false;
        } else if std::mem::take(&mut self.report.comment_next) {
            add_note(&mut self.report.log.condition, text, Origin::Stated);
        } else if !text.starts_with('*') && !text.contains("://") {
            self.prose = Some(text.trim_start_matches(['#', '>', ' ']).to_owned());
        }
    }

    fn end_report(&mut self) {
        let report = std::mem::replace(&mut self.report, Report::new(self.dialect));
        let mut log = report.log;
        log.runs = report.runs.finish();
        if report.not_run > 0 {
            log.doubts.push(format!("{} tests are printed as 0.000: they were not run", report.not_run));
        }
        if report.without_direction > 0 {
            let lost = report.without_direction;
            log.doubts.push(format!("{lost} lines stand under neither [Read] nor [Write] and were left out"));
        }
        if log.runs.is_empty() {
            self.lost.append(&mut log.doubts);
        } else {
            self.logs.push(log);
        }
    }

    /// Parts need names only where there are several.
    fn finish(self) -> Result<Vec<Log>, ImportError> {
        let mut logs = self.logs;
        if logs.is_empty() {
            let nothing = "it has no whole line with a test and a speed".to_owned();
            let why = self.lost.into_iter().next().unwrap_or(nothing);
            return Err(ImportError::Empty { format: self.dialect.format, why });
        }
        let several = logs.len() > 1;
        for (log, number) in logs.iter_mut().zip(1..) {
            let part = log.part.take().unwrap_or_else(|| format!("report {number}"));
            log.part = several.then_some(part);
        }
        Ok(logs)
    }
}

/// Program and version, where the line is the heading of a report.
fn headed(line: &str) -> Option<(&'static Dialect, Tool)> {
    DIALECTS.iter().find_map(|dialect| Some((*dialect, dialect.heading(line)?)))
}

/// `Read 70%/Write 30%`.
fn share_of_reads(text: &str) -> Option<u8> {
    let share = text.split_once('%')?.0.split_whitespace().next_back()?.parse().ok()?;
    (1..=99).contains(&share).then_some(share)
}
