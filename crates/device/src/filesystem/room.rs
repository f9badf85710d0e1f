//! How large the file system below a path is and what is free on it, from `statvfs(3)`.

use rustix::fs::{StatVfsMountFlags, statvfs};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Room on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes in all.
    pub total: u64,
    /// Bytes that this user may still write.
    pub free: u64,
    /// True where it is mounted for reading only.
    pub read_only: bool,
    /// True where the running system itself lies on it: filling it would stop more than a test.
    pub holds_system: bool,
}

/// The room below a path.
///
/// # Errors
/// If the path cannot be looked at.
pub fn room(path: &Path) -> io::Result<Room> {
    let found = statvfs(path)?;
    let number = path.metadata()?.dev();
    let system = ["/", "/usr", "/var", "/tmp", "/home"];
    Ok(Room {
        total: found.f_blocks.saturating_mul(found.f_frsize),
        free: found.f_bavail.saturating_mul(found.f_frsize),
        read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY),
        holds_system: system.iter().any(|p| Path::new(p).metadata().is_ok_and(|m| m.dev() == number)),
    })
}
