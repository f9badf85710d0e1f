//! How far a long run on a card is: a small file under the XDG state folder, replaced whole each time, so that a power
//! cut leaves the old one or the new one.
//!
//! It helps where a card says who it is. Where none is there the stamps on the card have to do, and they can.

use crate::error::Failure;
use crate::journal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A place for one card and one verb.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    path: PathBuf,
}

impl Checkpoint {
    /// Where `verb` keeps what it knows of the card of this key.
    ///
    /// # Errors
    /// If neither `XDG_STATE_HOME` nor `HOME` says where.
    pub(crate) fn of(verb: &str, key: &str) -> Result<Self, Failure> {
        let name: String = key.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        Ok(Checkpoint { path: journal::folder()?.join(format!("{verb}-{name}.json")) })
    }

    /// What was kept; `None` where nothing is, or where it cannot be understood.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&std::fs::read(&self.path).ok()?).ok()
    }

    /// Keeps it; it is on disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written; what was kept before stays.
    pub(crate) fn save(&self, what: &impl Serialize) -> Result<(), Failure> {
        self.write(what).map_err(|e| {
            Failure::Io(format!("{} cannot be written: {e}; make room there", self.path.display()))
        })
    }

    /// Removes what was kept, if anything was.
    pub(crate) fn remove(&self) {
        // What stays although it should not is recognised by its salt.
        let _ = std::fs::remove_file(&self.path);
    }

    fn write(&self, what: &impl Serialize) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(std::path::Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = self.path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(what)?)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        File::open(folder)?.sync_all()
    }
}
