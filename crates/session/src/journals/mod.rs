//! Journals and their cards: what of a card must be known from outside to begin a journal, to know whether one waits for
//! it, and to say where one is that had to stay.

#[cfg(test)]
mod tests;
mod waiting;
mod whose;

pub(crate) use waiting::none_waits;
pub(crate) use whose::{Medium, Whose, by_content};

use crate::card_key;
use crate::error::Failure;
use crate::opening::Opened;
use cardscope_device::filesystem;
use cardscope_journal::{About, Journal, folder, witness};
use std::path::Path;

/// Starts a journal for a run that saves up to `room` bytes, before the card is touched.
///
/// # Errors
/// A refusal: there is no place for it, it would lie on the card itself, or the disk has not that room and 5 % more.
pub(crate) fn create(target: &str, opened: &mut Opened, room: u64) -> Result<Journal, Failure> {
    let card = opened.leads_to();
    let folder = folder::ready(target, &|path: &Path| filesystem::lies_on(path, &card), room)?;
    let medium = Medium::of(target, opened);
    let about = About {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        target: target.to_owned(),
        card: medium
            .key
            .as_ref()
            .and(opened.identity.as_ref())
            .and_then(card_key::unit_of)
            .map(|unit| unit.model),
        card_key: medium.key,
        announced_bytes: medium.bytes,
        start_bytes: Some(medium.start),
        notes_putting_back: true,
        began: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        witnesses: witness::look(opened.target.as_mut()),
    };
    Ok(Journal::create(folder, about)?)
}

/// A failure that leaves a journal says where it is.
pub(crate) fn naming(failure: Failure, journal: Option<&str>) -> Failure {
    let Some(path) = journal else { return failure };
    match failure {
        Failure::Io(reason) => Failure::io_for(
            format!("{reason}. What was on the card is kept: put it back with `cardscope restore {path}`"),
            reason,
        ),
        other => other,
    }
}
