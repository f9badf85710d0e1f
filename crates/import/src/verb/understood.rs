//! A parsed file on its way from a reader to the archive.

use cardscope_model::log::CardLog;
use std::path::PathBuf;

pub(super) struct ParsedFile {
    pub(super) file: String,
    /// Folder of the file, and of the pictures that its figures were typed from.
    pub(super) folder: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) logs: Vec<CardLog>,
    /// Index in the batch of the first file with the same nameless card, and that card's title.
    pub(super) shared: Option<(usize, String)>,
}
