//! A folder held by its descriptor, with operations on the names in it. Its path is resolved one component at a time
//! (`path_resolution(7)`, by hand, because the kernel has no rule on the owner of a link).
//!
//! A file is identified by device and inode. An inode number is reused after its file is gone, so a caller who compares
//! later keeps the file open until then.

use crate::FileError;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, fstatvfs, mkdirat, openat, readlinkat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
const STICKY: u32 = 0o1000;

/// Open folder. The names given to its methods are single components.
#[derive(Debug)]
pub struct ResolvedFolder {
    held: OwnedFd,
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    Read,
    Write,
}

impl ResolvedFolder {
    /// Opens a folder. Links on the way are followed if root or the user owns them.
    pub fn open(path: &Path) -> Result<ResolvedFolder, FileError> {
        FolderWalk::resolve(path, None)
    }

    /// Like [`open`](ResolvedFolder::open), but creates missing folders with this mode, minus the umask.
    pub fn open_or_create(path: &Path, mode: u32) -> Result<ResolvedFolder, FileError> {
        FolderWalk::resolve(path, Some(mode))
    }

    /// Opens the folder of a file, which need not exist, and returns the file's name in it.
    pub fn parent_of(file: &Path) -> Result<(ResolvedFolder, OsString), FileError> {
        let (folder, name) = split_path(file)?;
        Ok((ResolvedFolder::open(folder)?, name))
    }

    /// Like [`parent_of`](ResolvedFolder::parent_of), but creates missing folders for this user alone (0700).
    pub fn create_parent_of(file: &Path) -> Result<(ResolvedFolder, OsString), FileError> {
        let (folder, name) = split_path(file)?;
        Ok((ResolvedFolder::open_or_create(folder, 0o700)?, name))
    }

    /// Wraps an open descriptor. The name is used in messages only.
    pub fn from_fd(held: OwnedFd, name: &Path) -> ResolvedFolder {
        ResolvedFolder { held, path: name.to_owned() }
    }

    /// Free bytes of its file system for this user.
    pub fn free_bytes(&self) -> std::io::Result<u64> {
        let found = fstatvfs(&self.held)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Path without links at the time of opening. For messages, not for opening anything.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path through `/proc` for callees that take only paths. Valid while the folder is open, even if it is renamed.
    pub fn proc_path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.held.as_raw_fd()))
    }

    /// True if a path still leads to this folder, links followed.
    pub fn is_at(&self, path: &Path) -> bool {
        FileIdentity::of_file(&self.held).is_ok_and(|held| FileIdentity::of_path(path) == Some(held))
    }

    /// Metadata of a name, without following a link; `None` if the name does not exist.
    pub fn stat(&self, name: &OsStr) -> Result<Option<Stat>, FileError> {
        match statat(&self.held, single_component(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            stat => Ok(Some(stat?)),
        }
    }

    /// Creates a new file for reading and writing with `mode`, minus the umask. Fails if the name exists.
    pub fn create(&self, name: &OsStr, mode: u32) -> Result<File, FileError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.held, single_component(name)?, flags, Mode::from_raw_mode(mode))?.into())
    }

    /// Opens an existing plain file. Does not wait for a pipe, and closes unread whatever took the name in between.
    pub fn open_file(&self, name: &OsStr, usage: FileUse) -> Result<File, FileError> {
        let name = single_component(name)?;
        let there = statat(&self.held, name, AtFlags::SYMLINK_NOFOLLOW)?;
        require_plain(&there)?;
        let access = if usage == FileUse::Write { OFlags::RDWR } else { OFlags::RDONLY };
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match openat(&self.held, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(FileError::Link),
            other => File::from(other?),
        };
        // The name may have been exchanged after the first check.
        require_plain(&fstat(&file)?)?;
        Ok(file)
    }

    /// Like [`open_file`](ResolvedFolder::open_file), to read; `None` if the name does not exist.
    pub fn open_existing(&self, name: &OsStr) -> Result<Option<File>, FileError> {
        match self.open_file(name, FileUse::Read) {
            Err(error) if error.is_absent() => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Opens a subfolder, not through a link.
    pub fn open_folder(&self, name: &OsStr) -> Result<ResolvedFolder, FileError> {
        let held = openat(&self.held, single_component(name)?, STEP, Mode::empty())?;
        Ok(ResolvedFolder { held, path: self.path.join(name) })
    }

    /// Removes a name if it belongs to this file; returns true if it did. A user who can write to the folder can still
    /// exchange the name in the last instant, but then loses only what they put there themselves.
    pub fn remove(&self, name: &OsStr, file: FileIdentity) -> Result<bool, FileError> {
        if self.stat(name)?.is_none_or(|found| FileIdentity::from(&found) != file) {
            return Ok(false);
        }
        unlinkat(&self.held, name, AtFlags::empty())?;
        Ok(true)
    }

    /// Names in the folder, sorted.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        let mut names = Vec::new();
        for entry in Dir::new(self.reopen_readable()?)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            names.extend((name != "." && name != "..").then_some(name));
        }
        names.sort();
        Ok(names)
    }

    /// Syncs the names in the folder to disk.
    pub fn sync(&self) -> Result<(), FileError> {
        Ok(rustix::fs::fsync(self.reopen_readable()?)?)
    }

    /// Reopens the folder for reading, which also allows flock(2). The held descriptor has no rights, so that folders
    /// without read permission work, too.
    pub fn reopen_readable(&self) -> Result<OwnedFd, Errno> {
        openat(&self.held, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }

    /// Verifies that only root and this user can exchange this folder or a parent of it. Its path then stays valid and
    /// may be passed to callees that take only paths.
    pub fn require_stable_path(&self) -> Result<(), FileError> {
        let mut path = self.path.clone();
        let mut about = fstat(&self.held)?;
        let mut here = open_parent(&self.held)?;
        loop {
            check_writers(&about, &path)?;
            let next = fstat(&here)?;
            // The parent of the root is the root.
            if FileIdentity::from(&next) == FileIdentity::from(&about) {
                return Ok(());
            }
            about = next;
            here = open_parent(&here)?;
            path.pop();
        }
    }
}

impl AsFd for ResolvedFolder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.held.as_fd()
    }
}

fn check_writers(about: &Stat, path: &Path) -> Result<(), FileError> {
    if !is_trusted(about.st_uid) {
        return Err(FileError::ReplaceableByOwner { folder: path.to_owned(), owner: about.st_uid });
    }
    // Many systems give each user a private group and make new folders writable for it.
    let (mode, group) = (about.st_mode, about.st_gid);
    let of_group = mode & GROUP_WRITES != 0 && group != getegid().as_raw() && group != 0;
    match (mode & OTHERS_WRITE != 0 || of_group) && mode & STICKY == 0 {
        true => Err(FileError::ReplaceableByOthers { folder: path.to_owned() }),
        false => Ok(()),
    }
}

/// Refuses a file of another user, who could have planted it.
pub fn require_trusted_owner(file: impl AsFd) -> Result<(), FileError> {
    let owner = fstat(file)?.st_uid;
    if is_trusted(owner) { Ok(()) } else { Err(FileError::ForeignFile { owner }) }
}

pub fn is_plain(about: &Stat) -> bool {
    require_plain(about).is_ok()
}

fn require_plain(about: &Stat) -> Result<(), FileError> {
    Err(match FileType::from_raw_mode(about.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Symlink => FileError::Link,
        FileType::Directory => FileError::NotPlain("folder"),
        FileType::Fifo => FileError::NotPlain("pipe"),
        FileType::Socket => FileError::NotPlain("socket"),
        _ => FileError::NotPlain("device"),
    })
}

/// Opens a plain file by its path, as [`ResolvedFolder::parent_of`] and [`ResolvedFolder::open_file`] do.
pub fn open_file(file: &Path, usage: FileUse) -> Result<File, FileError> {
    let (folder, name) = ResolvedFolder::parent_of(file)?;
    folder.open_file(&name, usage)
}

/// Splits a path at its last slash, by bytes: `Path` would read `x/.` as the file `x`.
fn split_path(file: &Path) -> Result<(&Path, OsString), FileError> {
    let bytes = file.as_os_str().as_bytes();
    let cut = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let (folder, name) = bytes.split_at(cut);
    let name = OsStr::from_bytes(name);
    Ok((Path::new(OsStr::from_bytes(folder)), single_component(name)?.to_owned()))
}

pub(crate) fn single_component(name: &OsStr) -> Result<&OsStr, FileError> {
    let bytes = name.as_bytes();
    let is_name = !matches!(bytes, b"" | b"." | b"..") && !bytes.contains(&b'/');
    is_name.then_some(name).ok_or(FileError::NotAName)
}

/// Most links on a path, as many as the kernel follows.
const MOST_LINKS: u32 = 40;

/// Opens a folder only to go on from it. `DIRECTORY` also triggers automounts.
const STEP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// State of resolving a path.
struct FolderWalk {
    here: OwnedFd,
    /// Path so far, without links.
    path: PathBuf,
    /// Remaining components, the next one last.
    remaining: Vec<OsString>,
    links: u32,
    /// Mode for missing folders, if they are created.
    create_mode: Option<u32>,
}

impl FolderWalk {
    fn resolve(path: &Path, create_mode: Option<u32>) -> Result<ResolvedFolder, FileError> {
        let here = openat(CWD, ".", STEP, Mode::empty())?;
        let current = if path.is_absolute() { PathBuf::from("/") } else { std::env::current_dir()? };
        let mut walk = FolderWalk { here, path: current, remaining: Vec::new(), links: 0, create_mode };
        walk.push_components(path.as_os_str())?;
        while let Some(name) = walk.remaining.pop() {
            walk.step_into(&name)?;
        }
        Ok(ResolvedFolder { held: walk.here, path: walk.path })
    }

    /// Pushes the components of a path. An absolute one restarts at the root.
    fn push_components(&mut self, path: &OsStr) -> Result<(), FileError> {
        if path.as_bytes().starts_with(b"/") {
            self.here = openat(CWD, "/", STEP, Mode::empty())?;
            self.path = PathBuf::from("/");
        }
        let parts = path.as_bytes().split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
        self.remaining.extend(parts.rev().map(|part| OsStr::from_bytes(part).to_owned()));
        Ok(())
    }

    fn step_into(&mut self, name: &OsStr) -> Result<(), FileError> {
        if name == ".." {
            self.here = openat(&self.here, "..", STEP, Mode::empty())?;
            self.path.pop();
            return Ok(());
        }
        let next = match (openat(&self.here, name, STEP, Mode::empty()), self.create_mode) {
            (Err(Errno::NOENT), Some(mode)) => self.make_folder(name, mode)?,
            (Err(Errno::NOTDIR | Errno::LOOP), _) => return self.follow_link(name),
            (other, _) => other?,
        };
        self.here = next;
        self.path.push(name);
        Ok(())
    }

    fn make_folder(&self, name: &OsStr, mode: u32) -> Result<OwnedFd, Errno> {
        match mkdirat(&self.here, name, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => openat(&self.here, name, STEP, Mode::empty()),
            Err(errno) => Err(errno),
        }
    }

    /// Follows a link. Owner and text are read from one descriptor, so the link cannot be exchanged between.
    fn follow_link(&mut self, name: &OsStr) -> Result<(), FileError> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = openat(&self.here, name, flags, Mode::empty())?;
        let about = fstat(&link)?;
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Symlink => {}
            // It was exchanged for a folder after the first attempt to open it.
            FileType::Directory => return self.step_into(name),
            _ => return Err(Errno::NOTDIR.into()),
        }
        if !is_trusted(about.st_uid) {
            return Err(FileError::ForeignLink { link: self.path.join(name), owner: about.st_uid });
        }
        let text = readlinkat(link.as_fd(), "", Vec::new())?;
        self.push_components(&OsString::from_vec(text.into_bytes()))
    }
}

fn open_parent(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    openat(folder, "..", STEP, Mode::empty())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

impl FileIdentity {
    /// Identity of the file at a path, links followed; `None` if there is none.
    pub fn of_path(path: &Path) -> Option<FileIdentity> {
        path.metadata().ok().map(|about| FileIdentity::from(&about))
    }

    pub fn of_file(file: impl AsFd) -> std::io::Result<FileIdentity> {
        Ok(FileIdentity::from(&fstat(file)?))
    }
}

impl From<&Stat> for FileIdentity {
    fn from(stat: &Stat) -> Self {
        FileIdentity { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl From<&Metadata> for FileIdentity {
    fn from(about: &Metadata) -> Self {
        FileIdentity { device: about.dev(), inode: about.ino() }
    }
}

/// True for root and for the user of this process, whose links and files are trusted.
///
/// `SUDO_UID` is ignored: the environment proves nothing, and where sudo allows a user only Cardscope with fixed
/// arguments, that user's link would turn these arguments into others.
pub fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == geteuid().as_raw() || *UNMAPPED == Some(uid)
}

/// User id as which root of the host appears without a mapping: in the user namespace of a rootless container it owns
/// `/` and `/home`. Other unmapped users look the same, but have no processes in there.
static UNMAPPED: LazyLock<Option<u32>> = LazyLock::new(|| {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let overflow = std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
    overflow.trim().parse().ok().filter(|_| !whole)
});
