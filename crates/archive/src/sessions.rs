//! What was measured: listed, found by its id, shown as it was printed, and removed.

use super::cards::{CardPage, shown};
use super::line::{AnswerCache, SessionLine, lines};
use super::named::{self, NamedItem};
use cardscope_session::archive_access::{open_filled, open_to_read};
use cardscope_session::error::{Failure, Result};
use cardscope_session::stored_document;
use cardscope_session::stored_document::{StoredDocument, document};
use std::path::Path;

/// What a text names.
#[derive(Debug, Clone, PartialEq)]
pub enum FoundItem {
    /// A session.
    Session(StoredDocument),
    /// A card.
    Card(Box<CardPage>),
}

/// Everything that was measured, oldest first.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn list(path: Option<&Path>, answers: &AnswerCache) -> Result<Vec<SessionLine>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let sessions = archive.sessions()?;
    lines(&mut archive, sessions, answers)
}

/// Sessions that a check has at most, each part and the visit itself.
const PARTS: usize = 8;

/// A window of what was measured, newest first, and how many there are.
///
/// # Errors
/// If the archive cannot be opened or read.
pub fn newest(
    path: Option<&Path>,
    offset: usize,
    limit: usize,
    answers: &AnswerCache,
) -> Result<(Vec<SessionLine>, usize)> {
    let Some(mut archive) = open_to_read(path)? else { return Ok((Vec::new(), 0)) };
    // The check that the last ones are parts of lies behind them.
    let (window, all) = archive.newest_sessions(offset, limit + PARTS)?;
    let mut lines = lines(&mut archive, window, answers)?;
    lines.reverse();
    lines.truncate(limit);
    Ok((lines, all))
}

/// What a text names: a session by its id, a card by its name or id, either by any beginning of the id that no other has.
///
/// # Errors
/// If it names nothing, or several; or what it names cannot be read.
pub fn find(path: Option<&Path>, text: &str, answers: &AnswerCache) -> Result<FoundItem> {
    let mut archive = open_filled(path)?;
    Ok(match named::any(&mut archive, text)? {
        NamedItem::Session(id) => FoundItem::Session(document(&mut archive, id)?),
        NamedItem::Card(card) => FoundItem::Card(Box::new(shown(&mut archive, *card, answers)?)),
    })
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
    let id = stored_document::session(&mut archive, session)?;
    archive.remove_session(id).map_err(Failure::refused)?;
    Ok(id.to_string())
}
