//! Why a journal or an image is not written, opened or put back.

use cardscope_engine::card::Stop;
use std::path::Path;

/// What ended it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Asked for wrongly, or refused for safety: nothing was written to the card.
    #[error("{0}")]
    Refused(String),
    /// The disk failed, or this is another card.
    #[error("{0}")]
    Io(String),
    /// The card cannot be driven any more, or the user stopped it.
    #[error(transparent)]
    Stop(#[from] Stop),
}

/// Why a journal cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The run that writes it goes on.
    #[error("{0}")]
    Running(String),
    /// Nothing was saved in it, so nothing was overwritten.
    #[error("{0}")]
    Empty(String),
    /// It cannot be read, or not be understood: whose it is is not known.
    #[error("{0}")]
    Unknown(String),
}

impl Unusable {
    pub(crate) fn in_file(self, path: &Path) -> Self {
        let named = |why| format!("{}: {why}", path.display());
        match self {
            Unusable::Running(why) => Unusable::Running(named(why)),
            Unusable::Empty(why) => Unusable::Empty(named(why)),
            Unusable::Unknown(why) => Unusable::Unknown(named(why)),
        }
    }
}
