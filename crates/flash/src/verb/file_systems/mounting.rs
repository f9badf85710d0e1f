//! Mounts a file system on a private folder, and unmounts it on every path.

use cardscope_device::block::DeviceNumber;
use cardscope_engine::cause::ErrorCause;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Attempts to mount or unmount a busy device, for example one that udev or an indexer reads.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// No file on a tested card may be executed or act as a device, and reads write no access times.
const FLAGS: MountFlags =
    MountFlags::NODEV.union(MountFlags::NOSUID).union(MountFlags::NOEXEC).union(MountFlags::NOATIME);

/// Mounted file system; unmounted on drop.
pub(super) struct MountedTrial {
    point: PathBuf,
    is_mounted: bool,
}

impl MountedTrial {
    pub(super) fn new(device: &Path, kind: &str) -> Result<MountedTrial, ErrorCause> {
        let point = create_mount_point()?;
        let mut mounted = MountedTrial { point, is_mounted: false };
        let mut tries = TRIES;
        // Our exclusive claim may persist briefly after release.
        while let Err(errno) = mount(device, &mounted.point, kind, FLAGS, None) {
            tries -= 1;
            if errno != Errno::BUSY || tries == 0 {
                return Err(mount_error(errno, kind));
            }
            std::thread::sleep(PAUSE);
        }
        mounted.is_mounted = true;
        Ok(mounted)
    }

    pub(super) fn mount_point(&self) -> &Path {
        &self.point
    }

    /// Number of the mounted device according to the kernel.
    pub(super) fn device(&self) -> Option<DeviceNumber> {
        let number = std::fs::metadata(&self.point).ok()?.dev();
        Some(DeviceNumber { major: rustix::fs::major(number), minor: rustix::fs::minor(number) })
    }

    /// Fails if the mount stays busy. It is then detached, and the kernel unmounts it after the last use.
    pub(super) fn unmount(mut self) -> Result<(), ErrorCause> {
        self.unmount_or_detach()
    }

    fn unmount_or_detach(&mut self) -> Result<(), ErrorCause> {
        if !std::mem::take(&mut self.is_mounted) {
            return Ok(());
        }
        for _ in 0..TRIES {
            match unmount(&self.point, UnmountFlags::empty()) {
                Err(Errno::BUSY) => std::thread::sleep(PAUSE),
                other => return other.map_err(|errno| self.busy_error(errno)),
            }
        }
        // Detached: the kernel unmounts it when its last user is gone.
        let _ = unmount(&self.point, UnmountFlags::DETACH);
        Err(self.busy_error(Errno::BUSY))
    }

    fn busy_error(&self, errno: Errno) -> ErrorCause {
        let point = self.point.display();
        ErrorCause::with_message(
            format!("{point} cannot be unmounted ({errno}); stop what uses it, then run umount"),
            errno,
        )
    }
}

impl Drop for MountedTrial {
    fn drop(&mut self) {
        let _ = self.unmount_or_detach();
        let _ = std::fs::remove_dir(&self.point);
    }
}

fn create_mount_point() -> Result<PathBuf, ErrorCause> {
    let point = std::env::temp_dir().join(format!("cardscope-try-{}", uuid::Uuid::now_v7().simple()));
    let made = DirBuilder::new().mode(0o700).create(&point);
    made.map_err(|e| ErrorCause::with_message(format!("cannot make a mount point: {e}"), e))?;
    Ok(point)
}

/// Checks kernel support and loads the module if needed. The kernel checks the type before the device, so a mount
/// of a missing device suffices.
pub(super) fn check_kernel_support(kind: &str) -> Result<(), ErrorCause> {
    let point = create_mount_point()?;
    let nothing = point.join("nothing");
    let tried = mount(&nothing, &point, kind, FLAGS, None);
    let _ = std::fs::remove_dir(&point);
    match tried {
        Err(errno @ (Errno::NODEV | Errno::PERM)) => Err(mount_error(errno, kind)),
        _ => Ok(()),
    }
}

fn mount_error(errno: Errno, kind: &str) -> ErrorCause {
    let words = match errno {
        Errno::NODEV => format!("the kernel does not support {kind}"),
        Errno::PERM | Errno::ACCESS => "mounting needs root".to_owned(),
        other => format!("it could not be mounted ({other})"),
    };
    ErrorCause::with_message(words, errno)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_file_system_is_named() {
        let said = check_kernel_support("no-such-file-system").unwrap_err().to_string();
        assert!(said.contains("no-such-file-system") || said.contains("root"), "{said}");
    }
}
