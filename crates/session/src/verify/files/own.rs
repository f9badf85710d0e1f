//! The files that this run made. They are removed at its end, and no others: a file is removed only while it is the
//! very file that was made.

use super::folder::Folder;
use cardscope_files::{Identity, Use, is_plain};
use cardscope_probe::files::{SECTOR, file_name, is_of_the_pattern};
use rustix::fs::{Stat, fstat};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// File systems whose directories have no inode numbers: a file may get another one each time it is looked up afresh.
const WITHOUT_INODES: [&str; 2] = ["vfat", "exfat"];

/// What this run made.
#[derive(Debug, Default)]
pub(super) struct OwnFiles {
    files: Vec<Own>,
}

#[derive(Debug, Clone, Copy)]
struct Own {
    number: u64,
    is: Identity,
    bytes: u64,
}

impl OwnFiles {
    /// Notes a file that was just made, or how long it is by now.
    ///
    /// # Errors
    /// If it does not say what it is.
    pub(super) fn made(&mut self, number: u64, file: &File) -> io::Result<()> {
        let found = fstat(file)?;
        self.files.retain(|own| own.number != number);
        self.files.push(Own { number, is: Identity::from(&found), bytes: bytes(&found) });
        Ok(())
    }

    /// Makes sure that an open file is the one that this run made under that number, where it made one.
    ///
    /// # Errors
    /// If it is another one.
    pub(super) fn check(&self, folder: &Folder, number: u64, file: &File) -> io::Result<()> {
        let Some(own) = self.files.iter().find(|own| own.number == number) else { return Ok(()) };
        let found = fstat(file)?;
        if own.is(&found) || afresh(folder) && own.could_be(&found) { Ok(()) } else { Err(another()) }
    }

    /// Removes one of them.
    pub(super) fn remove(&mut self, folder: &Folder, number: u64) -> io::Result<()> {
        let Some(at) = self.files.iter().position(|own| own.number == number) else { return Ok(()) };
        let own = self.files.remove(at);
        let name = file_name(number);
        let name = OsStr::new(&name);
        let Some(found) = folder.held.look(name)? else { return Ok(()) };
        let ours = own.is(&found) || own.is_afresh(folder, &found);
        if ours && folder.held.remove(name, Identity::from(&found))? { Ok(()) } else { Err(another()) }
    }

    /// Removes all; gives those that stayed, with the reason.
    pub(super) fn remove_all(&mut self, folder: &Folder) -> Vec<String> {
        let numbers: Vec<u64> = self.files.iter().map(|own| own.number).collect();
        let stayed = |number: u64, e: io::Error| format!("{} ({e})", folder.file(number).display());
        numbers.into_iter().filter_map(|n| self.remove(folder, n).err().map(|e| stayed(n, e))).collect()
    }

    /// True where none is left.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

fn another() -> io::Error {
    io::Error::other("it is another file now")
}

/// Whether the file system gives a file another inode number when it is looked up afresh.
fn afresh(folder: &Folder) -> bool {
    WITHOUT_INODES.contains(&folder.system.name.as_str())
}

fn bytes(found: &Stat) -> u64 {
    u64::try_from(found.st_size).unwrap_or_default()
}

impl Own {
    fn is(&self, found: &Stat) -> bool {
        Identity::from(found) == self.is && self.could_be(found)
    }

    fn could_be(&self, found: &Stat) -> bool {
        is_plain(found) && found.st_dev == self.is.device && bytes(found) == self.bytes
    }

    /// Where inode numbers do not last, the content speaks for the file instead.
    fn is_afresh(&self, folder: &Folder, found: &Stat) -> bool {
        let open = || folder.held.open_file(OsStr::new(&file_name(self.number)), Use::Read);
        afresh(folder) && self.could_be(found) && open().is_ok_and(|file| self.holds_the_pattern(&file))
    }

    /// Whether its first or its last sector is one of the pattern, wherever it belongs: a card that wraps gives another
    /// one, and a bad card may have lost one of both.
    fn holds_the_pattern(&self, file: &File) -> bool {
        let sectors = self.bytes / SECTOR as u64;
        let Some(last) = sectors.checked_sub(1) else { return self.bytes == 0 };
        [0, last].into_iter().any(|number| {
            let mut sector = [0; SECTOR];
            file.read_exact_at(&mut sector, number * SECTOR as u64).is_ok() && is_of_the_pattern(&sector)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    /// A folder with a file of the run's own in it.
    fn ours() -> (tempfile::TempDir, Folder, OwnFiles, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path().to_str().unwrap(), None).unwrap();
        let path = dir.path().join("1.h2w");
        std::fs::write(&path, "ours").unwrap();
        let mut own = OwnFiles::default();
        own.made(1, &File::open(&path).unwrap()).unwrap();
        (dir, folder, own, path)
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_that_took_the_place_of_ours_stays() {
        let (dir, folder, mut own, ours) = ours();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "the user's").unwrap();
        assert_eq!(own.remove_all(&folder).len(), 1);
        assert_eq!(text(&ours), "the user's");
    }

    #[test]
    fn neither_the_same_length_nor_the_same_inode_makes_a_file_ours() {
        let (dir, folder, mut own, ours) = ours();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "user").unwrap();
        assert_eq!(own.remove_all(&folder).len(), 1, "as long as ours");
        assert_eq!(text(&ours), "user");
        own.made(1, &File::open(&ours).unwrap()).unwrap();
        std::fs::write(&ours, "the user wrote into it").unwrap();
        assert_eq!(own.remove_all(&folder).len(), 1, "the same inode");
        assert!(ours.exists());
    }

    #[test]
    fn a_file_that_took_the_place_of_ours_is_not_read_as_ours() {
        let (dir, folder, own, ours) = ours();
        let open = || folder.held.open_file(OsStr::new("1.h2w"), Use::Read).unwrap();
        own.check(&folder, 1, &open()).unwrap();
        std::fs::rename(&ours, dir.path().join("kept")).unwrap();
        std::fs::write(&ours, "user").unwrap();
        assert!(own.check(&folder, 1, &open()).is_err());
        own.check(&folder, 2, &open()).unwrap();
    }

    #[test]
    fn the_pattern_is_known_by_either_end() {
        let (_dir, _folder, own, path) = ours();
        let mut content: Vec<u8> = (0..4)
            .flat_map(|n| cardscope_engine::content::h2w::words(n * 512))
            .flat_map(u64::to_le_bytes)
            .collect();
        let holds = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            let file = File::open(&path).unwrap();
            Own { bytes: content.len() as u64, ..own.files[0] }.holds_the_pattern(&file)
        };
        assert!(holds(&content) && holds(&[]));
        content[..512].fill(0xff);
        assert!(holds(&content), "its first sector is lost");
        content[1536..].fill(7);
        assert!(!holds(&content));
    }

    #[test]
    fn what_is_gone_already_is_no_complaint() {
        let (_dir, folder, mut own, path) = ours();
        std::fs::remove_file(&path).unwrap();
        assert!(own.remove_all(&folder).is_empty() && own.is_empty());
    }
}
