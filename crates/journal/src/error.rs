//! Why a journal or an image is not written, opened or put back.

use cardscope_engine::card::Stop;
use cardscope_engine::cause::Cause;
use std::path::Path;

/// What ended it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Asked for wrongly, or refused for safety: nothing was written to the card.
    #[error(transparent)]
    Refused(Cause),
    /// The disk failed, or this is another card.
    #[error(transparent)]
    Io(Cause),
    /// The card cannot be driven any more, or the user stopped it.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// Why a journal cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unusable {
    /// The run that writes it goes on.
    #[error(transparent)]
    Running(Cause),
    /// It cannot be read, or not be understood: whose it is is not known.
    #[error(transparent)]
    Unknown(Cause),
}

impl Unusable {
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        let (Unusable::Running(why) | Unusable::Unknown(why)) = &mut self;
        *why = Cause::worded(format!("{}: {why}", path.display()), why.clone());
        self
    }
}
