//! What was measured: listed, found by its id, shown as it was printed, and removed.

use super::cards::{CardShown, shown};
use super::line::{Answer, Line, lines};
use super::named::{self, Named};
use super::{open_filled, open_to_read};
use crate::error::{Failure, Result};
use cardscope_model::log::Log;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, SessionId, StoredSession};
use serde_json::{Value, json};
use std::path::Path;

/// What a text names.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// A session.
    Session(Shown),
    /// A card.
    Card(Box<CardShown>),
}

/// A session's document.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A benchmark session.
    Bench(Box<BenchReport>),
    /// A log of another tool, as it was understood.
    Log(Box<Log>),
    /// The document of another verb.
    Record {
        /// The verb.
        kind: String,
        /// Its document.
        document: Value,
    },
}

impl Shown {
    /// The verb, and its document; `import` for a log of another tool.
    pub fn into_document(self) -> (String, Value) {
        // Their fields are named and their numbers finite: each can be written as JSON.
        match self {
            Shown::Bench(report) => ("bench".to_owned(), serde_json::to_value(*report).unwrap_or_default()),
            Shown::Log(log) => ("import".to_owned(), serde_json::to_value(*log).unwrap_or_default()),
            Shown::Record { kind, document } => (kind, document),
        }
    }
}

/// Everything that was measured, oldest first.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn list(path: Option<&Path>, answer: Answer<'_>) -> Result<Vec<Line>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let sessions = archive.sessions()?;
    lines(&mut archive, sessions, answer)
}

/// A window of what was measured, newest first, and how many there are.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn newest(
    path: Option<&Path>,
    offset: usize,
    limit: usize,
    answer: Answer<'_>,
) -> Result<(Vec<Line>, usize)> {
    let Some(mut archive) = open_to_read(path)? else { return Ok((Vec::new(), 0)) };
    let (window, all) = archive.newest_sessions(offset, limit)?;
    let mut lines = lines(&mut archive, window, answer)?;
    lines.reverse();
    Ok((lines, all))
}

/// A document as it was printed; of what did not finish, what was measured.
///
/// # Errors
/// If there is nothing of that name, or it cannot be read.
pub fn show(path: Option<&Path>, session: &str) -> Result<Shown> {
    let mut archive = open_filled(path)?;
    let id = named::session(&mut archive, session)?;
    document(&mut archive, id)
}

/// What a text names: a session by its id, a card by its name or id, either by any beginning of the id that no other has.
///
/// # Errors
/// If it names nothing, or several; or what it names cannot be read.
pub fn find(path: Option<&Path>, text: &str, answer: Answer<'_>) -> Result<Found> {
    let mut archive = open_filled(path)?;
    Ok(match named::any(&mut archive, text)? {
        Named::Session(id) => Found::Session(document(&mut archive, id)?),
        Named::Card(card) => Found::Card(Box::new(shown(&mut archive, *card, answer)?)),
    })
}

pub(super) fn document(archive: &mut Archive, id: SessionId) -> Result<Shown> {
    let session = archive.session(id).map_err(Failure::refused)?;
    Ok(match session.log() {
        Some(log) => Shown::Log(Box::new(log)),
        None if session.file.recipe.is_some() => Shown::Bench(Box::new(session.report_so_far())),
        None => Shown::Record { kind: session.summary.kind.clone(), document: so_far(session) },
    })
}

/// The document as last kept; one that did not end says so.
fn so_far(record: StoredSession) -> Value {
    let unended = record.unended();
    let begun = json!({ "target": record.file.target, "seed": record.file.seed.parse::<u64>().ok() });
    let mut document = record.file.document.unwrap_or(begun);
    if let (Some(why), Some(fields)) = (unended, document.as_object_mut()) {
        fields.entry("error").or_insert_with(|| why.into());
    }
    document
}

/// Removes a session, or what another verb found out, for good; the consent is its name once more. Gives its whole name.
///
/// # Errors
/// If the consent names another one, there is nothing of that name, or it cannot be removed.
pub fn remove(path: Option<&Path>, session: &str, consent: Option<&str>) -> Result<String> {
    if consent != Some(session) {
        let why = match consent {
            Some(_) => "--yes-remove does not name the same session; nothing was removed".to_owned(),
            None => format!(
                "nothing was removed; to remove {session:?} for good, name it once more with --yes-remove"
            ),
        };
        return Err(Failure::refused(why));
    }
    let mut archive = open_filled(path)?;
    let id = named::session(&mut archive, session)?;
    archive.remove_session(id).map_err(Failure::refused)?;
    Ok(id.to_string())
}
