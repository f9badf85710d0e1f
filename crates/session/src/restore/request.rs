//! What a restoration is asked to do, and what putting back says in its document.

use crate::error::{Failure, Result};
use cardscope_engine::journal::SavedRange;
use cardscope_journal::put_back::PutBack;
use cardscope_model::restore::{RestoreRange, RestoreReport};
use std::path::{Path, PathBuf};

/// A restoration as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A journal, or an image that `--backup` took.
    pub file: PathBuf,
    /// The card; `None` is the one that the journal names.
    pub target: Option<String>,
}

pub(super) fn fill_in(report: &mut RestoreReport, put_back: PutBack) {
    let range = |saved: SavedRange, reason| RestoreRange { offset: saved.offset, len: saved.len, reason };
    report.bytes_restored = put_back.bytes;
    report.compared = true;
    report.lost = put_back.lost.into_iter().map(|saved| range(saved, None)).collect();
    report.unreadable = put_back.unreadable.into_iter().map(|(saved, why)| range(saved, Some(why))).collect();
}

/// Directories are no cards: opening one would make a test file there.
pub(super) fn must_be_card(target: &str) -> Result<()> {
    match Path::new(target).is_dir() {
        true => Err(Failure::refused(format!(
            "{target} is a directory; name the card itself, as `cardscope list` shows it, or its image file"
        ))),
        false => Ok(()),
    }
}
