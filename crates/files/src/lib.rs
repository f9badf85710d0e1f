//! Files by name, where somebody else may be changing the names: pages, journals, backups, state files, the archive.
//!
//! A name is resolved once, component by component, into a [`Folder`] that is held by its descriptor; everything after
//! that happens in that folder, whatever its name leads to by then. Links on the way are followed only where root or
//! the user owns them; a link as the last part is refused. Files are made exclusively, opened only if they are plain
//! files, and replaced or removed only while they are the very file that was judged ([`Identity`]).
#![forbid(unsafe_code)]

mod draft;
mod draft_folder;
mod error;
mod folder;
mod identity;

pub use draft::DraftFile;
pub use draft_folder::{DraftFolder, files_below};
pub use error::FileError;
pub use folder::{FileUse, ResolvedFolder, is_plain};
pub use identity::{FileIdentity, is_trusted};

/// The system's words for an error, without its number.
pub fn in_words(error: &std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_owned()
}

/// Opens a plain file by its path, as [`Folder::of_file`] and [`Folder::open_file`] do.
pub fn open(file: &std::path::Path, usage: FileUse) -> Result<std::fs::File, FileError> {
    let (folder, name) = ResolvedFolder::of_file(file)?;
    folder.open_file(&name, usage)
}
