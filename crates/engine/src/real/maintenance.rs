//! Flush, cache drop and discard of a target: ioctls for devices (`linux/fs.h`), system calls for files.

use super::backing::TargetBacking;
use super::hanging_call::HangingCall;
use crate::interrupt::InterruptFlag;
use crate::pending::PendingWait;
use crate::target::{TargetError, TargetRegion};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fdatasync};
use rustix::io::Errno;
use rustix::ioctl::{NoArg, Setter, ioctl, opcode};
use std::os::fd::BorrowedFd;
use std::time::Duration;

const BLKFLSBUF: u32 = opcode::none(0x12, 97);
const BLKDISCARD: u32 = opcode::none(0x12, 119);

/// The outer error means that the call did not finish, the inner one is the result of `fdatasync`.
pub(super) fn flush(
    fd: BorrowedFd<'_>,
    name: &str,
    interrupt: &InterruptFlag,
    limit: Option<Duration>,
) -> Result<Result<(), Errno>, TargetError> {
    let again = "opening the target once more for a flush";
    let own = fd.try_clone_to_owned().map_err(|e| TargetError::setup(again, e))?;
    let what = PendingWait::Call(format!("a flush of {name}").into());
    HangingCall { what, operation: "flush", interrupt, limit }.run_limited(move || fdatasync(own))
}

/// Drops the target from the page cache; dirty pages must have been flushed.
pub(super) fn drop_caches(fd: BorrowedFd<'_>, backing: &TargetBacking) -> Result<(), TargetError> {
    match backing {
        TargetBacking::Device(_) => flush_buffers(fd).map_err(|errno| {
            TargetError::Unsupported(format!("the page cache of the device could not be emptied: {errno}"))
        }),
        TargetBacking::File(_) | TargetBacking::Directory(_) => {
            fadvise(fd, 0, None, Advice::DontNeed).map_err(|errno| {
                TargetError::Unsupported(format!("the page cache of the file could not be emptied: {errno}"))
            })?;
            drop_metadata_cache();
            Ok(())
        }
    }
}

/// Drops the file's extents and the device's pages below (proc_sys_vm(5)). Only root may; the file's own pages are
/// dropped without it.
fn drop_metadata_cache() {
    let _ = std::fs::write("/proc/sys/vm/drop_caches", "1");
}

pub(super) fn discard(fd: BorrowedFd<'_>, backing: &TargetBacking, range: TargetRegion) -> Result<(), Errno> {
    match backing {
        // SAFETY: BLKDISCARD reads two u64, start and length in bytes.
        TargetBacking::Device(_) => unsafe {
            ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([range.start, range.len]))
        },
        TargetBacking::File(_) | TargetBacking::Directory(_) => {
            fallocate(fd, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, range.start, range.len)
        }
    }
}

/// Writes back and drops the page cache of a device. Needs root.
pub(super) fn flush_buffers(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }
}
