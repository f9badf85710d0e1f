//! Page of an import: one line for each file with something to report, totals, and all results on request.

use cardscope_model::card_map::{FlashGeometry, MAP_KEY};
use cardscope_model::import_report::{FileLine, FileOutcome, ImportReport, JoinedFiles};
use cardscope_model::log::CardLog;
use cardscope_model::report::NewsTone;
use cardscope_model::run::Run;
use cardscope_model::units::three_digits as speed;
use cardscope_page::figure::{answer_line, pluralize, time_us, to_sentence};
use cardscope_page::properties;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{FindingRemark, Page, PageBlock, PageFact, PageSection, fact};
use serde::Deserialize;

/// Page of an import: totals first, then the files that need attention; all files and results are folded.
pub fn import_page(report: &ImportReport) -> Page {
    let totals = &report.totals;
    let tone = if report.named_failed || totals.failed > 0 { NewsTone::Warning } else { NewsTone::Plain };
    let mut page = Page::new(report.archive.as_deref().unwrap_or_default(), tone, answer_sentence(report));
    page.end.extend(report.error.iter().map(|error| format!("Ended early: {error}")));
    if totals.not_understood > 0 {
        let formats = Some("cardscope import --formats".to_owned());
        page.add_step("List the tools whose logs are understood:", formats);
    }
    // For a single file that was not imported, the answer already states the reason.
    if only_failed_file(report).is_some() {
        return page;
    }
    let failed = report.files.iter().filter(|line| line.kept == FileOutcome::Failed);
    let failed = failed.map(|line| format!("{}: {}", line.file, line.error.as_deref().unwrap_or_default()));
    page.add_section("Failed", [PageBlock::Lines(failed.collect())]);
    page.add_section("Logs of one card", [PageBlock::Facts(report.joined.iter().map(joined_fact).collect())]);
    page.add_section("Flash geometry", [PageBlock::Table(geometry_table(report))]);
    page.add_section("By format", [PageBlock::Table(format_table(report))]);
    page.add_detail("Notes", [PageBlock::Remarks(doubt_remarks(report))]);
    page.add_detail("Files", [PageBlock::Lines(report.files.iter().map(file_line).collect())]);
    let logs = report.files.iter().filter_map(|file| Some((file.file.as_str(), file.log.as_ref()?)));
    page.add_detail("Results", logs.flat_map(|(file, log)| run_tables(file, log)));
    page
}

/// Name of the only file, and the reason why it was not imported.
fn only_failed_file(report: &ImportReport) -> Option<String> {
    let ([one], 1) = (&report.files[..], report.totals.files) else { return None };
    let why = match (one.kept, one.error.as_deref()?) {
        (FileOutcome::NotUnderstood, _) => format!(" is {}", outcome_word(one.kept)),
        (_, error) => {
            error.strip_prefix("it ").map_or_else(|| format!(": {error}"), |rest| format!(" {rest}"))
        }
    };
    Some(format!("{}{why}", one.file))
}

fn answer_sentence(report: &ImportReport) -> String {
    let totals = &report.totals;
    let logs = totals.files - (totals.not_understood + totals.failed).min(totals.files);
    let (verb, kept) =
        if report.archive.is_some() { ("Imported", "") } else { ("Found", "; nothing was stored") };
    let found = format!("{} ({})", pluralize(totals.runs, "run"), pluralize(totals.figures, "result"));
    let not_logs = match totals.not_understood {
        0 => String::new(),
        1 => "; 1 is not a log".to_owned(),
        n => format!("; {n} are not logs"),
    };
    let failed = if totals.failed > 0 { format!("; {} failed", totals.failed) } else { String::new() };
    let others = format!("{not_logs}{failed}.");
    match (logs, totals.known) {
        (0, _) if totals.files == 0 => "Nothing to import: no file found.".to_owned(),
        (0, _) => match only_failed_file(report) {
            Some(failed) => to_sentence(&format!("Nothing imported: {failed}")),
            None if totals.failed > 0 => {
                format!("Nothing imported: {} failed{not_logs}.", pluralize(totals.failed, "file"))
            }
            None => format!("Nothing to import: {} found, none is a log.", pluralize(totals.files, "file")),
        },
        (_, 0) => format!("{verb} {found} from {}{not_logs}{failed}{kept}.", pluralize(logs, "file")),
        (1, 1) => format!("Nothing new: the log was imported before{others}"),
        (_, known) if known == logs => format!("Nothing new: all {logs} logs were imported before{others}"),
        (_, known) => {
            format!("Imported {} of {logs} logs with {found}; {known} imported before{others}", logs - known)
        }
    }
}

fn joined_fact(joined: &JoinedFiles) -> PageFact {
    let files: Vec<&str> = joined.files.iter().map(|file| file_base_name(file)).collect();
    fact(&joined.card, files.join(", "))
}

fn file_base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default()
}

/// Flash geometry from logs of flashbench, one row a log. A property without a value has the reason in its cell.
fn geometry_table(report: &ImportReport) -> Table {
    let found = report.files.iter().filter_map(|file| {
        let geometry = FlashGeometry::deserialize(file.log.as_ref()?.other.get(MAP_KEY)?).ok()?;
        Some([file_base_name(&file.file).to_owned()].into_iter().chain(properties::geometry_cells(&geometry)))
    });
    let mut table = Table::new(["file"].into_iter().chain(properties::GEOMETRY_HEADS))
        .left_aligned(properties::GEOMETRY_HEADS)
        .never_dropped(properties::GEOMETRY_HEADS);
    found.for_each(|row| table.add_row(row));
    table
}

fn format_table(report: &ImportReport) -> Table {
    Table::from_items(
        &report.formats.iter().collect::<Vec<_>>(),
        &[
            ("format", &|(format, _)| (*format).to_owned()),
            ("files", &|(_, of)| of.files.to_string()),
            ("runs", &|(_, of)| of.runs.to_string()),
            ("results", &|(_, of)| of.results.to_string()),
        ],
    )
}

/// Doubts about the logs; a doubt that several files share is one line.
fn doubt_remarks(report: &ImportReport) -> Vec<FindingRemark> {
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
    let remark = |(doubt, files): (String, Vec<&str>)| {
        let of = if let [one] = files[..] { one.to_owned() } else { pluralize(files.len() as u64, "file") };
        FindingRemark::caveat_line(format!("{of}: {doubt}"))
    };
    doubts.into_iter().map(remark).collect()
}

/// Page of one log with all its results.
pub fn log_page(log: &CardLog) -> Page {
    let tool = log.tool.as_ref().map(|tool| match &tool.version {
        Some(version) => format!("{} {version}", tool.name),
        None => tool.name.clone(),
    });
    let head = [tool.unwrap_or_else(|| log.format.clone()), log_summary(log)];
    let head: Vec<String> = head.into_iter().chain(log.date.clone()).collect();
    let mut page = Page::from_answer(answer_line(&head.join(" · ")));
    let doubts = log.doubts.iter().map(|doubt| to_sentence(&doubt.to_string()));
    page.add_section("Notes", [PageBlock::Lines(doubts.collect())]);
    page.add_section("", run_tables("", log));
    let other = (!log.other.is_empty()).then(|| serde_json::to_string_pretty(&log.other).ok()).flatten();
    page.add_detail("Other", other.map(PageBlock::Verbatim));
    page
}

fn file_line(line: &FileLine) -> String {
    let name = &line.file;
    match (&line.log, &line.error) {
        (Some(log), _) => format!("{name}: {}, {}", log.format, log_summary(log)),
        (None, Some(error)) => format!("{name}: {} ({})", outcome_word(line.kept), error),
        (None, None) => format!("{name}: {}", outcome_word(line.kept)),
    }
}

fn log_summary(log: &CardLog) -> String {
    let card = if log.card.is_empty() { "card unknown".to_owned() } else { log.card.title() };
    let figures: usize = log.runs.iter().map(|run| run.results.len()).sum();
    let mut parts = vec![card];
    parts.extend(log.part.clone());
    let words = log.condition.iter().filter(|(word, _)| *word != "note");
    parts.extend(words.map(|(word, value)| format!("{word} {value}")));
    let (runs, results) = (pluralize(log.runs.len() as u64, "run"), pluralize(figures as u64, "result"));
    parts.extend((figures > 0).then(|| format!("{runs} with {results}")));
    let other: Vec<&str> = log.other.keys().map(String::as_str).collect();
    parts.extend((!other.is_empty()).then(|| other.join(", ")));
    parts.join(" · ")
}

fn run_tables(file: &str, log: &CardLog) -> Vec<PageBlock> {
    let table = |run: &Run| {
        let run_of = if log.runs.len() > 1 { format!("run {}", run.run) } else { String::new() };
        let head = [file, &run_of].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        PageBlock::Section(PageSection::new(&head, [PageBlock::Table(result_table(run))]))
    };
    log.runs.iter().map(table).collect()
}

fn result_table(run: &Run) -> Table {
    Table::from_items(
        &run.results,
        &[
            ("test", &|f| {
                let parts = [Some(f.name().to_string()), f.step.clone()];
                parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }),
            ("MB/s", &|f| speed(f.mb_s)),
            ("IOPS", &|f| f.iops.map(speed).unwrap_or_default()),
            ("mean latency", &|f| f.latency_us.map(time_us).unwrap_or_default()),
            ("99 %", &|f| f.percentiles_us.p99.map(time_us).unwrap_or_default()),
            ("longest", &|f| f.max_latency_us.map(time_us).unwrap_or_default()),
            ("as printed", &|f| format!("{} {}", f.printed_or_speed().value, f.printed_or_speed().unit)),
        ],
    )
}

fn outcome_word(kept: FileOutcome) -> &'static str {
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
    use cardscope_model::card_map::property::{Property, PropertyEvidence};
    use cardscope_model::card_map::{FlashGeometry, MAP_KEY};
    use cardscope_model::import_report::ImportTotals;

    #[test]
    fn answer_counts_new_known_and_other_files() {
        let said = |files, known, not_understood, failed| {
            let totals = ImportTotals {
                files,
                known,
                not_understood,
                failed,
                runs: 5,
                figures: 13,
                ..ImportTotals::default()
            };
            answer_sentence(&ImportReport { totals, archive: Some("a".into()), ..ImportReport::default() })
        };
        assert_eq!(said(132, 0, 123, 0), "Imported 5 runs (13 results) from 9 files; 123 are not logs.");
        assert_eq!(said(9, 9, 0, 0), "Nothing new: all 9 logs were imported before.");
        assert_eq!(said(2, 1, 1, 0), "Nothing new: the log was imported before; 1 is not a log.");
        assert_eq!(said(9, 3, 0, 0), "Imported 6 of 9 logs with 5 runs (13 results); 3 imported before.");
        assert_eq!(
            said(3, 1, 0, 1),
            "Imported 1 of 2 logs with 5 runs (13 results); 1 imported before; 1 failed."
        );
        assert_eq!(said(3, 0, 1, 1), "Imported 5 runs (13 results) from 1 file; 1 is not a log; 1 failed.");
        assert_eq!(said(0, 0, 0, 0), "Nothing to import: no file found.");
        assert_eq!(said(4, 0, 4, 0), "Nothing to import: 4 files found, none is a log.");
        assert_eq!(said(2, 0, 1, 1), "Nothing imported: 1 file failed; 1 is not a log.");
    }

    #[test]
    fn failure_of_a_single_file_is_in_the_answer_only() {
        let said = |kept: FileOutcome, error: &str| {
            let file = FileLine {
                file: "a.md".into(),
                log: None,
                kept,
                sessions: Vec::new(),
                error: Some(error.into()),
            };
            let totals = ImportTotals { files: 1, failed: 1, ..ImportTotals::default() };
            import_page(&ImportReport {
                files: vec![file],
                totals,
                named_failed: true,
                ..ImportReport::default()
            })
        };
        let missing = said(FileOutcome::Failed, "it does not exist");
        assert_eq!(missing.to_text(), "Nothing imported: a.md does not exist.\n");
        assert_eq!(missing.tone, NewsTone::Warning);
        let other = said(FileOutcome::NotUnderstood, "unknown log");
        assert_eq!(other.answer, "Nothing imported: a.md is not a log of a known tool.");
        assert_eq!(said(FileOutcome::Failed, "denied").answer, "Nothing imported: a.md: denied.");
    }

    #[test]
    fn geometry_table_shows_value_and_confidence() {
        let mut report = cardscope_testkit::samples::import_report();
        let geometry = FlashGeometry {
            erase_block_bytes: Property::measured(4 << 20, 0.99, PropertyEvidence::default()),
            page_bytes: Property::not_tested("not in the log"),
            ..FlashGeometry::default()
        };
        let log = report.files[0].log.as_mut().unwrap();
        log.other.insert(MAP_KEY.into(), serde_json::to_value(geometry).unwrap());
        let text = import_page(&report).to_text();
        let row = text.lines().find(|line| line.contains("4 MiB")).unwrap();
        assert!(
            row.contains("a.log") && row.contains("not in the log") && row.contains("4 MiB (99 %)"),
            "{row}"
        );
    }

    #[test]
    fn dry_run_lists_results_with_printed_values() {
        let report = cardscope_testkit::samples::import_report();
        insta::assert_snapshot!(import_page(&report).to_text(), @r#"
        Found 1 run (1 result) from 1 file; nothing was stored.

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
