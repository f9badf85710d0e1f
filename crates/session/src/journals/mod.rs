//! Journals of cards: creation, and the check for unrestored data before a card is written to.
//! A journal holds what an earlier test overwrote. Until it is restored the card must not be written to: a further test
//! would save the earlier stamps as if they were the card's data, and a destructive test would overwrite the places that are
//! to be restored.

mod journal_owner;
#[cfg(test)]
mod waiting_tests;

pub use journal_owner::{JournalOwner, TargetMedium, owner_by_content};

use crate::card_key;
use crate::error::{Failure, Result};
use crate::open_target::OpenTarget;
use cardscope_device::filesystem;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_journal::{Journal, JournalFacts, UnusableJournal, folder, survey};
use cardscope_model::caveat::Caveat;
use cardscope_model::shell::{shell_quote, shell_quote_path};
use journal_owner::find_owner;
use std::path::{Path, PathBuf};

/// Creates a journal for up to `room` bytes, before the first write.
/// Refuses if there is no folder for it, if it would lie on the card itself, or if the disk lacks that room and 5 % more.
pub fn create_journal(target: &str, opened: &mut OpenTarget, room: u64) -> Result<Journal> {
    let card = opened.stable_path();
    let folder = folder::prepare_folder(target, &|path: &Path| filesystem::is_on_disk_of(path, &card), room)?;
    let medium = TargetMedium::of_target(opened);
    let identity = opened.identity.as_ref().filter(|_| medium.key.is_some());
    let about = JournalFacts {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        target: target.to_owned(),
        card: identity.and_then(card_key::card_unit).map(|unit| unit.model),
        card_key: medium.key,
        announced_bytes: medium.bytes,
        start_bytes: Some(medium.start),
        notes_putting_back: true,
        began: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        witnesses: survey::take_fingerprints(opened.target.as_mut()),
        ..JournalFacts::default()
    };
    Ok(Journal::create(folder, about)?)
}

/// Adds the location of the journal to an I/O failure that leaves it behind.
pub(crate) fn with_journal_location(failure: Failure, journal: Option<&str>) -> Failure {
    let Some(path) = journal else { return failure };
    match failure {
        Failure::Io(why) => {
            let command = format!("cardscope restore {}", shell_quote(path));
            Failure::io_for(format!("{why}; the card's data is saved: run `{command}`"), why)
        }
        other => other,
    }
}

/// Refuses a card that may have an unrestored journal. Journals of other cards become caveats. A journal of a running test
/// is locked and skipped.
/// Refuses with the name of the journal. Fails if the card is removed or the user interrupts.
pub(crate) fn refuse_unrestored(name: &str, opened: &mut OpenTarget, stop: &InterruptFlag) -> Result<()> {
    // No journal exists if their folder is unknown.
    if folder::journal_folder().is_err() {
        return Ok(());
    }
    check_journals(&folder::pending_journals()?, name, opened, stop)
}

fn check_journals(files: &[PathBuf], name: &str, card: &mut OpenTarget, stop: &InterruptFlag) -> Result<()> {
    let medium = TargetMedium::of_target(card);
    for file in files {
        let (shown, target) = (file.display(), shell_quote(name));
        let command = format!("cardscope restore {}", shell_quote_path(file));
        let mut journal = match Journal::open(file) {
            Ok(journal) => journal,
            Err(UnusableJournal::Running(_)) => continue,
            Err(UnusableJournal::Unknown(_)) if !file.exists() => continue,
            Err(UnusableJournal::Unknown(why)) => {
                let text = format!(
                    "{why}. It may belong to this card, so nothing was written to {name}; if it does not, move the \
                     file {shown} to another folder"
                );
                return Err(Failure::refused_for(text, why));
            }
        };
        if journal.restored() || journal.overwrote_nothing() {
            continue;
        }
        match find_owner(&mut journal, &medium, card, stop)? {
            JournalOwner::ThisCard(_) => {
                let began = &journal.facts().began;
                return Err(Failure::refused(format!(
                    "a test of this card, started at {began}, was interrupted, and its saved data waits in a journal; \
                     nothing was written. Restore it first with `{command} {target}`, or remove that file"
                )));
            }
            JournalOwner::Uncertain(why) => {
                return Err(Failure::refused(format!(
                    "the journal {shown} may belong to this card: {why}. Nothing was written. If it does, run \
                     `{command} {target}`; if not, move or remove that file"
                )));
            }
            JournalOwner::OtherCard(why) => {
                let rest = format!("({why}); restore that card with `{command}`");
                card.caveats.push(Caveat::Other {
                    text: format!("the journal {shown} waits for another card {rest}"),
                });
            }
        }
    }
    Ok(())
}
