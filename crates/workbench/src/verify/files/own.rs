//! The files that this run made. They are removed at its end, and no others: a file is removed only while it is the
//! very file that was made.

use cardscope_device::filesystem;
use cardscope_probe::h2w::{self, Class, SECTOR};
use std::fs::{File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// File systems whose directories have no inode numbers: a file may get another one each time it is looked up afresh.
const WITHOUT_INODES: [&str; 2] = ["vfat", "exfat"];

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
            Ok(found) if own.is(&found) || own.is_afresh(&found) => std::fs::remove_file(path),
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
    fn is(&self, found: &Metadata) -> bool {
        found.ino() == self.inode && self.could_be(found)
    }

    fn could_be(&self, found: &Metadata) -> bool {
        found.is_file() && found.dev() == self.device && found.len() == self.bytes
    }

    /// Where inode numbers do not last, the content speaks for the file instead.
    fn is_afresh(&self, found: &Metadata) -> bool {
        let here = filesystem::of_path(&self.path);
        let afresh = here.is_ok_and(|system| WITHOUT_INODES.contains(&system.name.as_str()));
        afresh && self.could_be(found) && self.holds_the_pattern()
    }

    /// Whether its first or its last sector is one of the pattern, wherever it belongs: a card that wraps gives another
    /// one, and a bad card may have lost one of both.
    fn holds_the_pattern(&self) -> bool {
        let sectors = self.bytes / SECTOR as u64;
        let Some(last) = sectors.checked_sub(1) else { return self.bytes == 0 };
        let Ok(file) = File::open(&self.path) else { return false };
        [0, last].into_iter().any(|number| {
            let mut sector = [0; SECTOR];
            file.read_exact_at(&mut sector, number * SECTOR as u64).is_ok()
                && h2w::look(&sector, h2w::first_word(&sector)) == Class::Ok
        })
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
    fn neither_the_same_length_nor_the_same_inode_makes_a_file_ours() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, moved) = (dir.path().join("1.h2w"), dir.path().join("kept"));
        std::fs::write(&ours, "ours").unwrap();
        let mut own = OwnFiles::default();
        own.made(&ours);
        std::fs::rename(&ours, &moved).unwrap();
        std::fs::write(&ours, "user").unwrap();
        assert_eq!(own.remove_all().len(), 1, "as long as ours");
        assert_eq!(std::fs::read_to_string(&ours).unwrap(), "user");
        own.made(&ours);
        std::fs::write(&ours, "the user wrote into it").unwrap();
        assert_eq!(own.remove_all().len(), 1, "the same inode");
        assert!(ours.exists());
    }

    #[test]
    fn the_pattern_is_known_by_either_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.h2w");
        let mut content: Vec<u8> = (0..4)
            .flat_map(|n| cardscope_engine::content::h2w::words(n * 512))
            .flat_map(u64::to_le_bytes)
            .collect();
        let holds = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            Own { path: path.clone(), device: 0, inode: 0, bytes: content.len() as u64 }.holds_the_pattern()
        };
        assert!(holds(&content) && holds(&[]));
        content[..512].fill(0xff);
        assert!(holds(&content), "its first sector is lost");
        content[1536..].fill(7);
        assert!(!holds(&content));
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
