//! A file between its importer and the archive.

use cardscope_model::log::CardLog;
use std::path::PathBuf;

/// A file that was understood, until it is stored.
pub(super) struct ParsedFile {
    pub(super) file: String,
    /// Where it lies, and the photographs that its figures were typed from.
    pub(super) folder: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) logs: Vec<CardLog>,
    /// Number of the first file of its batch with the same card, and how that is called, where none of them names it.
    pub(super) shared: Option<(usize, String)>,
}
