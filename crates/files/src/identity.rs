//! Which file it is, whatever its name: device and inode. Two files have the same one only if one of them is gone, so
//! whoever compares later holds the file open until then.

use rustix::fs::{Stat, fstat};
use std::fs::Metadata;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// One file on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
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
