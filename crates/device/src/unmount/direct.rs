//! One mount undone by the kernel, umount(2), without force: on a thread of its own, since the call ends only when the card
//! has all that the system still had to write to it, and no signal ends it before.

use crate::block::DeviceNumber;
use crate::mounts::MountEntry;
use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often it is looked whether to go on waiting.
const LOOK: Duration = Duration::from_millis(50);

/// What came of it.
pub(super) enum UnmountOutcome {
    Done(Result<(), Errno>),
    /// What is at the place is not this mount.
    Covered,
    /// It may still be done.
    GivenUp,
}

/// Undoes a mount, if it is the one seen at its place.
pub(super) fn unmount(mount: &MountEntry, given_up: &dyn Fn() -> bool) -> UnmountOutcome {
    let (done, wait) = channel();
    let mount = mount.clone();
    let started = std::thread::Builder::new().spawn(move || {
        // The kernel takes a place, not a mount, and a descriptor that pins the mount would keep it busy: looked at last.
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
        match wait.recv_timeout(LOOK) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return UnmountOutcome::GivenUp,
            Err(RecvTimeoutError::Timeout) if given_up() => return UnmountOutcome::GivenUp,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Whether a mount is the one seen at its place: by its number (Linux 5.8) and that of its device. Asks no file system.
pub(super) fn is_on_top(mount: &MountEntry) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    let Ok(found) = statx(CWD, &mount.point, flags, StatxFlags::MNT_ID) else { return false };
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let device = DeviceNumber::from_raw(makedev(found.stx_dev_major, found.stx_dev_minor));
    // Anonymous numbers differ by subvolume.
    let same_device = device == mount.number || mount.number.major == 0 && known;
    same_device && (!known || found.stx_mnt_id == mount.id)
}
