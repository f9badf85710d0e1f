//! Opens, creates and replaces files safely in folders where other users may exchange names at any time.
//!
//! A path is resolved once, component by component, into a [`ResolvedFolder`] that stays open as a descriptor. All later steps
//! happen in that folder, even if its path leads elsewhere by then. Links on the way are followed only if root or the
//! user owns them; a link as the last component is refused. Files are created exclusively, opened only if they are
//! plain, and replaced or removed only while they are the same file as before ([`FileIdentity`]).
#![forbid(unsafe_code)]

mod draft;
mod draft_folder;
mod folder;

pub use draft::DraftFile;
pub use draft_folder::{DraftFolder, files_below};
pub use folder::{
    FileIdentity, FileUse, ResolvedFolder, is_plain, is_trusted, open_file, require_trusted_owner,
};

use rustix::io::Errno;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A link that another user could change at any time.
    #[error("{} is a link owned by user {owner}, which is not followed; name its target \
             folder", link.display())]
    ForeignLink { link: PathBuf, owner: u32 },
    #[error("that is a link, which is not followed; name its target file")]
    Link,
    /// File that is trusted only if root or the user owns it.
    #[error("it is owned by user {owner}; only your own files or root's are used")]
    ForeignFile { owner: u32 },
    #[error("that is a {0}, not a plain file")]
    NotPlain(&'static str),
    /// Empty path, or one that ends in `/`, `.` or `..`.
    #[error("that is not the name of a file")]
    NotAName,
    #[error("another file with that name appeared; it was not changed")]
    Changed,
    #[error("another process is writing it; wait for it to end")]
    Busy,
    /// Folder, or a parent of it, whose owner may exchange files in it.
    #[error("user {owner} can replace files in {}", folder.display())]
    ReplaceableByOwner { folder: PathBuf, owner: u32 },
    /// Like [`ReplaceableByOwner`](FileError::ReplaceableByOwner), but a group or everybody may.
    #[error("other users can replace files in {}; use `chmod go-w` to prevent it", folder.display())]
    ReplaceableByOthers { folder: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for FileError {
    fn from(errno: Errno) -> Self {
        FileError::Io(errno.into())
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            other => io::Error::other(other),
        }
    }
}

impl FileError {
    pub fn is_absent(&self) -> bool {
        matches!(self, FileError::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Message of an error without its number.
pub fn error_text(error: &std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}
