//! Opens the archive: the user's own, or the one that `--archive` names.

use crate::error::{Failure, Result};
use cardscope_store::{Archive, is_server_address};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Path of the archive, of the user's own if `path` is None.
pub fn archive_path(path: Option<&Path>) -> Result<PathBuf> {
    Ok(path.map_or_else(Archive::default_path, |p| Ok(p.to_owned()))?)
}

/// Opens the archive, or creates it.
pub fn open_or_create(path: Option<&Path>) -> Result<Archive> {
    Ok(Archive::open(archive_path(path)?)?)
}

/// Opens the archive if it exists, so that a lookup creates none. A database server is contacted at once.
pub fn open_existing(path: Option<&Path>) -> Result<Option<Archive>> {
    let Ok(path) = archive_path(path) else { return Ok(None) };
    // A dangling link or an inaccessible path counts as existing, so that opening it reports the error.
    let absent = || path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(if is_server_address(&path)? || !absent() { Some(Archive::open(path)?) } else { None })
}

/// Opens the archive for reading. The user's own may be missing, but one that is named must exist.
pub fn open_to_read(path: Option<&Path>) -> Result<Option<Archive>> {
    match (open_existing(path)?, path) {
        (None, Some(path)) => {
            let why = "no archive is there; check --archive or CARDSCOPE_ARCHIVE";
            Err(Failure::refused(format!("{}: {why}", path.display())))
        }
        (archive, _) => Ok(archive),
    }
}

/// Opens the archive, or refuses if it does not exist yet.
pub fn require_archive(path: Option<&Path>) -> Result<Archive> {
    let why = "the archive is empty; `cardscope check` and `cardscope import` fill it";
    open_to_read(path)?.ok_or_else(|| Failure::refused(why))
}
