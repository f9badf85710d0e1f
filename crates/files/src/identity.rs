//! Identity of a file, as device and inode, and trusted owners. An inode number is reused after its file is gone, so a
//! caller who compares later keeps the file open until then.

use rustix::fs::{Stat, fstat};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::LazyLock;

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
