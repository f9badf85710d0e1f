//! From a name to a folder, one component at a time, each below the descriptor of the one before (the way of
//! `path_resolution(7)`, by hand, because the kernel has no rule about who owns a link).

use crate::{FileError, is_trusted};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Links on one way, as many as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Only a place to go on from; with `DIRECTORY` an automount happens, too.
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How far the way was gone.
pub(crate) struct Walk {
    /// The folder, good for what takes a folder's descriptor.
    pub(crate) here: OwnedFd,
    /// Its path without links, as it was when it was gone.
    pub(crate) path: PathBuf,
    /// Components to come, the next one last.
    left: Vec<OsString>,
    links: u32,
    /// With which rights missing folders are made, if they are.
    makes: Option<u32>,
}

impl Walk {
    /// Goes all the way to a folder.
    pub(crate) fn to(path: &Path, makes: Option<u32>) -> Result<Walk, FileError> {
        let here = openat(CWD, ".", STEP, Mode::empty())?;
        let current = if path.is_absolute() { PathBuf::from("/") } else { std::env::current_dir()? };
        let mut walk = Walk { here, path: current, left: Vec::new(), links: 0, makes };
        walk.turn(path.as_os_str())?;
        while let Some(name) = walk.left.pop() {
            walk.step(&name)?;
        }
        Ok(walk)
    }

    /// Takes the components of a path, which may begin at the root.
    fn turn(&mut self, path: &OsStr) -> Result<(), FileError> {
        if path.as_bytes().starts_with(b"/") {
            self.here = openat(CWD, "/", STEP, Mode::empty())?;
            self.path = PathBuf::from("/");
        }
        let parts = path.as_bytes().split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
        self.left.extend(parts.rev().map(|part| OsStr::from_bytes(part).to_owned()));
        Ok(())
    }

    fn step(&mut self, name: &OsStr) -> Result<(), FileError> {
        if name == ".." {
            self.here = openat(&self.here, "..", STEP, Mode::empty())?;
            self.path.pop();
            return Ok(());
        }
        let next = match (openat(&self.here, name, STEP, Mode::empty()), self.makes) {
            (Err(Errno::NOENT), Some(mode)) => self.make(name, mode)?,
            (Err(Errno::NOTDIR | Errno::LOOP), _) => return self.follow(name),
            (other, _) => other?,
        };
        self.here = next;
        self.path.push(name);
        Ok(())
    }

    fn make(&self, name: &OsStr, mode: u32) -> Result<OwnedFd, Errno> {
        match mkdirat(&self.here, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => openat(&self.here, name, STEP, Mode::empty()),
            Err(errno) => Err(errno),
        }
    }

    /// Owner and text are those of the link that is held, so it cannot be exchanged between them.
    fn follow(&mut self, name: &OsStr) -> Result<(), FileError> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = openat(&self.here, name, flags, Mode::empty())?;
        let about = fstat(&link)?;
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => {}
            // Somebody put it there since it was seen to be none.
            FileType::Directory => return self.step(name),
            _ => return Err(Errno::NOTDIR.into()),
        }
        if !is_trusted(about.st_uid) {
            return Err(FileError::ForeignLink { link: self.path.join(name), owner: about.st_uid });
        }
        let text = readlinkat(link.as_fd(), "", Vec::new())?;
        self.turn(&OsString::from_vec(text.into_bytes()))
    }
}

/// The folder above one that is held.
pub(crate) fn above(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    openat(folder, "..", STEP, Mode::empty())
}
