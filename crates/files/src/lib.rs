//! Opens, creates and replaces files safely in folders where other users may exchange names at any time.
//!
//! A path is resolved once, component by component, into a [`ResolvedFolder`] that stays open as a descriptor. All later steps
//! happen in that folder, even if its path leads elsewhere by then. Links on the way are followed only if root or the
//! user owns them; a link as the last component is refused. Files are created exclusively, opened only if they are
//! plain, and replaced or removed only while they are the same file as before ([`FileIdentity`]).
#![forbid(unsafe_code)]

mod draft;
mod draft_folder;
mod error;
mod folder;

pub use draft::DraftFile;
pub use draft_folder::{DraftFolder, files_below};
pub use error::FileError;
pub use folder::{FileIdentity, FileUse, ResolvedFolder, is_plain, is_trusted};

/// Message of an error without its number.
pub fn error_text(error: &std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// Opens a plain file by its path, as [`ResolvedFolder::parent_of`] and [`ResolvedFolder::open_file`] do.
pub fn open_file(file: &std::path::Path, usage: FileUse) -> Result<std::fs::File, FileError> {
    let (folder, name) = ResolvedFolder::parent_of(file)?;
    folder.open_file(&name, usage)
}
