//! `restore`: puts back what an interrupted test had saved, or an image of a card.
//!
//! Nothing is written before it is known that this is the card: by its identity and size, and by its content, which
//! must be what was saved or what the test wrote (`flash-behaviour` 3.11).

mod image;
mod journal;
#[cfg(test)]
mod tests;

use crate::consent::Consent;
use crate::error::Failure;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::journal::{Journal as _, SavedRange};
use cardscope_journal::backup::beside;
use cardscope_journal::put_back::PutBack;
use cardscope_journal::{Journal, Unusable, folder, is_journal};
use cardscope_model::restore::{RestoreRange, RestoreReport, RestoreSource, WaitingJournal};
use std::path::{Path, PathBuf};

/// A restoration as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A journal, or an image that `--backup` took.
    pub file: PathBuf,
    /// The card; `None` is the one that the journal names.
    pub target: Option<String>,
}

/// What became of it: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: RestoreReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

/// Restores a journal or an image.
///
/// # Errors
/// A refusal: the file is neither, the card is another one or not safe to write to, or consent to overwrite a card
/// with an image was not given. Nothing was written.
pub fn restore(
    request: &Request,
    consent: &mut dyn Consent,
    interrupt: &Interrupt,
    listener: &mut dyn Listener,
) -> Result<Outcome, Failure> {
    let file = &request.file;
    if beside(file).is_file() {
        return image::restore(request, consent, interrupt, listener);
    }
    if is_journal(file) {
        return journal::restore(request, consent, interrupt, listener);
    }
    Err(match file.metadata() {
        Err(e) => Failure::Refused(format!(
            "{} cannot be opened ({e}); `cardscope restore` without a file lists the journals that wait, and a journal that was restored is removed",
            file.display()
        )),
        Ok(_) => Failure::Refused(format!(
            "{} is no journal, and there are no checksums beside it ({}), so it is no backup of Cardscope; a plain image is written with dd",
            file.display(),
            beside(file).display()
        )),
    })
}

/// The journals that wait, oldest first.
///
/// # Errors
/// If their folder cannot be looked at.
pub fn waiting() -> Result<Vec<WaitingJournal>, Failure> {
    Ok(folder::waiting()?.iter().map(|path| wait_of(path)).collect())
}

fn wait_of(path: &Path) -> WaitingJournal {
    let file = path.display().to_string();
    match Journal::open(path) {
        Ok(journal) => {
            let about = journal.about();
            WaitingJournal {
                file,
                target: about.target.clone(),
                card: about.card.clone(),
                announced_bytes: about.announced_bytes,
                began: about.began.clone(),
                saved_bytes: journal.saved().iter().map(|kept| kept.len).sum(),
                state: if journal.restored() { "restored" } else { "waits" }.to_owned(),
            }
        }
        Err(error) => WaitingJournal {
            state: match error {
                Unusable::Running(_) => "running".to_owned(),
                other => other.to_string(),
            },
            file,
            target: String::new(),
            card: None,
            announced_bytes: 0,
            began: String::new(),
            saved_bytes: 0,
        },
    }
}

fn empty(file: &Path, source: RestoreSource, target: &str, saved_at: &str) -> RestoreReport {
    RestoreReport {
        file: file.display().to_string(),
        source,
        target: target.to_owned(),
        saved_at: saved_at.to_owned(),
        announced_bytes: 0,
        recognised_by: None,
        saved_bytes: 0,
        differed_bytes: None,
        bytes_restored: 0,
        compared: false,
        lost: Vec::new(),
        left: Vec::new(),
        unreadable: Vec::new(),
        removed: false,
        notes: Vec::new(),
        error: None,
    }
}

fn fill_in(report: &mut RestoreReport, put_back: PutBack) {
    let range = |kept: SavedRange, reason| RestoreRange { offset: kept.offset, len: kept.len, reason };
    report.bytes_restored = put_back.bytes;
    report.compared = true;
    report.lost = put_back.lost.into_iter().map(|kept| range(kept, None)).collect();
    report.unreadable = put_back.unreadable.into_iter().map(|(kept, why)| range(kept, Some(why))).collect();
}

fn ended(mut report: RestoreReport, failure: Option<Failure>) -> Outcome {
    report.error = failure.as_ref().map(ToString::to_string);
    Outcome { report, failure }
}

/// Directories are no cards: opening one would make a test file there.
fn must_be_card(target: &str) -> Result<(), Failure> {
    match Path::new(target).is_dir() {
        true => Err(Failure::Refused(format!(
            "{target} is a directory; name the card itself, as `cardscope list` shows it, or its image file"
        ))),
        false => Ok(()),
    }
}
