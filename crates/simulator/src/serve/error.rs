//! Why cards cannot be served: what happened, on what, and what to do.

use std::io;
use std::path::PathBuf;

/// Why cards cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Neither a directory nor an address was given, or no card.
    #[error("nothing to serve: give at least one card, and a directory to mount on or an address for NBD")]
    Nothing,
    /// The directory is no place to mount on.
    #[error("cannot serve on {path}: {reason}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The kernel did not take the mount.
    #[error("mounting on {path} failed: {reason}")]
    Mount {
        /// The directory.
        path: PathBuf,
        /// The kernel's answer, and what to do.
        reason: String,
    },
    /// The address cannot be listened on.
    #[error("cannot serve NBD on {address}: {reason}")]
    Address {
        /// As it was given.
        address: String,
        /// What is wrong, and what to do.
        reason: String,
    },
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
            ServeError::Nothing
                | ServeError::Directory { .. }
                | ServeError::Address { .. }
                | ServeError::State(_)
        )
    }
}
