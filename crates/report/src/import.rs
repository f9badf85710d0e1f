//! What was imported, as text: one line a file with something to say, the figures where they are asked for, and the sums.

use crate::figure::{count, speed};
use crate::table::Table;
use cardscope_model::imported::{FileLine, FileOutcome, ImportReport, Totals};
use cardscope_model::log::Log;
use cardscope_model::run::Run;

/// The document as text. `detailed` shows the figures of what was understood.
pub fn text(report: &ImportReport, detailed: bool) -> String {
    let mut out = String::new();
    for line in &report.files {
        out += &file(line, detailed);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out += &sums(&report.totals, report.archive.as_deref());
    out
}

/// One log as it was understood, with every figure.
pub fn log(log: &Log) -> String {
    let tool = log.tool.as_ref().map(|tool| {
        let version = tool.version.as_ref().map_or(String::new(), |v| format!(" {v}"));
        format!("{}{version}", tool.name)
    });
    let head = [tool.unwrap_or_else(|| log.format.clone()), what(log)].into_iter().chain(log.date.clone());
    let mut out = format!("{}\n", head.collect::<Vec<_>>().join(" · "));
    out += &body(log, true);
    if !log.other.is_empty()
        && let Ok(other) = serde_json::to_string_pretty(&log.other)
    {
        out += &format!("{other}\n");
    }
    out
}

fn file(line: &FileLine, detailed: bool) -> String {
    let name = &line.file;
    let mut out = match (&line.log, &line.error) {
        (Some(log), _) => format!("{name}: {}, {}\n", log.format, what(log)),
        (None, Some(error)) => format!("{name}: {} ({})\n", word(line.kept), error),
        (None, None) => format!("{name}: {}\n", word(line.kept)),
    };
    if let Some(log) = &line.log {
        out += &body(log, detailed);
    }
    out
}

/// What is doubtful, and the figures where they are asked for.
fn body(log: &Log, detailed: bool) -> String {
    let mut out = String::new();
    for doubt in &log.doubts {
        out += &format!("  note: {}\n", doubt);
    }
    if detailed {
        for run in &log.runs {
            out += &figures(run, log.runs.len());
        }
    }
    out
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
        parts.push(format!("{runs} with {}", count(figures as u64, "figure")));
    }
    if !log.other.is_empty() {
        parts.push(log.other.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    parts.join(" · ")
}

fn figures(run: &Run, of: usize) -> String {
    let table = Table::of(
        &run.results,
        &[
            ("test", &|f| {
                [Some(f.name().to_string()), f.step.clone()]
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
                    .join(" ")
            }),
            ("MB/s", &|f| speed(f.mb_s)),
            ("IOPS", &|f| f.iops.map_or(String::new(), |iops| format!("{iops}"))),
            ("as printed", &|f| format!("{} {}", f.printed().value, f.printed().unit)),
        ],
    );
    let head = if of > 1 { format!("  run {}\n", run.run) } else { String::new() };
    head + &table.to_string().lines().map(|line| format!("    {line}\n")).collect::<String>()
}

fn sums(totals: &Totals, archive: Option<&str>) -> String {
    let mut parts = vec![format!(
        "{}: {} and {} understood",
        count(totals.files, "file"),
        count(totals.runs, "run"),
        count(totals.figures, "figure")
    )];
    let said = [
        (totals.new, "kept"),
        (totals.known, "known already"),
        (totals.not_understood, "no log of a known tool"),
        (totals.failed, "failed"),
    ];
    parts.extend(said.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    let place = archive.map_or_else(|| "nothing was kept: a dry run".to_owned(), |a| format!("archive {a}"));
    format!("{}; {place}\n", parts.join(", "))
}

fn word(kept: FileOutcome) -> &'static str {
    match kept {
        FileOutcome::New => "kept",
        FileOutcome::Known => "known already",
        FileOutcome::DryRun => "understood",
        FileOutcome::NotUnderstood => "left alone",
        FileOutcome::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_shows_what_each_figure_is_and_what_was_printed() {
        let report = crate::sample::dry_run();
        insta::assert_snapshot!(text(&report, true), @r"
        a.log: cdm_fio, SD71 · 1 run with 1 figure
          note: its end is missing
            test              MB/s  as printed
            SEQ1G Q1T1 read  786.4    750 MB/s

        1 file: 1 run and 1 figure understood; nothing was kept: a dry run
        ");
    }
}
