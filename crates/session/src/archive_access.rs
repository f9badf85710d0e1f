//! Opens the archive that a verb reads or stores its results in: the user's own, or the one that `--archive` names.

use crate::error::{Failure, Result};
use cardscope_store::{Archive, is_server};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where the archive lies; `None` is the user's own.
pub fn path_of(path: Option<&Path>) -> Result<PathBuf> {
    Ok(path.map_or_else(Archive::default_path, |p| Ok(p.to_owned()))?)
}

/// Opens the archive, and makes one where there is none.
pub fn open(path: Option<&Path>) -> Result<Archive> {
    Ok(Archive::open(path_of(path)?)?)
}

/// Opens the archive where there is one: looking something up makes none. A server is asked when it is opened.
pub fn open_existing(path: Option<&Path>) -> Result<Option<Archive>> {
    let Ok(path) = path_of(path) else { return Ok(None) };
    // A link that leads nowhere is there, too, and so is what may not be looked at; opening it says what is wrong.
    let absent = || path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(if is_server(&path)? || !absent() { Some(Archive::open(path)?) } else { None })
}

/// The same for a verb that only reads: the user's own archive may not be made yet, but one that is named must be there.
pub fn open_to_read(path: Option<&Path>) -> Result<Option<Archive>> {
    match (open_existing(path)?, path) {
        (None, Some(path)) => Err(Failure::refused(format!(
            "{}: no archive is there; check --archive or CARDSCOPE_ARCHIVE",
            path.display()
        ))),
        (archive, _) => Ok(archive),
    }
}

/// The same where something in the archive is meant.
pub fn open_filled(path: Option<&Path>) -> Result<Archive> {
    let nothing =
        || Failure::refused("the archive is empty; `cardscope check` and `cardscope import` fill it");
    open_to_read(path)?.ok_or_else(nothing)
}
