//! Sessions of the archive: listing, lookup and removal.

use super::cards::{CardPage, load_details};
use super::lookup::{self, NamedItem};
use super::session_line::{AnswerCache, SessionLine, session_lines};
use cardscope_session::archive_access::{self, StoredDocument, load_document, open_to_read, require_archive};
use cardscope_session::error::{Failure, Result};
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub enum FoundItem {
    Session(StoredDocument),
    Card(Box<CardPage>),
}

/// All sessions, oldest first.
pub fn list_sessions(path: Option<&Path>, answers: &AnswerCache) -> Result<Vec<SessionLine>> {
    let Some(mut archive) = open_to_read(path)? else { return Ok(Vec::new()) };
    let sessions = archive.sessions()?;
    session_lines(&mut archive, sessions, answers)
}

/// Most sessions that one check stores: one for each part, and its own.
const MOST_CHECK_SESSIONS: usize = 8;

/// A window of the sessions, newest first, and the number of all sessions.
pub fn newest_sessions(
    path: Option<&Path>,
    offset: usize,
    limit: usize,
    answers: &AnswerCache,
) -> Result<(Vec<SessionLine>, usize)> {
    let Some(mut archive) = open_to_read(path)? else { return Ok((Vec::new(), 0)) };
    // A session is marked as part of a check by the check itself, which is older and may lie beyond the window.
    let (window, all) = archive.newest_sessions(offset, limit + MOST_CHECK_SESSIONS)?;
    let mut lines = session_lines(&mut archive, window, answers)?;
    lines.reverse();
    lines.truncate(limit);
    Ok((lines, all))
}

/// Finds a session by a unique prefix of its id, or a card by words of its name or a unique prefix of its id.
pub fn find_session_or_card(path: Option<&Path>, text: &str, answers: &AnswerCache) -> Result<FoundItem> {
    let mut archive = require_archive(path)?;
    Ok(match lookup::find_item(&mut archive, text)? {
        NamedItem::Session(id) => FoundItem::Session(load_document(&mut archive, id)?),
        NamedItem::Card(card) => FoundItem::Card(Box::new(load_details(&mut archive, *card, answers)?)),
    })
}

/// Removes a session permanently and returns its full id. `consent` must repeat `session`.
pub fn remove_session(path: Option<&Path>, session: &str, consent: Option<&str>) -> Result<String> {
    if consent != Some(session) {
        let why = match consent {
            Some(_) => "--yes-remove does not name the same session; nothing was removed".to_owned(),
            None => format!(
                "nothing was removed; to remove {session:?} for good, name it once more with --yes-remove"
            ),
        };
        return Err(Failure::refused(why));
    }
    let mut archive = require_archive(path)?;
    let id = archive_access::find_session(&mut archive, session)?;
    archive.remove_session(id).map_err(Failure::refused)?;
    Ok(id.to_string())
}
