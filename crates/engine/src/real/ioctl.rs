//! The two ioctls of block devices that a target needs (`linux/fs.h`): discard, drop the cache.

use rustix::io::Errno;
use rustix::ioctl::{NoArg, Setter, ioctl, opcode};
use std::os::fd::BorrowedFd;

const BLKFLSBUF: u32 = opcode::none(0x12, 97);
const BLKDISCARD: u32 = opcode::none(0x12, 119);

/// Tells the device that a range, in bytes, holds nothing of value.
pub(super) fn discard(fd: BorrowedFd<'_>, start: u64, len: u64) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads two u64, start and length.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([start, len])) }
}

/// Writes back and forgets what the page cache holds of a device. Needs root.
pub(super) fn flush_buffers(fd: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }
}
