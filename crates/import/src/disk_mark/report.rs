//! Reads the reports of the family, one log each.
//!
//! A report is a heading with program and version, result lines, and a footer. Any part can be missing where people
//! pasted it, so a report also begins where a test comes a second time or figures follow a footer.

use super::dialect::{CRYSTALDISKMARK, Dialect, KDISKMARK, doubts, is_sure_result};
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

/// True for a report with KDiskMark's heading; without it nothing tells it from CrystalDiskMark's.
pub(crate) fn is_kdiskmark(text: &Text) -> bool {
    let any = |test: fn(&str) -> bool| text.lines().any(test);
    any(|line| KDISKMARK.heading(line).is_some()) && is_crystaldiskmark(text)
}

/// True where a result line stands in it, with or without a heading; random access alone can be anybody's.
pub(crate) fn is_crystaldiskmark(text: &Text) -> bool {
    text.lines().any(is_sure_result)
}

/// Reads all reports in a text of KDiskMark.
pub(crate) fn kdiskmark(text: &Text) -> Result<Vec<Log>, ImportError> {
    read(text, &KDISKMARK)
}

/// The same of CrystalDiskMark or AmorphousDiskMark.
pub(crate) fn crystaldiskmark(text: &Text) -> Result<Vec<Log>, ImportError> {
    read(text, &CRYSTALDISKMARK)
}

/// Reads all reports in the text, one log each; those without a heading are of `usual`.
fn read(text: &Text, usual: &'static Dialect) -> Result<Vec<Log>, ImportError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn figures_of_crystaldiskmark_come_back_and_agree_with_their_iops(
            mb_s in 0.001..8000.0_f64, queue in 1_u32..64, threads in 1_u32..16
        ) {
            let iops = mb_s * 1e6 / 4096.0;
            let text = format!(
                "[Write]\n  RND    4KiB (Q={queue:3}, T={threads:2}): {mb_s:9.3} MB/s [{iops:9.1} IOPS] <{:9.2} us>\n",
                1e6 / iops
            );
            let log = read(&Text::of(&text), &CRYSTALDISKMARK).unwrap().remove(0);
            let read = &log.runs[0].results[0];
            proptest::prop_assert_eq!(read.test.to_string(), format!("RND4K Q{queue}T{threads}"));
            proptest::prop_assert!((read.mb_s - mb_s).abs() <= 0.000_5 + 1e-9);
            if let Some(printed) = read.iops {
                // Both were rounded: 0.0005 MB/s here, 0.05 I/Os of 4096 bytes there.
                proptest::prop_assert!((read.mb_s * 1e6 - printed * 4096.0).abs() <= 500.0 + 205.0);
            }
        }

        #[test]
        fn figures_of_kdiskmark_come_back_and_agree_with_their_iops(kib_s in 100.0..8_000_000.0_f64) {
            let line = format!("Random 4 KiB (Q= 1, T= 1): {:9.3} MB/s [{:8.1} IOPS]", kib_s / 1000.0, kib_s / 4.0);
            let text = format!("KDiskMark (3.3.0): x\n[Read]\n{line}\n");
            let log = read(&Text::of(&text), &KDISKMARK).unwrap().remove(0);
            let result = &log.runs[0].results[0];
            // 0.0005 of its MB/s were rounded off, and 0.05 I/Os of 4096 bytes.
            proptest::prop_assert!((result.mb_s * 1e6 - kib_s * 1024.0).abs() <= 512.0 + 1.0);
            let by_iops = result.iops.unwrap() * 4096.0;
            proptest::prop_assert!((result.mb_s * 1e6 - by_iops).abs() <= 512.0 + 205.0 + 1.0);
        }
    }
}
