//! `--backup FILE`: an image of the card from before the test, restored and compared afterwards.
//!
//! FILE has the card byte for byte, with holes for zeros, so that `dd` can write it too. FILE.sums has a checksum of
//! each MiB and the unreadable ranges; `docs/journal.md` describes its format.

mod checksums;
mod create;
mod restore;

pub use checksums::{BackupFacts, checksum_path};

use crate::JournalFailure;
use crate::change_list;
use crate::restoring::RestoreResult;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::pending::PendingGuard;
use cardscope_files::FileUse;
use cardscope_model::finding::Finding;
use cardscope_model::report::ChangedBlocks;
use cardscope_model::shell::shell_quote_path;
use checksums::{CHUNK, ImageSums};
use std::fs::File;
use std::path::{Path, PathBuf};

/// I/Os in flight: with [`CHUNK`], 4 MiB of memory.
const DEPTH: u32 = 4;

pub const SAVING: &str = "saving an image of the card";

const COMPARING: &str = "comparing the image with the card";

pub const RESTORING: &str = "restoring the image";

pub struct CardImage {
    image: File,
    path: PathBuf,
    sums: ImageSums,
    /// Start and end of what the test may write; `None` for the whole card.
    overwritten: Option<(u64, u64)>,
    /// Tells a user who stops the program that the image is restored first. None in an image that was opened.
    _cleanup_guard: Option<PendingGuard>,
}

impl CardImage {
    /// Opens an existing image and checks its size.
    pub fn open(path: &Path) -> Result<CardImage, JournalFailure> {
        let refused =
            |why: ErrorCause| JournalFailure::refused_for(format!("{}: {why}", path.display()), why);
        let sums = checksums::read_sums(&checksum_path(path)).map_err(|why| refused(why.into()))?;
        let image = cardscope_files::open_file(path, FileUse::Read)
            .map_err(|e| refused(ErrorCause::with_message(format!("the image cannot be opened: {e}"), e)))?;
        let bytes = image.metadata().map_err(|e| refused(e.into()))?.len();
        if bytes != sums.about.bytes {
            let whole = sums.about.bytes;
            return Err(refused(format!(
                "the image has {bytes} bytes, and its checksums are for {whole}: it is truncated or another image"
            ).into()));
        }
        Ok(CardImage { image, path: path.to_owned(), sums, overwritten: None, _cleanup_guard: None })
    }

    pub fn facts(&self) -> &BackupFacts {
        &self.sums.about
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the only range that the test writes. The card is recognized by the rest.
    pub fn set_overwritten(&mut self, start: u64, end: u64) {
        self.overwritten = Some((start, end));
    }

    /// Sentence for error messages: the location of the image and the command that restores it.
    pub fn restore_hint(&self) -> String {
        restore_hint_for(&self.path)
    }

    /// Length up to the last MiB with data: the least size of a card to restore to.
    pub fn used_bytes(&self) -> u64 {
        let last = self.sums.chunks.iter().rposition(Option::is_some);
        last.map_or(0, |at| ((at as u64 + 1) * u64::from(CHUNK)).min(self.sums.about.bytes))
    }
}

fn restore_hint_for(image: &Path) -> String {
    let (file, typed) = (image.display(), shell_quote_path(image));
    format!("the card's data is saved in {file}: run `cardscope restore {typed} TARGET`")
}

/// Finding if not all of an image was restored.
pub fn restore_finding(back: &RestoreResult) -> Option<Finding> {
    let finding = back.finding(&back.may_have_changed(None))?;
    Some(finding.with_advice("Restore the image to another card with `cardscope restore`."))
}

/// Writes a list of the ranges that may have changed although the image was restored; `None` if there are none.
pub fn save_change_list(image: &Path, target: &str, back: &RestoreResult) -> Option<ChangedBlocks> {
    change_list::save_list_beside(image, target, &back.may_have_changed(None))
}
