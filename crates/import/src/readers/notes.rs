//! Remarks about card and rig: cooling, temperatures, and notes of any kind.

use cardscope_model::condition::{Condition, ConditionOrigin};
use cardscope_model::log::{CardLog, LogTool};

/// Longest note, in characters: a sentence or two. A longer text is prose that was taken for a note.
const LONGEST_NOTE: usize = 300;

/// Longest word for a way of cooling, in bytes, since every run of a log has it.
const LONGEST_COOLING: usize = 40;

/// Bytes after which no note is added: only a broken log has as many.
const LONGEST_NOTES: usize = 4000;

pub(crate) fn new_log(tool: &str, version: Option<&str>) -> CardLog {
    let version = version.map(str::to_owned);
    CardLog { tool: Some(LogTool { name: tool.to_owned(), version }), ..CardLog::default() }
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
}
