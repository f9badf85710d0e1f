//! Published results built into the program for comparison: five reports in `collection/`, one file per session in
//! the format of `archive export`.

use crate::builtin_files;
use crate::builtin_names::BuiltinFiles;
use crate::condition::Condition;
use crate::log::CardLog;
use crate::run::Run;
use crate::session_file::{FileRun, SessionFile};
use serde_json::Value;

/// Key of the report's title in the log of a session.
const TITLE_KEY: &str = "published";

/// Session files in the folders of `collection/`.
pub static COLLECTION: BuiltinFiles =
    BuiltinFiles { kind: "session of the collection", files: builtin_files!("collection"), also: "" };

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the collection cannot be read: {0}")]
pub struct CollectionError(String);

/// Published report with its cards.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedReport {
    pub name: String,
    pub title: String,
    pub logs: Vec<CardLog>,
}

pub fn load_builtin_reports() -> Result<Vec<CollectedReport>, CollectionError> {
    let mut reports: Vec<CollectedReport> = Vec::new();
    for (_, text) in COLLECTION.files {
        let file: SessionFile = serde_json::from_str(text).map_err(|e| CollectionError(e.to_string()))?;
        let name = file.target.clone();
        let mut log =
            session_log(file).ok_or_else(|| CollectionError(format!("a session of {name} has no log")))?;
        let title = log.other.remove(TITLE_KEY);
        match reports.last_mut().filter(|report| report.name == name) {
            Some(report) => report.logs.push(log),
            None => {
                let title = title.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
                reports.push(CollectedReport { name, title, logs: vec![log] });
            }
        }
    }
    Ok(reports)
}

fn session_log(file: SessionFile) -> Option<CardLog> {
    let mut condition = Condition::default();
    for (word, value) in file.condition.iter() {
        condition.set(word, value, *file.origins.get(word)?);
    }
    let convert = |FileRun { run, size_bytes, loops, figures, .. }| {
        let results = figures.unwrap_or_default();
        Run { run, size_bytes, loops, results, ..Run::default() }
    };
    Some(CardLog { condition, runs: file.runs.into_iter().map(convert).collect(), ..file.log? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::WORDS;

    #[test]
    fn collection_files_are_valid_and_canonical() {
        for (name, text) in COLLECTION.files {
            let file = SessionFile::from_json(text).unwrap();
            assert_eq!(name.split_once('/').unwrap().0, file.target, "a folder a report");
            assert_eq!(file.to_json().unwrap(), *text);
            let log = session_log(file).unwrap();
            assert!(log.card.brand.is_some() && log.other.contains_key(TITLE_KEY), "{log:?}");
            assert!(log.condition.iter().all(|(word, _)| WORDS.iter().any(|(w, _)| *w == word)));
        }
    }

    #[test]
    fn collection_speeds_are_decimal_with_printed_figures() {
        let all = load_builtin_reports().unwrap();
        let sandisk = all[0].logs.iter().find(|log| log.card.brand.as_deref() == Some("SanDisk")).unwrap();
        let read =
            sandisk.runs[0].results.iter().find(|f| f.name().to_string() == "SEQ32M Q32T1 read").unwrap();
        assert_eq!(read.printed_or_speed().value, 836.0);
        assert!((read.mb_s - 876.609_536).abs() < 1e-9);
    }
}
