//! Unmounting by umount(2), without force, on a separate thread: the call returns only when the card has all cached
//! data, and no signal interrupts it.

use crate::block::DeviceNumber;
use crate::mounts::MountEntry;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

const CHECK_INTERVAL: Duration = Duration::from_millis(50);

pub(super) enum UnmountOutcome {
    Done(Result<(), Errno>),
    /// Another mount is on top at this place.
    Covered,
    /// Interrupted; the call may still succeed.
    Interrupted,
}

/// Unmounts a mount that is the top one at its place.
pub(super) fn unmount_direct(mount: &MountEntry, given_up: &dyn Fn() -> bool) -> UnmountOutcome {
    let (done, wait) = channel();
    let mount = mount.clone();
    let started = std::thread::Builder::new().spawn(move || {
        // umount(2) takes a path and not a mount, and a descriptor that pins the mount would keep it busy: checked
        // right before.
        let outcome = match is_on_top(&mount) {
            true => UnmountOutcome::Done(rustix::mount::unmount(&mount.point, UnmountFlags::NOFOLLOW)),
            false => UnmountOutcome::Covered,
        };
        let _ = done.send(outcome);
    });
    if let Err(error) = started {
        return UnmountOutcome::Done(Err(Errno::from_io_error(&error).unwrap_or(Errno::AGAIN)));
    }
    loop {
        match wait.recv_timeout(CHECK_INTERVAL) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return UnmountOutcome::Interrupted,
            Err(RecvTimeoutError::Timeout) if given_up() => return UnmountOutcome::Interrupted,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// True for the top mount at its place, by mount ID (Linux 5.8) and device number. Accesses no file system.
pub(super) fn is_on_top(mount: &MountEntry) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let Ok(found) = statx(CWD, &mount.point, flags, StatxFlags::MNT_ID) else { return false };
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let device = DeviceNumber::from_raw(makedev(found.stx_dev_major, found.stx_dev_minor));
    // Anonymous device numbers differ by subvolume.
    let same_device = device == mount.number || mount.number.major == 0 && known;
    same_device && (!known || found.stx_mnt_id == mount.id)
}
