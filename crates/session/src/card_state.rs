//! The state that the last `format` left a card in, as the archive says it: it is part of the condition of later runs until
//! something else has written to the card.

use crate::archive::open_existing;
use crate::card_key::card_key;
use crate::error::Result;
use crate::opened::Opened;
use cardscope_model::condition::Origin;
use cardscope_model::format::{FormatReport, Formatting};
use cardscope_store::{Archive, EndedHow};
use serde::Deserialize as _;
use std::path::Path;

/// What the last format of this card wrote; `None` where there was none, it did not end well, or Cardscope has done
/// anything to the card since.
fn last_format(archive: Option<&Path>, card_key: &str) -> Result<Option<Formatting>> {
    let Some(mut archive) = open_existing(archive)? else { return Ok(None) };
    let Some((started, left)) = newest_record(&mut archive, card_key)? else { return Ok(None) };
    // A benchmark since then has written to the card, or may have.
    for summary in archive.sessions()?.iter().rev().take_while(|summary| summary.started_at >= started) {
        if archive.session(summary.id)?.is_of(card_key) {
            return Ok(None);
        }
    }
    Ok(left)
}

/// The newest record of a card: when it began, and what it wrote if it is a format.
fn newest_record(archive: &mut Archive, key: &str) -> Result<Option<(String, Option<Formatting>)>> {
    for summary in archive.records()?.iter().rev() {
        let record = archive.session(summary.id)?;
        let ours = record.is_of(key);
        // A look without a write changes nothing.
        let looked = record.file.document.as_ref().is_some_and(|d| d["bytes_written"] == 0);
        if !ours || looked {
            continue;
        }
        let well = summary.kind == "format" && summary.ended == Some(EndedHow::Complete);
        let report = record.file.document.and_then(|d| FormatReport::deserialize(&d).ok());
        let left = report.map(|report| report.body).filter(|format| well && format.checked);
        return Ok(Some((summary.started_at.clone(), left)));
    }
    Ok(None)
}

/// Adds the state to the condition of a card that was just opened, where nothing else states it. An archive that
/// cannot be read says nothing; what is to be kept there will fail by itself.
pub(crate) fn name_state(archive: Option<&Path>, opened: &mut Opened) {
    let Some(key) = card_key(opened) else { return };
    let Ok(Some(left)) = last_format(archive, &key) else { return };
    let words = [("state", left.state), ("file_system", Some(left.file_system))];
    for (word, value) in words {
        if let (Some(value), None) = (value, opened.condition.get(word)) {
            opened.condition.set(word, value, Origin::Read);
        }
    }
}
