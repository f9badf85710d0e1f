//! Sessions of the archive: listing, lookup and removal.

use super::cards::{CardPage, shown};
use super::line::{AnswerCache, SessionLine, lines};
use super::named::{self, NamedItem};
use cardscope_session::archive_access::{open_filled, open_to_read};
use cardscope_session::error::{Failure, Result};
use cardscope_session::stored_document;
use cardscope_session::stored_document::{StoredDocument, document};
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub enum FoundItem {
    Session(StoredDocument),
    Card(Box<CardPage>),
}

/// All sessions, oldest first.
pub fn list(path: Option<&Path>, answers: &AnswerCache) -> Result<Vec<SessionLine>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let sessions = archive.sessions()?;
    lines(&mut archive, sessions, answers)
}

/// Most sessions that one check stores: one for each part, and its own.
const MOST_CHECK_SESSIONS: usize = 8;

/// A window of the sessions, newest first, and the number of all sessions.
pub fn newest(
    path: Option<&Path>,
    offset: usize,
    limit: usize,
    answers: &AnswerCache,
) -> Result<(Vec<SessionLine>, usize)> {
    let Some(mut archive) = open_to_read(path)? else { return Ok((Vec::new(), 0)) };
    // A session is marked as part of a check by the check itself, which is older and may lie beyond the window.
    let (window, all) = archive.newest_sessions(offset, limit + MOST_CHECK_SESSIONS)?;
    let mut lines = lines(&mut archive, window, answers)?;
    lines.reverse();
    lines.truncate(limit);
    Ok((lines, all))
}

/// Finds a session by a unique prefix of its id, or a card by words of its name or a unique prefix of its id.
pub fn find(path: Option<&Path>, text: &str, answers: &AnswerCache) -> Result<FoundItem> {
    let mut archive = open_filled(path)?;
    Ok(match named::any(&mut archive, text)? {
        NamedItem::Session(id) => FoundItem::Session(document(&mut archive, id)?),
        NamedItem::Card(card) => FoundItem::Card(Box::new(shown(&mut archive, *card, answers)?)),
    })
}

/// Removes a session permanently and returns its full id. `consent` must repeat `session`.
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
