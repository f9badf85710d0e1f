//! Archives that this process has open, each by one descriptor of its own beside SQLite's.
//!
//! Closing any descriptor of a file takes away all locks that the process has on it (fcntl(2), "Record locks"), SQLite's
//! with them. So an archive that is open already is looked at through the descriptor that is there, and that one is
//! closed when the last one who uses it is done.

use cardscope_files::{FileError, Folder, Identity, Use};
use std::ffi::OsStr;
use std::fs::File;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

static OPEN: Mutex<Vec<(Identity, Weak<File>)>> = Mutex::new(Vec::new());

/// An archive's file. Dropped after SQLite has closed its own.
#[derive(Debug)]
pub(crate) struct Held(Option<Arc<File>>);

impl Held {
    /// Opens a file that is there.
    pub(crate) fn open(folder: &Folder, name: &OsStr) -> Result<Held, FileError> {
        let mut open = all();
        let there = folder.look(name)?.as_ref().map(Identity::from);
        let known = open.iter().find(|(identity, _)| Some(*identity) == there);
        if let Some(file) = known.and_then(|(_, file)| file.upgrade()) {
            return Ok(Held(Some(file)));
        }
        Held::keep(folder.open_file(name, Use::Write)?, &mut open)
    }

    /// Makes a new one, for this user alone.
    pub(crate) fn create(folder: &Folder, name: &OsStr) -> Result<Held, FileError> {
        let mut open = all();
        Held::keep(folder.create(name, 0o600)?, &mut open)
    }

    fn keep(file: File, open: &mut Vec<(Identity, Weak<File>)>) -> Result<Held, FileError> {
        let (identity, file) = (Identity::of(&file)?, Arc::new(file));
        open.retain(|(_, file)| file.strong_count() > 0);
        open.push((identity, Arc::downgrade(&file)));
        Ok(Held(Some(file)))
    }
}

impl Deref for Held {
    type Target = File;

    fn deref(&self) -> &File {
        // It is taken out by dropping only.
        self.0.as_ref().expect("an archive's file is there until it is dropped")
    }
}

impl Drop for Held {
    /// Nobody opens the file between the last use and its closing.
    fn drop(&mut self) {
        let _open = all();
        self.0 = None;
    }
}

fn all() -> MutexGuard<'static, Vec<(Identity, Weak<File>)>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}
