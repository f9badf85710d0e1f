//! The archive as people see it: what was measured (`sessions`, `document`, `line`), its cards (`cards`), and its content as files (`files`).

#![forbid(unsafe_code)]

pub mod tables;

mod cards;
mod files;
mod line;
mod named;
mod request;
mod sessions;

pub use cards::{CardEdit, CardPage, attach, attached_bytes, card, cards, edit, facts, merge, said};
pub use files::{ExportedFile, TakenFile, export, take};
pub use line::{AnswerCache, AnswerRenderer, SessionLine};
pub use request::{ArchiveAction, ArchiveRequest};
pub use sessions::{FoundItem, find, list, newest, remove};

use cardscope_session::archive_access::{open, path_of};
use cardscope_session::error::Result;
pub use cardscope_session::stored_document::{StoredDocument, show};
pub use cardscope_store::ArchiveChanges;
use cardscope_store::{Archive, is_server};
use rustix::fs::{Access, access};
use std::path::Path;

/// Begins to watch the archive (`None` is the user's own) for changes of sessions and cards, by whatever process. A file
/// need not be there yet. Ask it on a thread of its own: [`Changes::wait`] blocks.
///
/// # Errors
/// If the server cannot be reached, or what lies there is no archive.
pub fn changes(path: Option<&Path>) -> Result<ArchiveChanges> {
    Ok(ArchiveChanges::of(path_of(path)?)?)
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
