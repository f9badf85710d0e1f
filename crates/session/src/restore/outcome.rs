//! What a restoration is asked to do, and its document in the making.

use crate::error::Failure;
use cardscope_engine::journal::SavedRange;
use cardscope_journal::put_back::PutBack;
use cardscope_model::restore::{RestoreRange, RestoreReport, RestoreSource};
use std::path::{Path, PathBuf};

/// A restoration as asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// A journal, or an image that `--backup` took.
    pub file: PathBuf,
    /// The card; `None` is the one that the journal names.
    pub target: Option<String>,
}

/// What became of it: always a document, and what ended it early.
#[derive(Debug)]
pub struct Outcome {
    /// The document, partial where `failure` is set.
    pub report: RestoreReport,
    /// What ended it early.
    pub failure: Option<Failure>,
}

pub(super) fn empty(file: &Path, source: RestoreSource, target: &str, saved_at: &str) -> RestoreReport {
    RestoreReport {
        file: file.display().to_string(),
        source,
        target: target.to_owned(),
        saved_at: saved_at.to_owned(),
        announced_bytes: 0,
        recognised_by: None,
        saved_bytes: 0,
        differed_bytes: None,
        bytes_restored: 0,
        compared: false,
        lost: Vec::new(),
        left: Vec::new(),
        unreadable: Vec::new(),
        removed: false,
        notes: Vec::new(),
        error: None,
    }
}

pub(super) fn fill_in(report: &mut RestoreReport, put_back: PutBack) {
    let range = |kept: SavedRange, reason| RestoreRange { offset: kept.offset, len: kept.len, reason };
    report.bytes_restored = put_back.bytes;
    report.compared = true;
    report.lost = put_back.lost.into_iter().map(|kept| range(kept, None)).collect();
    report.unreadable = put_back.unreadable.into_iter().map(|(kept, why)| range(kept, Some(why))).collect();
}

pub(super) fn ended(mut report: RestoreReport, failure: Option<Failure>) -> Outcome {
    report.error = failure.as_ref().map(ToString::to_string);
    Outcome { report, failure }
}

/// Directories are no cards: opening one would make a test file there.
pub(super) fn must_be_card(target: &str) -> Result<(), Failure> {
    match Path::new(target).is_dir() {
        true => Err(Failure::Refused(format!(
            "{target} is a directory; name the card itself, as `cardscope list` shows it, or its image file"
        ))),
        false => Ok(()),
    }
}
