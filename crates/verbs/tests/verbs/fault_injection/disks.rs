//! Two small file systems in memory that a schedule can fill up: one for the archive and images, one for journals.

use rustix::fs::statvfs;
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_remount};
use std::ffi::CString;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Size in bytes, enough for a schedule and for the free space that journals demand.
const ROOM: u64 = 512 << 20;

#[derive(Debug, Clone)]
pub(super) struct Disks {
    pub(super) archive: PathBuf,
    pub(super) journals: PathBuf,
}

impl Disks {
    /// Mount points in a folder.
    pub(super) fn at(folder: &Path) -> Disks {
        Disks { archive: folder.join("archive"), journals: folder.join("state") }
    }

    /// Mounts both; only this process and its children see them, and they vanish with the last of them.
    pub(super) fn mount(&self) {
        for disk in [&self.archive, &self.journals] {
            std::fs::create_dir_all(disk).unwrap();
            mount("tmpfs", disk, "tmpfs", MountFlags::empty(), Some(options(ROOM).as_c_str())).unwrap();
            std::fs::set_permissions(disk, Permissions::from_mode(0o700)).unwrap();
        }
    }

    /// Shrinks disks until they are full.
    pub(super) fn fill(&self, archive: bool, journals: bool) {
        for (disk, _) in
            [(&self.archive, archive), (&self.journals, journals)].iter().filter(|(_, full)| *full)
        {
            // The archive's thread may write more in the meantime, and a size below the used bytes is refused.
            let mut resized = Err(Errno::INVAL);
            while resized == Err(Errno::INVAL) {
                resized = resize(disk, taken(disk));
            }
            resized.unwrap();
        }
    }

    /// Restores the size.
    pub(super) fn free(&self) {
        [&self.archive, &self.journals].iter().for_each(|disk| resize(disk, ROOM).unwrap());
    }

    /// Removes all files.
    pub(super) fn clear(&self) {
        self.free();
        for disk in [&self.archive, &self.journals] {
            for entry in std::fs::read_dir(disk).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                    .unwrap();
            }
        }
    }
}

fn options(bytes: u64) -> CString {
    CString::new(format!("size={bytes}")).unwrap()
}

/// Used bytes, at least one block.
fn taken(disk: &Path) -> u64 {
    let seen = statvfs(disk).unwrap();
    ((seen.f_blocks - seen.f_bfree) * seen.f_frsize).max(seen.f_frsize)
}

fn resize(disk: &Path, bytes: u64) -> Result<(), Errno> {
    mount_remount(disk, MountFlags::empty(), options(bytes).as_c_str())
}
