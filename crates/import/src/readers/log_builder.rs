//! Parts of a log that readers share: its head, notes, runs, and reports of several cards or times in one file.
//!
//! Logs mark the border between two runs badly or not at all. One rule holds for all tools: a test occurs once in a run, so
//! a repeated test begins the next run.

use crate::readers::text::LogText;
use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::log::{CardLog, LogTool};
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestName;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Logs of a text, or the reason why it has none. A log without a format gets that of the reader.
pub(crate) type ReaderOutcome = Result<Vec<CardLog>, String>;

/// Longest note, in characters: a sentence or two. A longer text is prose that was taken for a note.
const LONGEST_NOTE: usize = 300;

/// Longest word for a way of cooling, in bytes, since every run of a log has it.
const LONGEST_COOLING: usize = 40;

/// Largest size of all notes in bytes; only a broken log has more.
const LONGEST_NOTES: usize = 4000;

pub(crate) fn new_log(tool: &str, version: Option<&str>) -> CardLog {
    let version = version.map(str::to_owned);
    CardLog { tool: Some(LogTool { name: tool.to_owned(), version }), ..CardLog::default() }
}

/// Adds data other than figures, unless they are empty.
pub(crate) fn add_other(log: &mut CardLog, name: &str, data: Value) {
    let empty = [json!(null), json!([]), json!({})].contains(&data);
    log.other.extend((!empty).then(|| (name.to_owned(), data)));
}

/// Sets a word of the condition that a log has.
pub(crate) fn set_word(log: &mut CardLog, word: &str, value: Option<impl Into<String>>) {
    value.into_iter().for_each(|value| log.condition.set(word, value, ConditionOrigin::Read));
}

/// Adds the doubts that apply.
pub(crate) fn add_doubts<const N: usize>(log: &mut CardLog, doubts: [(bool, &str); N]) {
    log.doubts.extend(doubts.into_iter().filter(|(applies, _)| *applies).map(|(_, doubt)| doubt.to_owned()));
}

/// Adds a sentence to the condition's note.
pub(crate) fn add_note(condition: &mut Condition, text: &str, origin: ConditionOrigin) {
    let text: String = text.trim().chars().take(LONGEST_NOTE).collect();
    let note = match condition.get("note") {
        _ if text.is_empty() => return,
        Some(before) if before.len() > LONGEST_NOTES => return,
        Some(before) if before.split("; ").any(|part| part == text) => return,
        Some(before) => format!("{before}; {text}"),
        None => text,
    };
    condition.set("note", note, origin);
}

/// Condition that a line such as `With active cooling. 20°C idle, up to 41°C during test.` states.
pub(crate) fn parse_cooling(line: &str) -> Option<Condition> {
    let line = line.trim();
    let lower = line.to_lowercase();
    let how = lower.strip_prefix("with ")?;
    let mut condition = Condition::default();
    if let Some((how, _)) = how.split_once(" cooling") {
        // More than one word is a sentence about something else.
        if how.is_empty() || how.len() > LONGEST_COOLING || how.contains(char::is_whitespace) {
            return None;
        }
        condition.set("cooling", if how == "no" { "none" } else { how }, ConditionOrigin::Stated);
        let rest = line.split_once(". ").map_or("", |(_, rest)| rest);
        add_note(&mut condition, rest.trim_end_matches('.'), ConditionOrigin::Stated);
    } else if how.trim_end_matches('.').ends_with("unknown mixed methods") {
        condition.set("cooling", "mixed, unknown", ConditionOrigin::Stated);
        add_note(&mut condition, line.trim_end_matches('.'), ConditionOrigin::Stated);
    } else {
        return None;
    }
    Some(condition)
}

#[derive(Debug, Default)]
pub(crate) struct RunBuilder {
    runs: Vec<Run>,
    current_tests: HashSet<(TestName, Option<String>)>,
}

impl RunBuilder {
    /// Runs of figures in the order of the log.
    pub(crate) fn group_figures(figures: impl Iterator<Item = TestFigure>) -> Vec<Run> {
        let mut runs = RunBuilder::default();
        figures.for_each(|figure| runs.add_figure(figure));
        runs.finish()
    }

    /// Runs of one figure each.
    pub(crate) fn separate_figures(figures: impl Iterator<Item = TestFigure>) -> Vec<Run> {
        let runs = (1..).zip(figures);
        runs.map(|(run, figure)| Run { run, results: vec![figure], ..Run::default() }).collect()
    }

    /// Begins a run with the size, loops and condition of `head`.
    pub(crate) fn begin_run(&mut self, head: Run) {
        self.current_tests.clear();
        self.runs.push(head);
    }

    /// Adds a figure to the current run, or to a new run like it if the test is repeated.
    pub(crate) fn add_figure(&mut self, figure: TestFigure) {
        let name = (figure.name(), figure.step.clone());
        if self.current_tests.contains(&name) || self.runs.is_empty() {
            let head = Run { results: Vec::new(), ..self.runs.last().cloned().unwrap_or_default() };
            self.begin_run(head);
        }
        self.current_tests.insert(name);
        if let Some(run) = self.runs.last_mut() {
            run.results.push(figure);
        }
    }

    /// True if the current run has this test.
    pub(crate) fn has_test(&self, test: TestName, step: Option<&str>) -> bool {
        self.current_tests.contains(&(test, step.map(str::to_owned)))
    }

    /// Current run, begun if there is none.
    pub(crate) fn current_run(&mut self) -> &mut Run {
        if self.runs.is_empty() {
            self.begin_run(Run::default());
        }
        let last = self.runs.len() - 1;
        &mut self.runs[last]
    }

    /// All runs with a result, numbered from 1.
    pub(crate) fn finish(self) -> Vec<Run> {
        let measured = self.runs.into_iter().filter(|run| !run.results.is_empty());
        measured.zip(1..).map(|(run, number)| Run { run: number, ..run }).collect()
    }
}

/// Most parts of a file; a file of garbage can look like many more.
const MOST_PARTS: usize = 1000;

/// Reads each part of a text separately. `begins` is true for the first line of a part. Several logs are named by number
/// unless they have names. Fails with the error of the first part if no part can be read.
pub(crate) fn read_each(
    text: &LogText,
    begins: impl FnMut(&str) -> bool,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut logs = Vec::new();
    let mut refused = None;
    let parts = split_parts(text.body(), begins);
    if parts.len() == 1 {
        return read(text);
    }
    for part in parts {
        match read(&LogText::from_decoded(part)) {
            Ok(read) => logs.extend(read.into_iter().filter(|log| !log.is_empty())),
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    match refused {
        Some(why) if logs.is_empty() => return Err(why),
        _ => name_reports(&mut logs),
    }
    Ok(logs)
}

/// Names several logs by number unless they have names.
pub(crate) fn name_reports(logs: &mut [CardLog]) {
    let several = logs.len() > 1;
    for (number, log) in (1..).zip(logs).take_while(|_| several) {
        log.part.get_or_insert_with(|| format!("report {number}"));
    }
}

/// Reads parts that begin where a line names another device than the last line with a name.
pub(crate) fn read_by_device(
    text: &LogText,
    name: impl Fn(&str) -> Option<&str>,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut last: Option<String> = None;
    let another = |l: &str| name(l).is_some_and(|n| last.replace(n.to_owned()).is_some_and(|last| last != n));
    read_each(text, another, read)
}

/// Reads parts that begin with a heading.
pub(crate) fn read_by_heading(
    text: &LogText,
    heads: impl Fn(&str) -> bool,
    read: impl Fn(&LogText) -> ReaderOutcome,
) -> ReaderOutcome {
    let mut headed = false;
    read_each(text, |line| heads(line) && std::mem::replace(&mut headed, true), read)
}

fn split_parts(body: &str, mut begins: impl FnMut(&str) -> bool) -> Vec<&str> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if begins(line.trim()) && at > 0 && starts.len() < MOST_PARTS {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    starts.iter().zip(ends).map(|(from, to)| &body[*from..to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cooling_sentence_gives_cooling_and_note() {
        let said = parse_cooling("With passive cooling. 21°C idle, up to 79°C during test.").unwrap();
        assert_eq!(said.get("cooling"), Some("passive"));
        assert_eq!(said.get("note"), Some("21°C idle, up to 79°C during test"));
    }

    #[test]
    fn other_sentences_give_no_condition() {
        for line in [
            "With passivepassivepassivepassivepassivepassive cooling",
            "With great care",
            "Without cooling",
            "With all of its active cooling",
            "with cooling",
            "",
        ] {
            assert_eq!(parse_cooling(line), None, "{line}");
        }
    }

    #[test]
    fn repeated_note_is_added_once() {
        let mut condition = Condition::default();
        for text in ["drive E:", "new", "drive E:", " "] {
            add_note(&mut condition, text, ConditionOrigin::Read);
        }
        assert_eq!(condition.get("note"), Some("drive E:; new"));
    }

    use crate::readers::{MIB_S, printed_figure};

    fn read_of(value: f64) -> TestFigure {
        printed_figure("RND4K Q1T1 read".parse().unwrap(), value, "MB/s", MIB_S)
    }

    #[test]
    fn repeated_test_begins_a_run_of_the_same_size() {
        let mut runs = RunBuilder::default();
        runs.begin_run(Run { size_bytes: Some(1 << 30), ..Run::default() });
        runs.add_figure(read_of(3.0));
        runs.add_figure(read_of(4.0));
        let runs = runs.finish();
        let heads: Vec<_> = runs.iter().map(|run| (run.run, run.size_bytes, run.results.len())).collect();
        assert_eq!(heads, [(1, Some(1 << 30), 1), (2, Some(1 << 30), 1)]);
    }

    #[test]
    fn empty_run_is_dropped() {
        let mut runs = RunBuilder::default();
        runs.begin_run(Run::default());
        runs.begin_run(Run::default());
        runs.add_figure(read_of(3.0));
        assert_eq!(runs.finish().iter().map(|run| run.run).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn text_is_split_at_beginnings_but_not_before_its_first_line() {
        let begins = |line: &str| line.starts_with('#');
        assert_eq!(split_parts("# a\n1\n# b\n2", begins), ["# a\n1\n", "# b\n2"]);
        assert_eq!(split_parts("0\n# a\n", begins), ["0\n", "# a\n"]);
        assert_eq!(split_parts("", begins), [""]);
        assert_eq!(split_parts(&"# a\n".repeat(2 * MOST_PARTS), begins).len(), MOST_PARTS);
    }
}
