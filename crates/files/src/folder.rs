//! A folder that is held by its descriptor, and what is done with the names in it. The path to it is gone one component at a
//! time, each below the descriptor of the one before (`path_resolution(7)`, by hand, because the kernel has no rule about
//! who owns a link).

use crate::{FileError, FileIdentity, is_trusted};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::fs::{fstat, fstatvfs, mkdirat, openat, readlinkat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::getegid;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// For everybody but the owner.
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
const STICKY: u32 = 0o1000;

/// A folder, resolved once. Names given to its methods are single components.
#[derive(Debug)]
pub struct ResolvedFolder {
    held: OwnedFd,
    path: PathBuf,
}

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

impl ResolvedFolder {
    /// Opens a folder. Links on the way are followed where root or the user owns them.
    ///
    /// # Errors
    /// If it is not there, or a link of another user leads to it.
    pub fn open(path: &Path) -> Result<ResolvedFolder, FileError> {
        FolderWalk::to(path, None).map(ResolvedFolder::from)
    }

    /// As [`open`](Folder::open); missing folders are made with these rights, without what the umask takes away.
    ///
    /// # Errors
    /// As [`open`](Folder::open), and if one cannot be made.
    pub fn make(path: &Path, mode: u32) -> Result<ResolvedFolder, FileError> {
        FolderWalk::to(path, Some(mode)).map(ResolvedFolder::from)
    }

    /// The folder of a file that is there or to come, and the file's name in it.
    ///
    /// # Errors
    /// As [`open`](Folder::open), and if the path ends in no name.
    pub fn of_file(file: &Path) -> Result<(ResolvedFolder, OsString), FileError> {
        let (folder, name) = split(file)?;
        Ok((ResolvedFolder::open(folder)?, name))
    }

    /// As [`of_file`](Folder::of_file); missing folders are made, for this user alone (0700).
    ///
    /// # Errors
    /// As [`of_file`](Folder::of_file), and if a folder cannot be made.
    pub fn make_for_file(file: &Path) -> Result<(ResolvedFolder, OsString), FileError> {
        let (folder, name) = split(file)?;
        Ok((ResolvedFolder::make(folder, 0o700)?, name))
    }

    /// One that is open already, with its name for messages.
    pub fn over(held: OwnedFd, name: &Path) -> ResolvedFolder {
        ResolvedFolder { held, path: name.to_owned() }
    }

    /// Bytes that this user may still write to its file system.
    pub fn free(&self) -> std::io::Result<u64> {
        let found = fstatvfs(&self.held)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Its path without links, as it was when it was opened, or the name it was given with: for messages, not for opening
    /// anything.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that leads to this folder whatever became of its name, for what takes nothing but paths. Good while the
    /// folder is held.
    pub fn by_descriptor(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    /// Whether a path still leads to it, links followed.
    pub fn is_at(&self, path: &Path) -> bool {
        FileIdentity::of(&self.held).is_ok_and(|held| FileIdentity::at(path) == Some(held))
    }

    /// What has this name, a link itself and not what it leads to; `None` where nothing has.
    ///
    /// # Errors
    /// As the system says, and if it is no single name.
    pub fn look(&self, name: &OsStr) -> Result<Option<Stat>, FileError> {
        match statat(&self.held, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes a new file, open for reading and writing. The umask takes from `mode` as usual.
    ///
    /// # Errors
    /// If anything has this name, or the system says no.
    pub fn create(&self, name: &OsStr, mode: u32) -> Result<File, FileError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.held, single(name)?, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Opens a plain file that is there. A pipe is never waited for, and what is exchanged in the moment between look and
    /// opening is closed again, unread.
    ///
    /// # Errors
    /// If it is not there, or is a link, a folder, a device or a pipe.
    pub fn open_file(&self, name: &OsStr, usage: FileUse) -> Result<File, FileError> {
        let name = single(name)?;
        let there = statat(&self.held, name, AtFlags::SYMLINK_NOFOLLOW)?;
        plain(&there)?;
        let access = if usage == FileUse::Write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.held, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(FileError::Link),
            other => File::from(other?),
        };
        // It may have been exchanged after the look.
        plain(&fstat(&file)?)?;
        Ok(file)
    }

    /// As [`open_file`](Folder::open_file), to read; `None` where nothing has the name.
    ///
    /// # Errors
    /// If it is a link, a folder, a device or a pipe.
    pub fn find(&self, name: &OsStr) -> Result<Option<File>, FileError> {
        match self.open_file(name, FileUse::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a folder in it, never through a link.
    ///
    /// # Errors
    /// If it is not there, or not a folder.
    pub fn folder(&self, name: &OsStr) -> Result<ResolvedFolder, FileError> {
        let held = openat(&self.held, single(name)?, STEP, Mode::empty())?;
        Ok(ResolvedFolder { held, path: self.path.join(name) })
    }

    /// Removes a name while it is that of this very file; true if it was. Whoever may write to the folder can exchange
    /// it in the last moment, and loses then what they put there themselves.
    pub fn remove(&self, name: &OsStr, file: FileIdentity) -> Result<bool, FileError> {
        if self.look(name)?.is_none_or(|found| FileIdentity::from(&found) != file) {
            return Ok(false);
        }
        unlinkat(&self.held, name, AtFlags::empty())?;
        Ok(true)
    }

    /// All names in it, sorted.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        let mut names = Vec::new();
        for entry in Dir::new(self.readable()?)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            names.extend((name != "." && name != "..").then_some(name));
        }
        names.sort();
        Ok(names)
    }

    /// Has the names in it on disk.
    pub fn sync(&self) -> Result<(), FileError> {
        Ok(rustix::fs::fsync(self.readable()?)?)
    }

    /// The folder opened for reading, which can be locked (flock(2)), too. What is held is good for names alone, so that a
    /// folder that may be written to and not be read does.
    pub fn readable(&self) -> Result<OwnedFd, Errno> {
        openat(&self.held, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }

    /// That nobody but root and this user can exchange this folder, or one above it, for another: so its path goes on
    /// leading to it, and may be handed to what takes nothing but paths.
    ///
    /// # Errors
    /// Which folder somebody else may change.
    pub fn settled(&self) -> Result<(), FileError> {
        let mut path = self.path.clone();
        let mut about = fstat(&self.held)?;
        let mut here = above(&self.held)?;
        loop {
            changed_by_nobody_else(&about, &path)?;
            let next = fstat(&here)?;
            // Above the root is the root.
            if FileIdentity::from(&next) == FileIdentity::from(&about) {
                return Ok(());
            }
            about = next;
            here = above(&here)?;
            path.pop();
        }
    }
}

impl AsFd for ResolvedFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

impl From<FolderWalk> for ResolvedFolder {
    fn from(walk: FolderWalk) -> Self {
        ResolvedFolder { held: walk.here, path: walk.path }
    }
}

fn changed_by_nobody_else(about: &Stat, path: &Path) -> Result<(), FileError> {
    if !is_trusted(about.st_uid) {
        return Err(FileError::Unsettled { folder: path.to_owned(), owner: about.st_uid });
    }
    // Many systems give each user a group of their own, and new folders to both.
    let of_group =
        about.st_mode & GROUP_WRITES != 0 && about.st_gid != getegid().as_raw() && about.st_gid != 0;
    let open = about.st_mode & OTHERS_WRITE != 0 || of_group;
    match open && about.st_mode & STICKY == 0 {
        true => Err(FileError::Writable { folder: path.to_owned() }),
        false => Ok(()),
    }
}

/// True for a plain file.
pub fn is_plain(about: &Stat) -> bool {
    plain(about).is_ok()
}

fn plain(about: &Stat) -> Result<(), FileError> {
    Err(match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => FileError::Link,
        FileType::Directory => FileError::NotPlain("folder"),
        FileType::Fifo => FileError::NotPlain("pipe"),
        FileType::Socket => FileError::NotPlain("socket"),
        _ => FileError::NotPlain("device"),
    })
}

/// By its bytes: `Path` would take `x/.` for a file `x`.
fn split(file: &Path) -> Result<(&Path, OsString), FileError> {
    let bytes = file.as_os_str().as_bytes();
    let cut = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = bytes.split_at(cut);
    let name = OsStr::from_bytes(name);
    Ok((Path::new(OsStr::from_bytes(folder)), single(name)?.to_owned()))
}

pub(crate) fn single(name: &OsStr) -> Result<&OsStr, FileError> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(FileError::NotAName),
        bytes if bytes.contains(&b'/') => Err(FileError::NotAName),
        _ => Ok(name),
    }
}

/// Links on one way, as many as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Only a place to go on from; with `DIRECTORY` an automount happens, too.
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How far the way was gone.
struct FolderWalk {
    /// The folder, good for what takes a folder's descriptor.
    here: OwnedFd,
    /// Its path without links, as it was when it was gone.
    path: PathBuf,
    /// Components to come, the next one last.
    left: Vec<OsString>,
    links: u32,
    /// With which rights missing folders are made, if they are.
    makes: Option<u32>,
}

impl FolderWalk {
    /// Goes all the way to a folder.
    fn to(path: &Path, makes: Option<u32>) -> Result<FolderWalk, FileError> {
        let here = openat(CWD, ".", STEP, Mode::empty())?;
        let current = if path.is_absolute() { PathBuf::from("/") } else { std::env::current_dir()? };
        let mut walk = FolderWalk { here, path: current, left: Vec::new(), links: 0, makes };
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
fn above(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    openat(folder, "..", STEP, Mode::empty())
}
