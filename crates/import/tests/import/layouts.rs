//! Logs in every layout of the tools, whole, truncated and garbled, and the result of their readers.
//!
//! `layouts/<format>/` has the logs, named after their subject, and `layouts/<format>.snap` the results. A changed line
//! there means that a log is read differently: check it, then run `INSTA_UPDATE=always cargo test`.

use crate::data::files_below;
use cardscope_import::readers::{LogFormat, LogText, formats};
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layouts")
}

#[test]
fn every_layout_matches_its_snapshot() {
    for format in formats() {
        let mut all = String::new();
        for file in files_below(&folder().join(format.name)) {
            let bytes = std::fs::read(&file).expect("it was listed");
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            writeln!(all, "# {name}\n{}", understood(format, &LogText::decode(&bytes)))
                .expect("a text takes all");
        }
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(folder());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format.name, all));
    }
}

#[test]
fn every_layout_folder_belongs_to_a_format() {
    for file in files_below(&folder()) {
        let name = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let snapshot = file.extension().is_some_and(|ending| ending == "snap");
        assert!(snapshot || formats().iter().any(|format| format.name == name), "{}", file.display());
    }
}

/// Formats with each figure on one line, which no later line changes.
const LINE_BY_LINE: [&str; 3] = ["cdm_fio", "crystaldiskmark", "kdiskmark"];

#[test]
fn truncated_log_keeps_the_lines_before_the_cut() {
    for format in formats().iter().filter(|format| LINE_BY_LINE.contains(&format.name)) {
        for file in files_below(&folder().join(format.name)) {
            let bytes = std::fs::read(&file).expect("it was listed");
            let text = LogText::decode(&bytes);
            let Ok(whole) = format.read(&text) else { continue };
            for end in (0..text.body().len()).filter(|end| text.body().is_char_boundary(*end)) {
                let Ok(cut) = format.read(&LogText::from_decoded(&text.body()[..end])) else { continue };
                for (cut, whole) in figures(&cut).zip(figures(&whole)) {
                    let place = format!("{} at {end}", file.display());
                    assert_eq!((cut.name(), &cut.as_printed), (whole.name(), &whole.as_printed), "{place}");
                    let fewer =
                        cut.iops.is_none() || cut.iops == whole.iops || whole.printed_or_speed().value == 0.0;
                    assert!(fewer, "{place}");
                }
            }
        }
    }
}

fn figures(logs: &[CardLog]) -> impl Iterator<Item = &TestFigure> {
    logs.iter().flat_map(|log| &log.runs).flat_map(|run| &run.results)
}

fn understood(format: &LogFormat, text: &LogText) -> String {
    let mut told = String::new();
    if !(format.recognise)(text) {
        told += "not taken for its own by this importer\n";
    }
    match format.read(text) {
        Ok(logs) => logs.iter().for_each(|log| told += &log_lines(log)),
        Err(error) => told += &format!("refused: {error}\n"),
    }
    for doubt in text.doubts() {
        told += &format!("doubt of the text: {doubt}\n");
    }
    told
}

fn log_lines(log: &CardLog) -> String {
    let mut lines = vec![format!("log of {}", log.format)];
    let mut told = |what: &str, value: String| lines.push(format!("  {what} {value}"));
    if let Some(tool) = &log.tool {
        told("tool", format!("{} {}", tool.name, tool.version.as_deref().unwrap_or("?")));
    }
    log.part.iter().for_each(|part| told("part", part.clone()));
    log.date.iter().for_each(|date| told("date", date.clone()));
    if !log.card.is_empty() {
        told("card", json(&log.card));
    }
    log.events.iter().for_each(|event| told("event", json(event)));
    condition(&log.condition).into_iter().for_each(|words| told("condition", words));
    log.runs.iter().flat_map(run_lines).for_each(|line| lines.push(line));
    lines.extend(log.other.iter().map(|(word, value)| format!("  other {word} {value}")));
    lines.extend(log.doubts.iter().map(|doubt| format!("  doubt {doubt}")));
    lines.join("\n") + "\n"
}

fn run_lines(run: &Run) -> Vec<String> {
    let [size, loops] = [run.size_bytes, run.loops.map(u64::from)]
        .map(|number| number.map_or_else(|| "?".to_owned(), |number| number.to_string()));
    let mut lines = vec![format!("  run {} size {size} loops {loops}", run.run)];
    lines.extend(run.condition.iter().filter_map(condition).map(|words| format!("    condition {words}")));
    lines.extend(run.results.iter().map(figure_line));
    lines
}

fn figure_line(figure: &TestFigure) -> String {
    let printed = figure.printed_or_speed();
    let mut line = format!("    {}", figure.name());
    figure.step.iter().for_each(|step| line += &format!(" [{step}]"));
    line += &format!(" {} MB/s printed as {} {}", figure.mb_s, printed.value, printed.unit);
    let percentiles = figure.percentiles_us;
    for (what, value) in [
        ("IOPS", figure.iops),
        ("us mean", figure.latency_us),
        ("us p50", percentiles.p50),
        ("us p99", percentiles.p99),
        ("us p99.9", percentiles.p999),
        ("us at most", figure.max_latency_us),
    ] {
        value.iter().for_each(|value| line += &format!(", {value} {what}"));
    }
    line
}

fn condition(condition: &Condition) -> Option<String> {
    let words: Vec<String> = condition
        .iter()
        .map(|(word, value)| format!("{word}={value} ({:?})", condition.origin(word)))
        .collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it is JSON")
}
