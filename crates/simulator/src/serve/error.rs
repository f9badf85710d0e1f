//! Why cards cannot be served: what happened, on what, and what to do.

use std::io;
use std::path::PathBuf;

/// Why cards cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Neither a directory nor an address was given, or no card.
    #[error("nothing to serve: give at least one card, and a directory to mount on or an address for NBD")]
    Nothing,
    /// The directory is no place to mount on: what is wrong, and what to do.
    #[error("cannot serve on {0}: {1}")]
    Directory(PathBuf, String),
    /// The kernel did not take the mount: its answer, and what to do.
    #[error("mounting on {0} failed: {1}")]
    Mount(PathBuf, String),
    /// The address, as it was given, cannot be listened on: what is wrong, and what to do.
    #[error("cannot serve NBD on {0}: {1}")]
    Address(String, String),
    /// The card's own description does not hold.
    #[error(transparent)]
    Card(#[from] crate::archetype::ArchetypeError),
    /// Its saved state cannot be used, or not be saved.
    #[error(transparent)]
    State(#[from] crate::state_file::StateError),
    /// It broke while it was served.
    #[error("serving {what} ended: {source}")]
    Session {
        /// The directory or address.
        what: String,
        /// Why.
        source: io::Error,
    },
}

impl ServeError {
    /// True where nothing was done because of how it was asked for.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            ServeError::Nothing | ServeError::Directory(..) | ServeError::Address(..) | ServeError::State(_)
        )
    }
}
