//! The state that the last `format` left a card in, as the archive says it: it is part of the condition of later runs until
//! something else has written to the card.

use crate::archive_access::open_existing;
use crate::card_key::card_key;
use crate::error::Result;
use crate::opened::OpenTarget;
use cardscope_model::condition::ConditionOrigin;
use cardscope_model::format::{FormatReport, FormatResult};
use cardscope_store::{Archive, SessionEnd, StoredSession};
use serde::Deserialize as _;
use std::path::Path;

/// What the last format of this card wrote; `None` where there was none, it did not end well, or Cardscope has done
/// anything to the card since.
fn last_format(archive: Option<&Path>, card_key: &str) -> Result<Option<FormatResult>> {
    let Some(mut archive) = open_existing(archive)? else { return Ok(None) };
    let left = newest_of(&mut archive, card_key, None, |session| {
        // A look without a write changes nothing; a benchmark has written to the card, or may have.
        let looked = session.file.document.as_ref().is_some_and(|d| d["bytes_written"] == 0);
        (!looked).then(|| left_by(session))
    });
    Ok(left?.flatten())
}

/// What a session left on the card, if it is a format that ended well.
fn left_by(session: StoredSession) -> Option<FormatResult> {
    let well = session.summary.kind == "format" && session.summary.ended == Some(SessionEnd::Complete);
    let report = FormatReport::deserialize(session.file.document?).ok()?;
    Some(report.body).filter(|format| well && format.checked)
}

/// What the newest session of a card, of this kind if one is named, has to say that has anything to say.
pub fn newest_of<T>(
    archive: &mut Archive,
    card_key: &str,
    kind: Option<&str>,
    mut says: impl FnMut(StoredSession) -> Option<T>,
) -> Result<Option<T>> {
    for summary in archive.unit_sessions(card_key)?.iter().rev() {
        if kind.is_none_or(|kind| summary.kind == kind)
            && let Some(said) = says(archive.session(summary.id)?)
        {
            return Ok(Some(said));
        }
    }
    Ok(None)
}

/// Adds the state to the condition of a card that was just opened, where nothing else states it. An archive that
/// cannot be read says nothing; what is to be kept there will fail by itself.
pub(crate) fn name_state(archive: Option<&Path>, opened: &mut OpenTarget) {
    let Some(key) = card_key(opened) else { return };
    let Ok(Some(left)) = last_format(archive, &key) else { return };
    let words = [("state", left.state), ("file_system", Some(left.file_system))];
    for (word, value) in words {
        if let (Some(value), None) = (value, opened.condition.get(word)) {
            opened.condition.set(word, value, ConditionOrigin::Read);
        }
    }
}
