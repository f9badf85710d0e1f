//! `restore`: restores what an interrupted test saved, or an image of a card.
//!
//! Nothing is written before the card is recognized: by size and identity, and by its content, which must be the saved
//! data or the test's own (docs/reference/flash.md#preserving-the-data).

mod image;
mod journal;

pub use crate::request::RestoreRequest;

use cardscope_device::open::processes_using;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::journal::JournalWriter as _;
use cardscope_journal::backup::checksum_path;
use cardscope_journal::{Journal, JournalFacts, UnusableJournal, folder, is_journal};
use cardscope_model::restore::{RestoreReport, WaitingJournal};
use cardscope_model::shell::shell_quote;
use cardscope_session::consent::ConsentSource;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{VerbOutcome, refusal_or_interrupt};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Restores a journal or an image. A refusal means that nothing was written.
pub fn restore(
    request: &RestoreRequest,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<RestoreReport>> {
    const LISTS: &str = "`cardscope restore` lists the waiting journals";
    let Some(file) = request.file.as_deref() else {
        return Err(Failure::refused(format!("name the journal or the backup; {LISTS}")));
    };
    let sums = checksum_path(file);
    if sums.is_file() {
        let restored = image::run_image_restore(file, request, consent, interrupt, events);
        return refusal_or_interrupt(restored, interrupt);
    }
    if is_journal(file) {
        let restored = journal::run_journal_restore(file, request, consent, interrupt, events);
        return refusal_or_interrupt(restored, interrupt);
    }
    let (shown, sums) = (file.display(), sums.display());
    Err(match file.metadata() {
        Err(e) => Failure::refused_for(
            format!("{shown} cannot be opened ({e}); {LISTS}; restored ones are removed"),
            e,
        ),
        Ok(about) if about.file_type().is_block_device() => Failure::refused(format!(
            "{shown} is a device: name the journal or the backup before it; {LISTS}"
        )),
        Ok(_) => Failure::refused(format!(
            "{shown} is not a Cardscope journal or backup: there are no checksums beside it ({sums}); write a plain \
             image with dd"
        )),
    })
}

/// Journals in the folder, oldest first, with their state.
pub fn pending_journals() -> Result<Vec<WaitingJournal>> {
    Ok(folder::pending_journals()?.iter().map(|path| journal_state(path)).collect())
}

/// State of one journal. Opening it takes its lock, which a running test holds.
fn journal_state(path: &Path) -> WaitingJournal {
    match Journal::open(path) {
        Ok(journal) => WaitingJournal {
            state: if journal.restored() { "restored" } else { "waits" }.to_owned(),
            command: Some(format!("cardscope restore {}", shell_quote(&path.display().to_string()))),
            ..journal_line(path, journal.facts(), journal.saved_ranges().iter().map(|saved| saved.len).sum())
        },
        Err(UnusableJournal::Running(_)) => {
            let (about, saved_bytes) = Journal::peek(path).unwrap_or_default();
            let process = processes_using(path).first().copied();
            let line = journal_line(path, &about, saved_bytes);
            WaitingJournal { state: "running".to_owned(), process, ..line }
        }
        Err(error) => {
            WaitingJournal { state: error.to_string(), ..journal_line(path, &JournalFacts::default(), 0) }
        }
    }
}

fn journal_line(path: &Path, about: &JournalFacts, saved_bytes: u64) -> WaitingJournal {
    let JournalFacts { target, card, announced_bytes, began, .. } = about.clone();
    let file = path.display().to_string();
    WaitingJournal { file, target, card, announced_bytes, began, saved_bytes, ..WaitingJournal::default() }
}
