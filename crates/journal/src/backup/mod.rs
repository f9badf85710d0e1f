//! `--backup FILE`: an image of the card before it is overwritten, put back and compared afterwards.
//!
//! FILE is the card byte for byte, with holes where the card is zero, so that `dd` can write it too. Beside it lies
//! FILE.sums with a checksum of each MiB and what could not be read: `docs/journal.md` has its format.

mod put;
mod sums;
mod take;

pub use sums::{BackupFacts, beside};

use crate::changed;
use crate::error::JournalFailure;
use crate::put_back::RestoreResult;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::pending::CleanupGuard;
use cardscope_files::FileUse;
use cardscope_model::finding::Finding;
use cardscope_model::report::ChangedBlocks;
use cardscope_model::shell::quoted_path;
use std::fs::File;
use std::path::{Path, PathBuf};
use sums::{CHUNK, ImageSums};

/// I/Os in flight while an image is taken and compared: with [`CHUNK`], 4 MiB of memory.
const DEPTH: u32 = 4;

/// The stage of a verb in which the image is taken.
pub const SAVING: &str = "saving an image of the card";

/// The stage in which the card is read a second time and compared with the image.
const COMPARING: &str = "comparing the image with the card";

/// The stage in which it is put back.
pub const RESTORING: &str = "restoring the image";

/// An image of a card.
pub struct CardImage {
    image: File,
    path: PathBuf,
    sums: ImageSums,
    /// What a test may write to, start and end; `None` is everywhere.
    overwritten: Option<(u64, u64)>,
    /// It is put back, whoever asks the program to end; not so where it was opened to be restored.
    _owing: Option<CleanupGuard>,
}

impl CardImage {
    /// Opens an image that was taken earlier.
    ///
    /// # Errors
    /// A refusal: it cannot be read, or it is not what its checksums are about.
    pub fn open(path: &Path) -> Result<CardImage, JournalFailure> {
        let refused = |why: ErrorCause| {
            JournalFailure::Refused(ErrorCause::worded(format!("{}: {why}", path.display()), why))
        };
        let sums = sums::read(&beside(path)).map_err(|why| refused(why.into()))?;
        let image = cardscope_files::open(path, FileUse::Read)
            .map_err(|e| refused(ErrorCause::worded(format!("the image cannot be opened: {e}"), e)))?;
        let bytes = image.metadata().map_err(|e| refused(e.into()))?.len();
        if bytes != sums.about.bytes {
            return Err(refused(format!(
                "the image has {bytes} bytes, and its checksums are for {}: it is truncated or another image",
                sums.about.bytes
            ).into()));
        }
        Ok(CardImage { image, path: path.to_owned(), sums, overwritten: None, _owing: None })
    }

    /// What it is an image of.
    pub fn about(&self) -> &BackupFacts {
        &self.sums.about
    }

    /// Where the image is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that a test writes to no other bytes: by the others the card is known again.
    pub fn overwritten(&mut self, start: u64, end: u64) {
        self.overwritten = Some((start, end));
    }

    /// Where the card's data is, for a failure that leaves the image behind.
    pub fn whereabouts(&self) -> String {
        whereabouts(&self.path)
    }

    /// First byte behind the last one that is not zero: so much of it a card must hold.
    pub fn used_bytes(&self) -> u64 {
        let last = self.sums.chunks.iter().rposition(Option::is_some);
        last.map_or(0, |at| ((at as u64 + 1) * u64::from(CHUNK)).min(self.sums.about.bytes))
    }
}

fn whereabouts(image: &Path) -> String {
    let (file, typed) = (image.display(), quoted_path(image));
    format!("the card's data is saved in {file}: run `cardscope restore {typed} TARGET`")
}

/// What a document says where not all of an image came back.
pub fn finding(back: &RestoreResult) -> Option<Finding> {
    let finding = back.finding(&back.may_have_changed(None))?;
    Some(finding.advise("Restore the image to another card with `cardscope restore`."))
}

/// Lists what may have changed although an image was restored; `None` where nothing may.
pub fn list_changed(image: &Path, target: &str, back: &RestoreResult) -> Option<ChangedBlocks> {
    changed::list_beside(image, target, &back.may_have_changed(None))
}
