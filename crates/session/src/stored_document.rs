//! Stored documents of the archive, selected by the beginning of a session id.

use crate::archive_access::require_archive;
use crate::error::{Failure, Result};
use cardscope_model::log::CardLog;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, SessionId, SessionSummary, StoredSession};
use serde_json::{Value, json};
use std::path::Path;

const MAX_LISTED: usize = 3;

/// Digits of a session id that are printed. The last ones are used, because ids begin with the time.
const ID_DIGITS: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub enum StoredDocument {
    Bench(Box<BenchReport>),
    /// Imported log of another tool.
    Log(Box<CardLog>),
    Record {
        kind: String,
        document: Value,
    },
}

impl StoredDocument {
    /// Returns the verb and its document; `import` for the log of another tool.
    pub fn into_document(self) -> (String, Value) {
        // These types have string keys and finite numbers, so serialization cannot fail.
        let (verb, document) = match self {
            StoredDocument::Bench(report) => ("bench", serde_json::to_value(*report)),
            StoredDocument::Log(log) => ("import", serde_json::to_value(*log)),
            StoredDocument::Record { kind, document } => return (kind, document),
        };
        (verb.to_owned(), document.unwrap_or_default())
    }
}

pub fn load_document(archive: &mut Archive, id: SessionId) -> Result<StoredDocument> {
    let session = archive.session(id).map_err(Failure::refused)?;
    Ok(match session.log() {
        Some(log) => StoredDocument::Log(Box::new(log)),
        None if session.file.recipe.is_some() => StoredDocument::Bench(Box::new(session.partial_report())),
        None => {
            let kind = session.summary.kind.clone();
            StoredDocument::Record { kind, document: partial_document(session) }
        }
    })
}

/// Last stored document. One of an unfinished session gets an `error` field.
fn partial_document(record: StoredSession) -> Value {
    let unended = record.missing_end_reason();
    let begun = json!({ "target": record.file.target, "seed": record.file.seed.parse::<u64>().ok() });
    let mut document = record.file.document.unwrap_or(begun);
    if let (Some(why), Some(fields)) = (unended, document.as_object_mut()) {
        fields.entry("error").or_insert_with(|| why.into());
    }
    document
}

/// Document of a session, partial if the session did not finish.
/// Refuses an unknown or ambiguous id. Fails if the archive cannot be read.
pub fn load_by_id(path: Option<&Path>, session: &str) -> Result<StoredDocument> {
    let mut archive = require_archive(path)?;
    let id = find_session(&mut archive, session)?;
    load_document(&mut archive, id)
}

pub fn find_session(archive: &mut Archive, text: &str) -> Result<SessionId> {
    // A complete id needs no search.
    let unknown = match text.parse() {
        Ok(session) => return Ok(session),
        Err(unknown) => unknown,
    };
    match &archive.sessions_by_id(text)?[..] {
        [] => Err(Failure::refused(unknown)),
        [session] => Ok(session.id),
        several_of_them => Err(ambiguous_id(text, several_of_them)),
    }
}

pub fn ambiguous_id(text: &str, sessions: &[SessionSummary]) -> Failure {
    let listed = list_sessions(sessions, std::iter::empty());
    Failure::refused(format!("{text:?} may be {listed}; give more of the id"))
}

fn short_id(session: &SessionSummary) -> String {
    let id = session.id.to_string();
    id.get(id.len().saturating_sub(ID_DIGITS)..).unwrap_or(&id).to_owned()
}

pub fn list_sessions(sessions: &[SessionSummary], others: impl Iterator<Item = String>) -> String {
    let named = |s: &SessionSummary| format!("{} ({} of {})", short_id(s), s.kind, s.target);
    let all: Vec<String> = sessions.iter().map(named).chain(others).collect();
    match all.len().saturating_sub(MAX_LISTED) {
        0 => all.join(", "),
        1 => format!("{} or 1 other", all[..MAX_LISTED].join(", ")),
        more => format!("{} or {more} others", all[..MAX_LISTED].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder;
    use cardscope_model::condition::Condition;

    fn begin(archive: &mut Archive, target: &str) -> SessionId {
        archive
            .begin_session(&recorder::session_start("verify", target, 1, &Condition::default(), None))
            .unwrap()
    }

    #[test]
    fn sessions_are_found_by_unique_id_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("a.sqlite")).unwrap();
        let first = begin(&mut archive, "sim:constant").to_string();
        assert_eq!(find_session(&mut archive, &first[..1]).unwrap().to_string(), first);
        let second = begin(&mut archive, "sim:usb-stick-tlc").to_string();
        // Ids begin with the time, so those of the same second share their first digits.
        let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
        let refused = find_session(&mut archive, &first[..shared]).unwrap_err();
        assert_eq!(refused.exit_status(), 2);
        let text = refused.to_string();
        assert!(
            text.contains(&first[28..])
                && text.contains(&second[28..])
                && text.contains("verify of sim:constant"),
            "{text}"
        );
        for (id, other) in [(&first, &second), (&second, &first)] {
            let beginning = id[..=shared].to_uppercase();
            assert_eq!(find_session(&mut archive, &beginning).unwrap().to_string(), *id, "not {other}");
        }
        for nothing in ["", "zz", "%", "ffffffff"] {
            assert!(
                find_session(&mut archive, nothing)
                    .unwrap_err()
                    .to_string()
                    .contains("is not a session name")
            );
        }
    }
}
