//! The archive as people see it: what was measured (`sessions`), its cards (`cards`), and its content as files (`files`).

mod cards;
mod files;
mod named;
mod request;
mod sessions;

pub use cards::{AttachmentLine, CardLine, CardShown, Edit, cards, edit, facts, merge};
pub use files::{Exported, Taken, export, take};
pub use request::{Request, What};
pub use sessions::{Found, Line, Shown, find, list, remove, show};

use crate::error::Result;
use cardscope_store::{Archive, is_server};
use std::path::{Path, PathBuf};

/// Where the archive lies; `None` is the user's own.
pub(crate) fn path_of(path: Option<&Path>) -> Result<PathBuf> {
    Ok(path.map_or_else(Archive::default_path, |p| Ok(p.to_owned()))?)
}

/// Opens the archive, and makes one where there is none.
pub(crate) fn open(path: Option<&Path>) -> Result<Archive> {
    Ok(Archive::open(path_of(path)?)?)
}

/// Opens the archive where there is one: looking something up makes none. A server is asked when it is opened.
pub(crate) fn open_existing(path: Option<&Path>) -> Result<Option<Archive>> {
    let Ok(path) = path_of(path) else { return Ok(None) };
    Ok(if is_server(&path)? || path.exists() { Some(Archive::open(path)?) } else { None })
}
