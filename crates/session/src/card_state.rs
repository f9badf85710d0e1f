//! State of a card after its last `format`, as recorded in the archive. It is part of the condition of later runs until
//! another session writes to the card.

use crate::archive_access::open_existing;
use crate::card_key::card_key;
use crate::error::Result;
use crate::open_target::OpenTarget;
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::format::{FormatReport, FormatResult};
use cardscope_store::{Archive, SessionEnd, StoredSession};
use serde::Deserialize as _;
use std::path::Path;

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
