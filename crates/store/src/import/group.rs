//! Divides a log into sessions, and hashes its content.

use crate::hash;
use crate::naming::CardNames;
use cardscope_model::condition::Condition;
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::setting::Setting;
use serde::Serialize;

/// Runs of one log under one condition and size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RunGroup {
    pub(super) condition: Condition,
    pub(super) size_bytes: Option<u64>,
    pub(super) runs: Vec<Run>,
}

/// Returns the sessions of a log in order of appearance; one without runs if the log has no figures.
pub(super) fn split_by_setting(log: &CardLog) -> Vec<RunGroup> {
    let mut groups: Vec<RunGroup> = Vec::new();
    for run in log.runs.iter().filter(|run| run.results.iter().any(TestFigure::is_speed)) {
        let Setting { condition, size_bytes, .. } = run_setting(log, run);
        let index = groups.iter().position(|g| g.size_bytes == size_bytes && g.condition == condition);
        let index = index.unwrap_or_else(|| {
            groups.push(RunGroup { condition, size_bytes, runs: Vec::new() });
            groups.len() - 1
        });
        groups[index].runs.push(Run {
            run: run.run,
            loops: run.loops,
            results: run.valid_figures(),
            ..Run::default()
        });
    }
    groups.iter_mut().for_each(RunGroup::renumber_runs);
    if groups.is_empty() {
        groups.push(RunGroup { condition: log.condition.clone(), size_bytes: None, runs: Vec::new() });
    }
    groups
}

impl RunGroup {
    /// Keeps the log's numbers of the runs; renumbers all if they do not rise from 1.
    fn renumber_runs(&mut self) {
        let rising = self.runs.windows(2).all(|pair| pair[0].run < pair[1].run);
        if !rising || self.runs.first().is_some_and(|run| run.run == 0) {
            (1..).zip(&mut self.runs).for_each(|(number, run)| run.run = number);
        }
    }
}

/// Returns the setting under which the archive stores a run of a log.
pub fn run_setting(log: &CardLog, run: &Run) -> Setting {
    let mut condition = log.condition.clone();
    if let Some(own) = &run.condition {
        condition.overlay(own);
    }
    Setting { recipe: method_name(log).to_owned(), size_bytes: run.size_bytes, condition }
}

/// Replacement for the recipe: the tool, else the format of the log.
pub(super) fn method_name(log: &CardLog) -> &str {
    log.tool.as_ref().map_or(log.format.as_str(), |tool| &tool.name)
}

/// Hash of the content of a log: card, condition, date and figures, independent of the file's encoding.
///
/// If nothing names the card, equal figures may come from two cards, so the text of the file counts as well, without
/// blanks, line ends and encoding.
pub(super) fn content_hash(log: &CardLog, bytes: &[u8]) -> String {
    let has_figures = log.runs.iter().any(|run| !run.results.is_empty());
    let figures = if has_figures { json_text(&log.runs) } else { json_text(&log.other) };
    let counts: &[u8] = if CardNames::from_facts(&log.card).is_none() { bytes } else { &[] };
    let [date, part] = [&log.date, &log.part].map(|part| part.as_deref().unwrap_or_default());
    // Only visible ASCII counts, which drops line ends, byte order marks and the zero bytes of UTF-16.
    let visible = counts.iter().copied().filter(u8::is_ascii_graphic);
    hash::hash_with_stream(
        &[&log.format, part, date, &json_text(&log.card), &json_text(&log.condition), &figures],
        visible,
    )
}

/// Empty if the part cannot be JSON; the other parts still distinguish the log.
fn json_text(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}
