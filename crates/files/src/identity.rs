//! Which file it is, whatever its name: device and inode. Two files have the same one only if one of them is gone, so
//! whoever compares later holds the file open until then.

use rustix::fs::{Stat, fstat};
use std::fs::Metadata;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// One file on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// From numbers that the kernel gave: the device as `stat(2)` numbers it, and the inode.
    #[must_use]
    pub fn new(device: u64, inode: u64) -> Identity {
        Identity { device, inode }
    }

    /// The device that it lies on, as `stat(2)` numbers it.
    #[must_use]
    pub fn device(self) -> u64 {
        self.device
    }

    /// The number of its inode there.
    #[must_use]
    pub fn inode(self) -> u64 {
        self.inode
    }

    /// That of what a path leads to, links followed; `None` where it leads to nothing.
    #[must_use]
    pub fn at(path: &Path) -> Option<Identity> {
        path.metadata().ok().map(|about| Identity::from(&about))
    }

    /// That of an open file.
    ///
    /// # Errors
    /// As the system says.
    pub fn of(file: impl AsFd) -> std::io::Result<Identity> {
        Ok(Identity::from(&fstat(file)?))
    }
}

impl From<&Stat> for Identity {
    fn from(stat: &Stat) -> Self {
        Identity { device: stat.st_dev, inode: stat.st_ino }
    }
}

impl From<&Metadata> for Identity {
    fn from(about: &Metadata) -> Self {
        Identity { device: about.dev(), inode: about.ino() }
    }
}
