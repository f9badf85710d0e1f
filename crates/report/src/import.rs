//! What was imported, as text: one line a file with something to say, the figures where they are asked for, and the sums.

use crate::figure::{count, in_a_line, sentence, speed};
use crate::page::table::Table;
use crate::page::{Block, Page, Remark, Section, Tone};
use cardscope_model::imported::{FileLine, FileOutcome, ImportReport, Totals};
use cardscope_model::log::Log;
use cardscope_model::run::Run;
use std::collections::BTreeMap;

/// The page: the sums first, then what needs a look; every file and figure as a detail.
pub fn page(report: &ImportReport) -> Page {
    let totals = &report.totals;
    let tone = if totals.failed > 0 { Tone::Warning } else { Tone::Plain };
    let mut page = Page::new(report.archive.as_deref().unwrap_or_default(), tone, answer(report));
    page.because_all(Tone::Plain, sums(totals));
    let failed = |line: &&FileLine| line.kept == FileOutcome::Failed;
    let failures = report.files.iter().filter(failed).map(line).collect::<Vec<_>>();
    page.add("Failed", [Block::Lines(failures)]);
    page.add("By format", [Block::Table(by_format(report))]);
    page.end.extend(report.error.iter().map(|error| format!("Ended early: {error}")));
    page.fold("Notes", [Block::Remarks(notes(report))]);
    page.fold("Files", [Block::Lines(report.files.iter().map(line).collect())]);
    let logs = report.files.iter().filter_map(|file| Some((file.file.as_str(), file.log.as_ref()?)));
    page.fold("Results", logs.flat_map(|(file, log)| results(file, log)));
    page
}

fn answer(report: &ImportReport) -> String {
    let totals = &report.totals;
    let logs = totals.files - (totals.not_understood + totals.failed).min(totals.files);
    let verb = if report.archive.is_some() { "Imported" } else { "Dry run: found" };
    let found = format!("{} ({})", count(totals.runs, "run"), count(totals.figures, "result"));
    let others = match totals.not_understood {
        0 => ".".to_owned(),
        1 => "; 1 is not a log.".to_owned(),
        n => format!("; {n} are not logs."),
    };
    match (logs, totals.known) {
        (0, _) if totals.files == 0 => "Nothing to import: no file found.".to_owned(),
        (0, _) if totals.failed > 0 => {
            format!("Nothing imported: {} failed{others}", count(totals.failed, "file"))
        }
        (0, _) => format!("Nothing to import: {} found, none is a log.", count(totals.files, "file")),
        (_, 0) => format!("{verb} {found} from {}{others}", count(logs, "file")),
        (1, 1) => format!("Nothing new: the log was imported before{others}"),
        (_, known) if known == logs => format!("Nothing new: all {logs} logs were imported before{others}"),
        (_, known) => {
            format!("Imported {}; {known} were imported before{others}", count(logs - known, "new log"))
        }
    }
}

/// What became of the files that are not in the archive now, each kind in a line.
fn sums(totals: &Totals) -> impl Iterator<Item = String> {
    let understood = "`cardscope import --formats` lists the tools whose logs are understood";
    let said = [
        (totals.not_understood, format!("not a log of a known tool; {understood}")),
        (totals.failed, "failed".to_owned()),
    ];
    said.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{}: {what}.", count(n, "file")))
}

/// Files, runs and results of each format.
fn by_format(report: &ImportReport) -> Table {
    let mut formats: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for log in report.files.iter().filter_map(|file| file.log.as_ref()) {
        let [files, runs, results] = formats.entry(log.format.as_str()).or_default();
        *files += 1;
        *runs += log.runs.len();
        *results += log.runs.iter().map(|run| run.results.len()).sum::<usize>();
    }
    Table::of(
        &formats.into_iter().collect::<Vec<_>>(),
        &[
            ("format", &|(format, _)| (*format).to_owned()),
            ("files", &|(_, n)| n[0].to_string()),
            ("runs", &|(_, n)| n[1].to_string()),
            ("results", &|(_, n)| n[2].to_string()),
        ],
    )
}

/// What is doubtful in the logs; a doubt that several files share is one line.
fn notes(report: &ImportReport) -> Vec<Remark> {
    let mut doubts: Vec<(String, Vec<&str>)> = Vec::new();
    for file in &report.files {
        for doubt in file.log.iter().flat_map(|log| &log.doubts) {
            let doubt = doubt.to_string();
            match doubts.iter_mut().find(|(known, _)| *known == doubt) {
                Some((_, files)) => files.push(&file.file),
                None => doubts.push((doubt, vec![&file.file])),
            }
        }
    }
    let remark = |(doubt, files): (String, Vec<&str>)| match files[..] {
        [one] => Remark::plain(format!("{one}: {doubt}")),
        _ => Remark::plain(format!("{}: {doubt}", count(files.len() as u64, "file"))),
    };
    doubts.into_iter().map(remark).collect()
}

/// One log as it was understood, with every figure.
pub fn log(log: &Log) -> Page {
    let tool = log.tool.as_ref().map(|tool| {
        let version = tool.version.as_ref().map_or(String::new(), |v| format!(" {v}"));
        format!("{}{version}", tool.name)
    });
    let head = [tool.unwrap_or_else(|| log.format.clone()), what(log)].into_iter().chain(log.date.clone());
    let mut page = Page::plain(in_a_line(&head.collect::<Vec<_>>().join(" · ")));
    page.add("Notes", [Block::Lines(log.doubts.iter().map(|doubt| sentence(&doubt.to_string())).collect())]);
    page.add("", results("", log));
    let other = (!log.other.is_empty()).then(|| serde_json::to_string_pretty(&log.other).ok()).flatten();
    page.fold("Other", other.map(Block::Verbatim));
    page
}

fn line(line: &FileLine) -> String {
    let name = &line.file;
    match (&line.log, &line.error) {
        (Some(log), _) => format!("{name}: {}, {}", log.format, what(log)),
        (None, Some(error)) => format!("{name}: {} ({})", word(line.kept), error),
        (None, None) => format!("{name}: {}", word(line.kept)),
    }
}

/// The card and what was found of it, in a line.
fn what(log: &Log) -> String {
    let card = if log.card.is_empty() { "card unknown".to_owned() } else { log.card.title() };
    let figures: usize = log.runs.iter().map(|run| run.results.len()).sum();
    let conditions: Vec<String> =
        log.condition.iter().filter(|(word, _)| *word != "note").map(|(w, v)| format!("{w} {v}")).collect();
    let mut parts = vec![card];
    parts.extend(log.part.clone());
    parts.extend(conditions);
    if figures > 0 {
        let runs = count(log.runs.len() as u64, "run");
        parts.push(format!("{runs} with {}", count(figures as u64, "result")));
    }
    if !log.other.is_empty() {
        parts.push(log.other.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    parts.join(" · ")
}

/// The figures of a log, run by run.
fn results(file: &str, log: &Log) -> Vec<Block> {
    let table = |run: &Run| {
        let run_of = if log.runs.len() > 1 { format!("run {}", run.run) } else { String::new() };
        let head = [file, &run_of].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        Block::Section(Section::new(&head, [Block::Table(figures(run))]))
    };
    log.runs.iter().map(table).collect()
}

fn figures(run: &Run) -> Table {
    Table::of(
        &run.results,
        &[
            ("test", &|f| {
                let parts = [Some(f.name().to_string()), f.step.clone()];
                parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }),
            ("MB/s", &|f| speed(f.mb_s)),
            ("IOPS", &|f| f.iops.map(speed).unwrap_or_default()),
            ("as printed", &|f| format!("{} {}", f.printed().value, f.printed().unit)),
        ],
    )
}

fn word(kept: FileOutcome) -> &'static str {
    match kept {
        FileOutcome::New => "imported",
        FileOutcome::Known => "imported before",
        FileOutcome::DryRun => "understood",
        FileOutcome::NotUnderstood => "not a log of a known tool",
        FileOutcome::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_says_what_is_new_and_what_is_not_a_log() {
        let said = |files, known, not_understood, failed| {
            let totals =
                Totals { files, known, not_understood, failed, runs: 5, figures: 13, ..Totals::default() };
            answer(&ImportReport { totals, archive: Some("a".into()), ..ImportReport::default() })
        };
        assert_eq!(said(132, 0, 123, 0), "Imported 5 runs (13 results) from 9 files; 123 are not logs.");
        assert_eq!(said(9, 9, 0, 0), "Nothing new: all 9 logs were imported before.");
        assert_eq!(said(2, 1, 1, 0), "Nothing new: the log was imported before; 1 is not a log.");
        assert_eq!(said(9, 3, 0, 0), "Imported 6 new logs; 3 were imported before.");
        assert_eq!(said(0, 0, 0, 0), "Nothing to import: no file found.");
        assert_eq!(said(4, 0, 4, 0), "Nothing to import: 4 files found, none is a log.");
        assert_eq!(said(2, 0, 1, 1), "Nothing imported: 1 file failed; 1 is not a log.");
    }

    #[test]
    fn a_dry_run_shows_what_each_figure_is_and_what_was_printed() {
        let report = crate::sample::dry_run();
        insta::assert_snapshot!(page(&report).text(), @r#"
        Dry run: found 1 run (1 result) from 1 file.

        By format
          format   files  runs  results
          cdm_fio      1     1        1

        Notes
          • a.log: its end is missing

        Files
          a.log: cdm_fio, SD71 · 1 run with 1 result

        Results
        a.log
          test             MB/s  as printed
          SEQ1G Q1T1 read   786    750 MB/s
        "#);
    }
}
