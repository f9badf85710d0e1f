//! Archive as users see it: sessions (`sessions`, `line`), cards (`cards`), session files (`files`), tables (`tables`).

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

/// Watches the archive (`None` is the user's own) for changes of sessions and cards by any process. The file need not
/// exist yet. [`ArchiveChanges::wait`] blocks, so it needs a thread that does nothing else.
pub fn changes(path: Option<&Path>) -> Result<ArchiveChanges> {
    Ok(ArchiveChanges::of(path_of(path)?)?)
}

pub fn ready(path: Option<&Path>) -> Result<()> {
    open(path).map(drop)
}

/// Path or address of the archive, without a password, and the reason why nothing can be stored in it, if there is one.
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
