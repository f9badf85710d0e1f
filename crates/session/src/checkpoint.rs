//! How far a long run on a card is: a small file under the XDG state folder, replaced whole each time, so that a power
//! cut leaves the old one or the new one.
//!
//! It helps where a card says who it is. Where none is there the stamps on the card have to do, and they can.

use crate::error::{Failure, Result};
use cardscope_files::{Draft, FileError, Folder, Identity, is_trusted};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A place for one card and one verb.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    folder: PathBuf,
    name: OsString,
}

impl Checkpoint {
    /// Where `verb` keeps what it knows of the card of this key.
    pub(crate) fn of(verb: &str, key: &str) -> Result<Self> {
        let name: String = key.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        Ok(Checkpoint {
            folder: cardscope_journal::folder::folder()?,
            name: format!("{verb}-{name}.json").into(),
        })
    }

    /// What was stored; `None` where nothing is, where another user wrote it, or where it cannot be understood.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Option<T> {
        let mut text = Vec::new();
        self.there(&Folder::open(&self.folder).ok()?).ok()??.read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Keeps it; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written; what was stored before stays.
    pub(crate) fn save(&self, what: &impl Serialize) -> Result<()> {
        self.write(what).map_err(|e| {
            let path = self.folder.join(&self.name);
            Failure::io_for(format!("{} cannot be written: {e}; free some space there", path.display()), e)
        })
    }

    /// Removes what was stored, if anything was.
    pub(crate) fn remove(&self) {
        let Ok(folder) = Folder::open(&self.folder) else { return };
        if let Ok(Some(file)) = self.there(&folder) {
            // What stays although it should not is recognised by its salt.
            let _ = Identity::of(&file).map(|file| folder.remove(&self.name, file));
        }
    }

    fn write(&self, what: &impl Serialize) -> Result<(), FileError> {
        let folder = Folder::make(&self.folder, 0o700)?;
        let draft = Draft::new(&folder, self.there(&folder)?, 0o600)?;
        draft.file().write_all(&serde_json::to_vec(what).map_err(std::io::Error::from)?)?;
        draft.place(&self.name)
    }

    /// The file of this name, unless another user put it there.
    fn there(&self, folder: &Folder) -> Result<Option<File>, FileError> {
        let Some(file) = folder.find(&self.name)? else { return Ok(None) };
        match file.metadata()?.uid() {
            owner if is_trusted(owner) => Ok(Some(file)),
            owner => Err(FileError::Foreign { owner }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::process::Command;

    #[test]
    fn a_checkpoint_is_the_owner_s_alone_and_replaces_and_believes_only_one_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Checkpoint { folder: folder.path().join("state"), name: name.into() };
        let (full, path) = (at("full.json"), folder.path().join("state/full.json"));
        full.save(&1).unwrap();
        full.save(&2).unwrap();
        assert_eq!(full.load(), Some(2));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        chown(&path, Some(65_534), None).expect("this test needs root");
        assert_eq!(full.load::<u32>(), None);
        let refused = full.save(&3).unwrap_err().to_string();
        assert!(refused.contains("it is owned by user 65534"), "{refused}");
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
