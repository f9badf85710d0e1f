//! The archive as verbs use it: opening it (the user's own, or the one that `--archive` names), documents selected by the
//! beginning of a session id, the baseline of a run (`--against`), and the state of a card after its last `format`, which is
//! part of the condition of later runs until another session writes to the card.

use crate::card_key::card_key;
use crate::error::{Failure, Result};
use crate::open_target::OpenTarget;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input_file;
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::format::{FormatReport, FormatResult};
use cardscope_model::log::CardLog;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, SessionEnd, SessionId, SessionSummary, StoredSession, is_server_address};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Path of the archive, of the user's own if `path` is None.
pub fn archive_path(path: Option<&Path>) -> Result<PathBuf> {
    Ok(path.map_or_else(Archive::default_path, |p| Ok(p.to_owned()))?)
}

/// Opens the archive, or creates it.
pub fn open_or_create(path: Option<&Path>) -> Result<Archive> {
    Ok(Archive::open(archive_path(path)?)?)
}

/// Opens the archive if it exists, so that a lookup creates none. A database server is contacted at once.
pub fn open_existing(path: Option<&Path>) -> Result<Option<Archive>> {
    let Ok(path) = archive_path(path) else { return Ok(None) };
    // A dangling link or an inaccessible path counts as existing, so that opening it reports the error.
    let absent = || path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(if is_server_address(&path)? || !absent() { Some(Archive::open(path)?) } else { None })
}

/// Opens the archive for reading. The user's own may be missing, but one that is named must exist.
pub fn open_to_read(path: Option<&Path>) -> Result<Option<Archive>> {
    match (open_existing(path)?, path) {
        (None, Some(path)) => {
            let why = "no archive is there; check --archive or CARDSCOPE_ARCHIVE";
            Err(Failure::refused(format!("{}: {why}", path.display())))
        }
        (archive, _) => Ok(archive),
    }
}

/// Opens the archive, or refuses if it does not exist yet.
pub fn require_archive(path: Option<&Path>) -> Result<Archive> {
    let why = "the archive is empty; `cardscope check` and `cardscope import` fill it";
    open_to_read(path)?.ok_or_else(|| Failure::refused(why))
}

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

/// Size limit: a day at one sample per second takes about 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Loads a document of `verb` by the name of a file or session.
/// Refuses a name that matches nothing, and a document that is too long, unreadable or of another verb.
pub fn load_baseline<T: DeserializeOwned>(name: &str, archive: Option<&Path>, verb: &str) -> Result<T> {
    find_document(name, archive, verb).and_then(|document| Ok(T::deserialize(&document)?)).map_err(|why| {
        let words = format!(
            "--against {name}: not made by `{verb}` ({why}); give a session from `cardscope archive \
             list`, or a file made with `{verb} --json`"
        );
        Failure::refused_for(words, why)
    })
}

fn find_document(name: &str, archive: Option<&Path>, verb: &str) -> Result<Value, ErrorCause> {
    if Path::new(name).exists() {
        return read_file(name, MOST_BYTES);
    }
    let unknown = |e: Failure| ErrorCause::with_message(format!("no such file and no such session: {e}"), e);
    match load_by_id(archive, name).map_err(unknown)? {
        StoredDocument::Record { kind, document } if kind == verb => Ok(document),
        StoredDocument::Record { kind, .. } => Err(format!("it is a `{kind}` document").into()),
        StoredDocument::Bench(_) => Err("it is a `bench` document".into()),
        StoredDocument::Log(_) => Err("it is a log of another tool".into()),
    }
}

fn read_file(name: &str, most: u64) -> Result<Value, ErrorCause> {
    Ok(serde_json::from_slice(&input_file::read_bytes(Path::new(name), most)?)?)
}

/// Result of the last format of a card, None if there was none, it failed, or a later session may have written.
fn last_format(archive: Option<&Path>, card_key: &str) -> Result<Option<FormatResult>> {
    let Some(mut archive) = open_existing(archive)? else { return Ok(None) };
    let state = newest_session_value(&mut archive, card_key, None, |session| {
        // A session without a write leaves the state as it is. A benchmark has no such count, so it may have written.
        let only_read = session.file.document.as_ref().is_some_and(|d| d["bytes_written"] == 0);
        (!only_read).then(|| state_after_format(session))
    });
    Ok(state?.flatten())
}

fn state_after_format(session: StoredSession) -> Option<FormatResult> {
    let well = session.summary.kind == "format" && session.summary.ended == Some(SessionEnd::Complete);
    let report = FormatReport::deserialize(session.file.document?).ok()?;
    Some(report.body).filter(|format| well && format.checked)
}

/// Value that `value_of` returns for the newest session of a card for which it returns one, limited to a kind if one is given.
pub fn newest_session_value<T>(
    archive: &mut Archive,
    card_key: &str,
    kind: Option<&str>,
    mut value_of: impl FnMut(StoredSession) -> Option<T>,
) -> Result<Option<T>> {
    let mut sessions = archive.unit_sessions(card_key)?;
    sessions.retain(|summary| kind.is_none_or(|kind| summary.kind == kind));
    for summary in sessions.iter().rev() {
        if let Some(value) = value_of(archive.session(summary.id)?) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Adds the state to the condition of a card, unless the user stated it. An unreadable archive is ignored here, because
/// storing the results in it will report the error.
pub(crate) fn add_last_state(archive: Option<&Path>, opened: &mut OpenTarget) {
    let Some(key) = card_key(opened) else { return };
    let Ok(Some(left)) = last_format(archive, &key) else { return };
    let words = [("state", left.state), ("file_system", Some(left.file_system))];
    for (word, value) in words {
        if let (Some(value), None) = (value, opened.condition.get(word)) {
            opened.condition.set(word, value, ConditionOrigin::Read);
        }
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

    #[test]
    fn baseline_refuses_long_and_special_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, "[1, 2]").unwrap();
        let name = path.to_str().unwrap();
        assert_eq!(read_file(name, 6), Ok(serde_json::json!([1, 2])));
        assert!(read_file(name, 5).unwrap_err().to_string().contains("limit of 5"));
        assert!(read_file("/dev/zero", 6).unwrap_err().to_string().contains("not a plain file"));
        assert!(load_baseline::<Value>(folder.path().to_str().unwrap(), None, "sustain").is_err());
    }
}
