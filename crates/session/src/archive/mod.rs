//! The archive as people see it: what was measured (`sessions`, `document`, `line`), its cards (`cards`), and its content as files (`files`).

mod cards;
mod document;
mod files;
mod line;
mod named;
mod request;
mod sessions;

pub use cards::{
    AttachmentLine, CardLine, CardShown, Edit, attach, attached_bytes, card, cards, edit, facts, merge, said,
};
pub use document::Shown;
pub use files::{Exported, Taken, export, take};
pub use line::{Answer, AnswerCache, Line};
pub use request::{Request, What};
pub use sessions::{Found, find, list, newest, remove, show};

use crate::error::{Failure, Result};
pub use cardscope_store::Changes;
use cardscope_store::{Archive, is_server};
use rustix::fs::{Access, access};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where the archive lies; `None` is the user's own.
pub(crate) fn path_of(path: Option<&Path>) -> Result<PathBuf> {
    Ok(path.map_or_else(Archive::default_path, |p| Ok(p.to_owned()))?)
}

/// Begins to watch the archive (`None` is the user's own) for changes of sessions and cards, by whatever process. A file
/// need not be there yet. Ask it on a thread of its own: [`Changes::wait`] blocks.
///
/// # Errors
/// If the server cannot be reached, or what lies there is no archive.
pub fn changes(path: Option<&Path>) -> Result<Changes> {
    Ok(Changes::of(path_of(path)?)?)
}

/// Opens the archive, and makes one where there is none.
pub(crate) fn open(path: Option<&Path>) -> Result<Archive> {
    Ok(Archive::open(path_of(path)?)?)
}

/// Makes the archive where there is none, for whoever goes on reading and writing it.
///
/// # Errors
/// If it can neither be opened nor made.
pub fn ready(path: Option<&Path>) -> Result<()> {
    open(path).map(drop)
}

/// Where the archive lies, a database without its password; and why nothing can be stored there, where that is so.
pub fn place(path: Option<&Path>) -> (String, Option<String>) {
    let at = match path_of(path) {
        Ok(at) => at,
        Err(why) => return (String::new(), Some(why.to_string())),
    };
    let shown = cardscope_store::shown(&at).display().to_string();
    if let Err(why) = Archive::open(&at) {
        return (shown, Some(why.to_string()));
    }
    let writes = is_server(&at).unwrap_or_default() || access(&at, Access::WRITE_OK).is_ok();
    (shown.clone(), (!writes).then(|| format!("{shown} is read-only: nothing can be stored in it")))
}

/// Opens the archive where there is one: looking something up makes none. A server is asked when it is opened.
pub(crate) fn open_existing(path: Option<&Path>) -> Result<Option<Archive>> {
    let Ok(path) = path_of(path) else { return Ok(None) };
    // A link that leads nowhere is there, too, and so is what may not be looked at; opening it says what is wrong.
    let absent = || path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(if is_server(&path)? || !absent() { Some(Archive::open(path)?) } else { None })
}

/// The same for a verb that only reads: the user's own archive may not be made yet, but one that is named must be there.
pub(crate) fn open_to_read(path: Option<&Path>) -> Result<Option<Archive>> {
    match (open_existing(path)?, path) {
        (None, Some(path)) => Err(Failure::refused(format!(
            "{}: no archive is there; check --archive or CARDSCOPE_ARCHIVE",
            path.display()
        ))),
        (archive, _) => Ok(archive),
    }
}

/// The same where something in the archive is meant.
fn open_filled(path: Option<&Path>) -> Result<Archive> {
    let nothing =
        || Failure::refused("the archive is empty; `cardscope check` and `cardscope import` fill it");
    open_to_read(path)?.ok_or_else(nothing)
}
