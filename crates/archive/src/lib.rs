//! Archive as users see it: sessions (`sessions`, `line`), cards (`cards`), session files (`files`), tables (`tables`).

#![forbid(unsafe_code)]

pub mod tables;

mod cards;
mod files;
mod lookup;
mod request;
mod session_line;
mod sessions;

pub use cards::{
    CardEdit, CardPage, attach_file, attached_file, card_by_id, edit_card, list_cards, merge_cards,
    newest_identity, text_facts,
};
pub use files::{ExportedFile, TakenFile, export_sessions, import_session_files};
pub use request::{ArchiveAction, ArchiveRequest};
pub use session_line::{AnswerCache, AnswerRenderer, SessionLine};
pub use sessions::{FoundItem, find_session_or_card, list_sessions, newest_sessions, remove_session};

pub use cardscope_session::archive_access::{StoredDocument, load_by_id};
use cardscope_session::archive_access::{archive_path, open_or_create};
use cardscope_session::error::Result;
pub use cardscope_store::ArchiveChanges;
use cardscope_store::{Archive, is_server_address};
use rustix::fs::{Access, access};
use std::path::Path;

/// Watches the archive (`None` is the user's own) for changes of sessions and cards by any process. The file need not
/// exist yet. [`ArchiveChanges::wait`] blocks, so it needs a thread that does nothing else.
pub fn watch_changes(path: Option<&Path>) -> Result<ArchiveChanges> {
    Ok(ArchiveChanges::watch(archive_path(path)?)?)
}

pub fn create_if_missing(path: Option<&Path>) -> Result<()> {
    open_or_create(path).map(drop)
}

/// Path or address of the archive, without a password, and the reason why nothing can be stored in it, if there is one.
pub fn location_and_problem(path: Option<&Path>) -> (String, Option<String>) {
    let at = match archive_path(path) {
        Ok(at) => at,
        Err(why) => return (String::new(), Some(why.to_string())),
    };
    let shown = cardscope_store::redact_address(&at).display().to_string();
    if let Err(why) = Archive::open(&at) {
        return (shown, Some(why.to_string()));
    }
    let writes = is_server_address(&at).unwrap_or_default() || access(&at, Access::WRITE_OK).is_ok();
    (shown.clone(), (!writes).then(|| format!("{shown} is read-only: nothing can be stored in it")))
}
