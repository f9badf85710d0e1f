//! State files below the XDG state folder. Each is replaced atomically, so that a power failure leaves the old or the new
//! version. They are private, and files of other users are ignored.

use crate::error::{Failure, Result};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder, is_trusted};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const MAX_BYTES: u64 = 16 << 20;

#[derive(Debug, Clone)]
pub struct StateFile {
    pub(crate) folder: PathBuf,
    pub(crate) name: OsString,
}

impl StateFile {
    /// Returns the file of this name. Fails if neither `XDG_STATE_HOME` nor `HOME` is set.
    pub fn with_name(name: impl Into<OsString>) -> Result<Self> {
        Ok(StateFile { folder: cardscope_journal::folder::journal_folder()?, name: name.into() })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Returns the content, or None if there is no file or another user owns it.
    pub fn load(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let file = self.find_own(&ResolvedFolder::open(&self.folder).ok()?).ok()??;
        file.take(MAX_BYTES).read_to_end(&mut text).ok()?;
        Some(text)
    }

    /// Stores the content. It is on disk when this returns; after an error the previous content is kept.
    pub fn store(&self, text: &[u8]) -> Result<()> {
        let write = || -> Result<(), FileError> {
            let folder = ResolvedFolder::open_or_create(&self.folder, 0o700)?;
            let draft = DraftFile::new(&folder, self.find_own(&folder)?, 0o600)?;
            draft.file().write_all(text)?;
            draft.place(&self.name)
        };
        write().map_err(|e| {
            let path = self.path();
            Failure::io_for(format!("{} cannot be written: {e}; free some space there", path.display()), e)
        })
    }

    pub fn remove(&self) {
        let Ok(folder) = ResolvedFolder::open(&self.folder) else { return };
        if let Ok(Some(file)) = self.find_own(&folder) {
            // A failure is harmless, because readers validate the content of a leftover file.
            let _ = FileIdentity::of_file(&file).map(|file| folder.remove(&self.name, file));
        }
    }

    /// Opens the existing file, unless another user owns it.
    fn find_own(&self, folder: &ResolvedFolder) -> Result<Option<File>, FileError> {
        let Some(file) = folder.open_existing(&self.name)? else { return Ok(None) };
        match file.metadata()?.uid() {
            owner if is_trusted(owner) => Ok(Some(file)),
            owner => Err(FileError::ForeignFile { owner }),
        }
    }
}
