//! Small files under the XDG state folder, each replaced whole, so that a power cut leaves the old one or the new one. Only
//! this user's own are read and replaced, and nobody else can read them.

use crate::error::{Failure, Result};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder, is_trusted};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Most bytes that are read of one.
const MOST: u64 = 16 << 20;

/// One of them, whether it is there or not.
#[derive(Debug, Clone)]
pub struct StateFile {
    pub(crate) folder: PathBuf,
    pub(crate) name: OsString,
}

impl StateFile {
    /// The file of this name.
    ///
    /// # Errors
    /// If neither `XDG_STATE_HOME` nor `HOME` says where it lies.
    pub fn of(name: impl Into<OsString>) -> Result<Self> {
        Ok(StateFile { folder: cardscope_journal::folder::folder()?, name: name.into() })
    }

    /// Where it lies.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// What was stored; `None` where nothing is, or another user wrote it.
    pub fn load(&self) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        let file = self.there(&ResolvedFolder::open(&self.folder).ok()?).ok()??;
        file.take(MOST).read_to_end(&mut text).ok()?;
        Some(text)
    }

    /// Keeps it; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written; what was stored before stays.
    pub fn keep(&self, text: &[u8]) -> Result<()> {
        let write = || -> Result<(), FileError> {
            let folder = ResolvedFolder::make(&self.folder, 0o700)?;
            let draft = DraftFile::new(&folder, self.there(&folder)?, 0o600)?;
            draft.file().write_all(text)?;
            draft.place(&self.name)
        };
        write().map_err(|e| {
            let path = self.path();
            Failure::io_for(format!("{} cannot be written: {e}; free some space there", path.display()), e)
        })
    }

    /// Removes what was stored, if anything was.
    pub fn remove(&self) {
        let Ok(folder) = ResolvedFolder::open(&self.folder) else { return };
        if let Ok(Some(file)) = self.there(&folder) {
            // What stays although it should not is recognised by whoever reads it.
            let _ = FileIdentity::of(&file).map(|file| folder.remove(&self.name, file));
        }
    }

    /// The file of this name, unless another user put it there.
    fn there(&self, folder: &ResolvedFolder) -> Result<Option<File>, FileError> {
        let Some(file) = folder.find(&self.name)? else { return Ok(None) };
        match file.metadata()?.uid() {
            owner if is_trusted(owner) => Ok(Some(file)),
            owner => Err(FileError::Foreign { owner }),
        }
    }
}
