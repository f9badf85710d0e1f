//! Why a journal or an image is not written, opened or put back.

use cardscope_engine::card::ProbeStop;
use cardscope_engine::cause::ErrorCause;
use std::path::Path;

/// What ended it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JournalFailure {
    /// Asked for wrongly, or refused for safety: nothing was written to the card.
    #[error(transparent)]
    Refused(ErrorCause),
    /// The disk failed, or this is another card.
    #[error(transparent)]
    Io(ErrorCause),
    /// The card cannot be driven any more, or the user stopped it.
    #[error(transparent)]
    Stop(#[from] ProbeStop),
}

/// Why a journal cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnusableJournal {
    /// The run that writes it goes on.
    #[error(transparent)]
    Running(ErrorCause),
    /// It cannot be read, or not be understood: whose it is is not known.
    #[error(transparent)]
    Unknown(ErrorCause),
}

impl UnusableJournal {
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        let (UnusableJournal::Running(why) | UnusableJournal::Unknown(why)) = &mut self;
        *why = ErrorCause::worded(format!("{}: {why}", path.display()), why.clone());
        self
    }
}
