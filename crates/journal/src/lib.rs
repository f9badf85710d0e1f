//! Saves the data that a test is going to overwrite, in a journal or in an image of the whole card, and restores it.
//!
//! Nothing here opens devices: callers pass an open [`Target`](cardscope_engine::target::Target), its name, and a check
//! whether a folder lies on it. `docs/journal.md` describes both formats.
#![forbid(unsafe_code)]

pub mod backup;
mod change_list;
pub mod folder;
mod journal;
mod record;
pub mod restore_outcome;
pub mod restoring;
mod scan;
pub mod search;
pub mod survey;
mod tally;

pub use journal::Journal;
pub use record::{BlockFingerprint, JournalFacts};
pub use scan::{JournalCompleteness, JournalDamage, is_journal};
pub use survey::JournalPart;

use cardscope_engine::cause::ErrorCause;
use cardscope_engine::io_driver::ProbeStop;
use std::path::Path;

pub(crate) type Result<T, E = JournalFailure> = std::result::Result<T, E>;

/// Failure to write, open or restore a journal or an image.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JournalFailure {
    /// Wrong request, or refused for safety: nothing was written to the card.
    #[error(transparent)]
    Refused(ErrorCause),
    /// The disk failed, or another card is inserted.
    #[error(transparent)]
    Io(ErrorCause),
    /// The card stopped working, or the user stopped the test.
    #[error(transparent)]
    Stop(#[from] ProbeStop),
}

impl JournalFailure {
    pub(crate) fn refused(why: impl Into<ErrorCause>) -> Self {
        JournalFailure::Refused(why.into())
    }

    /// Refuses with a message that has `error` as its source.
    pub(crate) fn refused_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        JournalFailure::Refused(ErrorCause::with_message(words, error))
    }

    pub(crate) fn io_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        JournalFailure::Io(ErrorCause::with_message(words, error))
    }
}

/// Reason why a journal cannot be opened.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnusableJournal {
    /// The test that writes it is still running.
    #[error(transparent)]
    Running(ErrorCause),
    /// Unreadable or in an unknown format, so its card is unknown.
    #[error(transparent)]
    Unknown(ErrorCause),
}

impl UnusableJournal {
    pub(crate) fn unknown_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        UnusableJournal::Unknown(ErrorCause::with_message(words, error))
    }
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        let (UnusableJournal::Running(why) | UnusableJournal::Unknown(why)) = &mut self;
        *why = ErrorCause::with_message(format!("{}: {why}", path.display()), why.clone());
        self
    }
}
