//! What was measured: listed, found by its id, shown as it was printed, and removed.

use super::cards::{CardShown, shown};
use super::named::{self, Named};
use super::open;
use crate::error::{Failure, Result};
use cardscope_model::log::Log;
use cardscope_model::result::BenchReport;
use cardscope_store::{Archive, EndedHow, SessionId, SessionSummary, StoredSession};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// One session or record of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub session: String,
    /// When it began, in UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card, where it could be identified.
    pub card: Option<String>,
    /// What it is of: `bench` or another verb that measured it, `import` for a log of another tool.
    pub kind: String,
    /// The recipe of a benchmark.
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running`, or `crashed` where its process ended without a word.
    pub state: String,
}

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

/// Everything that was measured, oldest first.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn list(path: Option<&Path>) -> Result<Vec<Line>> {
    let mut archive = open(path)?;
    let mut lines: Vec<Line> = archive.sessions()?.iter().map(line).collect();
    lines.sort_by(|a, b| (&a.started_at, &a.session).cmp(&(&b.started_at, &b.session)));
    Ok(lines)
}

fn line(summary: &SessionSummary) -> Line {
    Line {
        session: summary.id.to_string(),
        started_at: summary.started_at.clone(),
        target: summary.target.clone(),
        card: summary.card.clone(),
        kind: summary.kind.clone(),
        recipe: Some(summary.recipe.clone()).filter(|recipe| !recipe.is_empty()),
        state: state(summary.ended, summary.running).to_owned(),
    }
}

fn state(ended: Option<EndedHow>, running: bool) -> &'static str {
    match ended {
        Some(how) => how.word(),
        None if running => "running",
        None => "crashed",
    }
}

/// A document as it was printed; of what did not finish, what was measured.
///
/// # Errors
/// If there is nothing of that name, or it cannot be read.
pub fn show(path: Option<&Path>, session: &str) -> Result<Shown> {
    let mut archive = open(path)?;
    let id = named::session(&mut archive, session)?;
    document(&mut archive, id)
}

/// What a text names: a session by its id, a card by its name or id, either by any beginning of the id that no other has.
///
/// # Errors
/// If it names nothing, or several; or what it names cannot be read.
pub fn find(path: Option<&Path>, text: &str) -> Result<Found> {
    let mut archive = open(path)?;
    Ok(match named::any(&mut archive, text)? {
        Named::Session(id) => Found::Session(document(&mut archive, id)?),
        Named::Card(card) => Found::Card(Box::new(shown(&mut archive, *card)?)),
    })
}

fn document(archive: &mut Archive, id: SessionId) -> Result<Shown> {
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
pub fn remove(path: Option<&Path>, session: &str, consent: &str) -> Result<String> {
    if session != consent {
        return Err(Failure::refused("--yes-remove does not name the same session; nothing was removed"));
    }
    let mut archive = open(path)?;
    let id = named::session(&mut archive, session)?;
    archive.remove_session(id).map_err(Failure::refused)?;
    Ok(id.to_string())
}
