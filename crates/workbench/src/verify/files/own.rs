//! The files that this run made. They are removed at its end, and no others: a file is removed only while it is the
//! very file that was made.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What this run made.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    files: Vec<Own>,
}

#[derive(Debug)]
struct Own {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
}

impl OwnFiles {
    /// Notes a file that was just made, or how long it is by now.
    pub(super) fn made(&mut self, path: &Path) {
        let Ok(found) = path.symlink_metadata() else { return };
        let own = Own { path: path.to_owned(), device: found.dev(), inode: found.ino(), bytes: found.len() };
        self.files.retain(|file| file.path != path);
        self.files.push(own);
    }

    /// Removes one of them.
    pub(super) fn remove(&mut self, path: &Path) -> std::io::Result<()> {
        let Some(at) = self.files.iter().position(|file| file.path == path) else { return Ok(()) };
        let own = self.files.remove(at);
        match path.symlink_metadata() {
            Ok(found) if own.is(&found) => std::fs::remove_file(path),
            Ok(_) => Err(std::io::Error::other("it is another file now")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes all; gives those that stayed, with the reason.
    pub(super) fn remove_all(&mut self) -> Vec<String> {
        let paths: Vec<PathBuf> = self.files.iter().map(|file| file.path.clone()).collect();
        let stayed = |path: &PathBuf, e: std::io::Error| format!("{} ({e})", path.display());
        paths.iter().filter_map(|path| self.remove(path).err().map(|e| stayed(path, e))).collect()
    }

    /// True where none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl Own {
    /// FAT gives a file another inode number each time it is looked up afresh, so its length speaks for it too.
    fn is(&self, found: &Metadata) -> bool {
        let same = found.ino() == self.inode || found.len() == self.bytes;
        found.is_file() && found.dev() == self.device && same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_took_the_place_of_ours_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, moved) = (dir.path().join("1.h2w"), dir.path().join("kept"));
        std::fs::write(&ours, "ours").unwrap();
        let mut own = OwnFiles::default();
        own.made(&ours);
        std::fs::rename(&ours, moved).unwrap();
        std::fs::write(&ours, "the user's").unwrap();
        assert_eq!(own.remove_all().len(), 1);
        assert_eq!(std::fs::read_to_string(&ours).unwrap(), "the user's");
    }

    #[test]
    fn what_is_gone_already_is_no_complaint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.h2w");
        std::fs::write(&path, "ours").unwrap();
        let mut own = OwnFiles::default();
        own.made(&path);
        std::fs::remove_file(&path).unwrap();
        assert!(own.remove_all().is_empty() && own.is_empty());
    }
}
