//! A directory that is held open. Names in it are looked up from its descriptor (openat(2)), so that nobody can put
//! another directory in its place, and a link in it is never followed.

use super::test_file::setup_error;
use crate::target::TargetError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Flags of every file that is opened here: not a link, and a pipe of that name does not hang the run.
const SAFELY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A directory that stays the same one, whatever its name leads to later.
#[derive(Debug)]
pub struct Directory {
    fd: OwnedFd,
    name: PathBuf,
}

impl Directory {
    /// Opens a directory; links on the way to it are followed, this once.
    ///
    /// # Errors
    /// [`TargetError::Setup`] if it is not there, not a directory, or not readable for this user.
    pub fn open(name: &Path) -> Result<Self, TargetError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = retry_on_intr(|| open(name, flags, Mode::empty()));
        Ok(Self::new(fd.map_err(|errno| setup_error(name, errno))?, name))
    }

    /// A directory that is open already, with the name it was given by.
    #[must_use]
    pub fn new(fd: OwnedFd, name: &Path) -> Self {
        Self { fd, name: name.to_owned() }
    }

    /// Another handle to the same open directory: a lock on one is a lock on both.
    ///
    /// # Errors
    /// If no further descriptor is to be had.
    pub fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self { fd: self.fd.try_clone()?, name: self.name.clone() })
    }

    /// Its name as the user gave it, for messages only.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// A path that leads to this very directory as long as it is held, for what takes no descriptor.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd()).into()
    }

    /// Makes a file that nobody has yet, for reading and writing.
    ///
    /// # Errors
    /// As openat(2); `EXIST` where the name is taken, by a link too.
    pub fn create(&self, file: &str, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = SAFELY | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        retry_on_intr(|| openat(&self.fd, file, flags, mode))
    }

    /// Opens a plain file that is there, for reading or for more.
    ///
    /// # Errors
    /// As openat(2); `LOOP` for a link, `INVAL` for what is not a plain file.
    pub fn open_file(&self, file: &str, access: OFlags) -> Result<OwnedFd, Errno> {
        let fd = retry_on_intr(|| openat(&self.fd, file, SAFELY | access, Mode::empty()))?;
        if is_plain(&fstat(&fd)?) { Ok(fd) } else { Err(Errno::INVAL) }
    }

    /// Removes a name while it leads to the very file that is open; false where it leads to another one by now.
    ///
    /// Between the look and the removal its owner may put another file there: then a name goes that this owner could
    /// have removed, and nothing outside of this directory.
    ///
    /// # Errors
    /// As unlinkat(2); `NOENT` where the name is gone.
    pub fn remove(&self, file: &str, opened: impl AsFd) -> Result<bool, Errno> {
        let there = statat(&self.fd, file, AtFlags::SYMLINK_NOFOLLOW)?;
        let same = same_file(&there, &fstat(opened)?);
        if same {
            unlinkat(&self.fd, file, AtFlags::empty())?;
        }
        Ok(same)
    }

    /// The names in it, in no order.
    ///
    /// # Errors
    /// As getdents(2).
    pub fn names(&self) -> Result<Vec<OsString>, Errno> {
        let entries = Dir::read_from(&self.fd)?;
        let names = entries.map(|entry| Ok(OsString::from_vec(entry?.file_name().to_bytes().to_vec())));
        names.filter(|name| !name.as_ref().is_ok_and(|name| name == "." || name == "..")).collect()
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// True for a regular file.
pub(super) fn is_plain(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
}

fn same_file(a: &Stat, b: &Stat) -> bool {
    (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn held() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().unwrap();
        let held = Directory::open(place.path()).unwrap();
        (place, held)
    }

    #[test]
    fn a_directory_stays_the_one_that_was_opened_when_its_name_leads_elsewhere() {
        let (place, _) = held();
        let (mine, other, link) =
            (place.path().join("mine"), place.path().join("other"), place.path().join("link"));
        std::fs::create_dir(&mine).unwrap();
        std::fs::create_dir(&other).unwrap();
        symlink(&mine, &link).unwrap();
        let directory = Directory::open(&link).unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        directory.create("test", Mode::RUSR).unwrap();
        assert!(mine.join("test").exists() && !other.join("test").exists());
        assert_eq!(directory.names().unwrap(), ["test"]);
        assert_eq!(directory.path().canonicalize().unwrap(), mine.canonicalize().unwrap());
    }

    #[test]
    fn a_link_is_neither_followed_nor_replaced() {
        let (place, directory) = held();
        let victim = place.path().join("victim");
        std::fs::write(&victim, "the user's").unwrap();
        symlink(&victim, place.path().join("link")).unwrap();
        symlink(place.path().join("nothing"), place.path().join("dangling")).unwrap();
        assert_eq!(directory.open_file("link", OFlags::RDWR).unwrap_err(), Errno::LOOP);
        for name in ["link", "dangling", "victim"] {
            assert_eq!(directory.create(name, Mode::RUSR).unwrap_err(), Errno::EXIST, "{name}");
        }
        rustix::fs::mknodat(rustix::fs::CWD, place.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0)
            .unwrap();
        assert_eq!(directory.open_file("pipe", OFlags::RDONLY).unwrap_err(), Errno::INVAL);
        assert!(!place.path().join("nothing").exists());
    }

    #[test]
    fn only_the_very_file_is_removed() {
        let (place, directory) = held();
        let mine = directory.create("test", Mode::RUSR).unwrap();
        std::fs::rename(place.path().join("test"), place.path().join("moved")).unwrap();
        std::fs::write(place.path().join("test"), "another's").unwrap();
        assert_eq!(directory.remove("test", &mine), Ok(false));
        assert!(place.path().join("test").exists() && place.path().join("moved").exists());
        assert_eq!(directory.remove("moved", &mine), Ok(true));
        assert_eq!(directory.remove("moved", &mine), Err(Errno::NOENT));
    }
}
