//! A directory held by its descriptor. Whoever may write in it can rename it, or put a link in the place of a file, at
//! any moment; so its name is resolved once, every file in it is reached from the descriptor by a name of one part that
//! is never followed, and a file is known again by device and inode, not by its name.

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// An open directory.
#[derive(Debug)]
pub(super) struct Held {
    dir: OwnedFd,
    is: Identity,
}

/// Which file it is, under whatever name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

/// A file as the file system describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) is: Identity,
    pub(super) bytes: u64,
    /// False for links, directories, pipes and devices.
    pub(super) plain: bool,
}

impl Identity {
    /// On the same file system, under another inode number perhaps.
    pub(super) fn same_device(self, other: Identity) -> bool {
        self.device == other.device
    }
}

impl From<Stat> for Found {
    fn from(found: Stat) -> Self {
        Found {
            is: Identity { device: found.st_dev, inode: found.st_ino },
            bytes: u64::try_from(found.st_size).unwrap_or_default(),
            plain: FileType::from_raw_mode(found.st_mode) == FileType::RegularFile,
        }
    }
}

/// What an open file is.
pub(super) fn found(file: impl AsFd) -> io::Result<Found> {
    Ok(fstat(file)?.into())
}

impl Held {
    /// Opens a directory; the only time that its name is looked up.
    pub(super) fn open(path: &Path) -> io::Result<Held> {
        let dir = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let is = found(&dir)?.is;
        Ok(Held { dir, is })
    }

    /// A path that leads to the open directory itself, wherever it was moved, for questions about its file system.
    pub(super) fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.dir.as_raw_fd()).into()
    }

    /// Whether a path still leads to it.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        rustix::fs::stat(path).is_ok_and(|found| Found::from(found).is == self.is)
    }

    /// Makes a file that nobody has yet.
    pub(super) fn create(&self, name: &str) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        openat(&self.dir, name, flags, mode).map(File::from)
    }

    /// Opens a plain file for reading only; not blocking, or a pipe of that name would hang the run.
    pub(super) fn open_to_read(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.dir, name, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::LOOP => not_plain(),
            other => other.into(),
        })?;
        if found(&file)?.plain { Ok(file.into()) } else { Err(not_plain()) }
    }

    /// What stands under a name, the link itself where it is one.
    pub(super) fn look(&self, name: &str) -> io::Result<Found> {
        Ok(statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW)?.into())
    }

    /// Takes a name away.
    pub(super) fn unlink(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    /// All names in it.
    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let entries = Dir::read_from(&self.dir)?;
        let name = |entry: rustix::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        entries.map(|entry| Ok(name(entry?))).collect()
    }
}

fn not_plain() -> io::Error {
    io::Error::other("it is not a plain file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_a_pipe_and_a_directory_are_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        symlink(outside.path(), dir.path().join("1.h2w")).unwrap();
        std::fs::create_dir(dir.path().join("2.h2w")).unwrap();
        let pipe = dir.path().join("3.h2w");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let held = Held::open(dir.path()).unwrap();
        for name in ["1.h2w", "2.h2w", "3.h2w"] {
            assert!(held.open_to_read(name).unwrap_err().to_string().contains("not a plain file"), "{name}");
            assert!(!held.look(name).unwrap().plain, "{name}");
            assert_eq!(held.create(name).unwrap_err(), Errno::EXIST, "{name}");
        }
    }

    #[test]
    fn a_directory_that_was_renamed_is_still_the_one_that_is_held() {
        let above = tempfile::tempdir().unwrap();
        let (here, moved) = (above.path().join("card"), above.path().join("moved"));
        std::fs::create_dir(&here).unwrap();
        std::fs::create_dir(above.path().join("victim")).unwrap();
        let held = Held::open(&here).unwrap();
        assert!(held.is_at(&here));
        std::fs::rename(&here, &moved).unwrap();
        symlink("victim", &here).unwrap();
        held.create("1.h2w").unwrap();
        assert!(!held.is_at(&here) && held.is_at(&moved));
        assert_eq!(held.names().unwrap().iter().filter(|n| n.ends_with("h2w")).count(), 1);
        assert!(moved.join("1.h2w").exists() && !above.path().join("victim/1.h2w").exists());
    }
}
