//! Which file it is, whatever its name, and whose are believed. A file is its device and inode. Two files have the same one only if one of them is gone, so
//! whoever compares later holds the file open until then.

use rustix::fs::{Stat, fstat};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

/// One file on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    /// The device that it lies on, as `stat(2)` numbers it.
    pub device: u64,
    /// The number of its inode there.
    pub inode: u64,
}

impl FileIdentity {
    /// That of what a path leads to, links followed; `None` where it leads to nothing.
    pub fn at(path: &Path) -> Option<FileIdentity> {
        path.metadata().ok().map(|about| FileIdentity::from(&about))
    }

    /// That of an open file.
    pub fn of(file: impl AsFd) -> std::io::Result<FileIdentity> {
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

/// Whose links and files are believed: root's and those of the user that the process runs as.
///
/// `SUDO_UID` is not asked. It stands in the environment, which proves nothing, and where sudo allows a user nothing but
/// Cardscope with fixed arguments, a link of that user would turn these arguments into any others.
pub fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == geteuid().as_raw() || *UNMAPPED == Some(uid)
}

/// The number as which root of the host is seen, where it has none of its own: in the user namespace of a rootless
/// container `/` and `/home` belong to it. Other users without a number look the same, and none of them is in there.
static UNMAPPED: LazyLock<Option<u32>> = LazyLock::new(|| {
    let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
    let whole = map.split_whitespace().eq(["0", "0", "4294967295"]);
    let overflow = std::fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?;
    overflow.trim().parse().ok().filter(|_| !whole)
});
