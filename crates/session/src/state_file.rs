//! State files below the XDG state folder. Each is replaced atomically, so that a power failure leaves the old or the new
//! version. They are private, and files of other users are ignored.
//!
//! A checkpoint is the progress of a long run, stored by card and verb. Only cards with a key have one. Without a checkpoint
//! the progress is recovered from the stamps on the card.

use crate::error::{Failure, Result};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder, require_trusted_owner};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
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
        require_trusted_owner(&file).map(|()| Some(file))
    }
}

#[derive(Debug, Clone)]
pub struct CardCheckpoint(StateFile);

impl CardCheckpoint {
    pub fn for_card(verb: &str, key: &str) -> Result<Self> {
        let name: String = key.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        Ok(CardCheckpoint(StateFile::with_name(format!("{verb}-{name}.json"))?))
    }

    /// Returns the stored value, or None if there is none, another user wrote it, or it has another format.
    pub fn load<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.0.load()?).ok()
    }

    /// Stores a value. It is on disk when this returns; after an error the previous value is kept.
    pub fn save(&self, what: &impl Serialize) -> Result<()> {
        let text = serde_json::to_vec(what);
        self.0.store(&text.map_err(|e| Failure::io_for(format!("the checkpoint cannot be written: {e}"), e))?)
    }

    pub fn remove(&self) {
        self.0.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::process::Command;

    #[test]
    fn checkpoint_is_private_and_ignores_foreign_files() {
        let folder = tempfile::tempdir().unwrap();
        let at =
            |name: &str| CardCheckpoint(StateFile { folder: folder.path().join("state"), name: name.into() });
        let (full, path) = (at("full.json"), folder.path().join("state/full.json"));
        full.save(&1).unwrap();
        full.save(&2).unwrap();
        assert_eq!(full.load(), Some(2));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        chown(&path, Some(65_534), None).expect("this test needs root");
        assert_eq!(full.load::<u32>(), None);
        let refused = full.save(&3).unwrap_err().to_string();
        assert!(refused.contains("65534"), "{refused}");
        full.remove();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "2");
        symlink(&path, folder.path().join("state/link.json")).unwrap();
        assert!(
            Command::new("mkfifo").arg(folder.path().join("state/pipe.json")).status().unwrap().success()
        );
        for other in ["link.json", "pipe.json"] {
            assert_eq!(at(other).load::<u32>(), None, "{other}");
            assert!(at(other).save(&4).is_err(), "{other}");
        }
        assert_eq!(
            std::fs::read_dir(folder.path().join("state")).unwrap().count(),
            3,
            "nothing half written"
        );
    }
}
