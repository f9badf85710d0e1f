//! A log divided into sessions, and the hash by which it is known again.

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

/// The sessions of a log, in the order in which they begin; one without runs where a log has no figures.
pub(super) fn groups(log: &CardLog) -> Vec<RunGroup> {
    let mut groups: Vec<RunGroup> = Vec::new();
    for run in log.runs.iter().filter(|run| run.results.iter().any(TestFigure::is_speed)) {
        let Setting { condition, size_bytes, .. } = setting_of(log, run);
        let index = groups.iter().position(|g| g.size_bytes == size_bytes && g.condition == condition);
        let index = index.unwrap_or_else(|| {
            groups.push(RunGroup { condition, size_bytes, runs: Vec::new() });
            groups.len() - 1
        });
        groups[index].runs.push(Run {
            run: run.run,
            loops: run.loops,
            results: run.speeds(),
            ..Run::default()
        });
    }
    groups.iter_mut().for_each(RunGroup::number);
    if groups.is_empty() {
        groups.push(RunGroup { condition: log.condition.clone(), size_bytes: None, runs: Vec::new() });
    }
    groups
}

impl RunGroup {
    /// Runs keep the numbers that the log gives them; where it gives one twice, all are counted anew.
    fn number(&mut self) {
        let rising = self.runs.windows(2).all(|pair| pair[0].run < pair[1].run);
        if !rising || self.runs.first().is_some_and(|run| run.run == 0) {
            (1..).zip(&mut self.runs).for_each(|(number, run)| run.run = number);
        }
    }
}

/// How a run of a log was measured, as the archive has it.
pub fn setting_of(log: &CardLog, run: &Run) -> Setting {
    let mut condition = log.condition.clone();
    if let Some(own) = &run.condition {
        condition.overlay(own);
    }
    Setting { recipe: method(log).to_owned(), size_bytes: run.size_bytes, condition }
}

/// What stands in the place of a recipe: the tool, else the format that the log was read as.
pub(super) fn method(log: &CardLog) -> &str {
    log.tool.as_ref().map_or(log.format.as_str(), |tool| &tool.name)
}

/// How many figures are left out because they are no numbers.
pub(super) fn left_out(log: &CardLog) -> usize {
    log.runs.iter().flat_map(|run| &run.results).filter(|figure| !figure.is_speed()).count()
}

/// Hash of what a log says: card, condition, date and figures, not of how its file is written.
///
/// Of a card that nothing names, two logs with the same few figures may well be two cards; there the file's text
/// counts as well, but for its blanks, line ends and encoding.
pub(super) fn content_hash(log: &CardLog, bytes: &[u8]) -> String {
    let has_figures = log.runs.iter().any(|run| !run.results.is_empty());
    let figures = if has_figures { text(&log.runs) } else { text(&log.other) };
    let counts: &[u8] = if CardNames::of(&log.card).is_none() { bytes } else { &[] };
    let [date, part] = [&log.date, &log.part].map(|part| part.as_deref().unwrap_or_default());
    // Visible ASCII only: what line ends, byte order marks and UTF-16 do to a text is gone.
    let visible = counts.iter().copied().filter(u8::is_ascii_graphic);
    hash::of_with(&[&log.format, part, date, &text(&log.card), &text(&log.condition), &figures], visible)
}

/// A part of a log as text. What cannot be JSON has no text; the other parts tell it from others.
fn text(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}
