//! File descriptions of a target, one for direct I/O and one through the page cache: recipes may ask for either, and
//! `O_DIRECT` belongs to the description.

use crate::buffer::{AlignedBuffer, PAGE};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, fstat, open, statx};
use rustix::io::{Errno, pread, retry_on_intr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Way to the kind of I/O that the first description does not have.
enum OtherPath {
    /// A second description.
    Open(OwnedFd),
    /// Switching the flag of the first, for a device opened by UDisks2 that we may not open ourselves.
    Switch,
    None,
}

/// Direct and cached access to one file or device.
pub(super) struct FileHandles {
    first: OwnedFd,
    first_is_direct: bool,
    other: OtherPath,
}

impl FileHandles {
    pub(super) fn new(first: OwnedFd) -> io::Result<Self> {
        let first_is_direct = fcntl_getfl(&first)?.contains(OFlags::DIRECT);
        let other = match reopen_fd(first.as_fd(), !first_is_direct) {
            Ok(fd) => OtherPath::Open(fd),
            Err(Errno::INVAL) => OtherPath::None,
            Err(_) => OtherPath::Switch,
        };
        Ok(Self { first, first_is_direct, other })
    }

    /// Opens the object of `fd` anew, twice. Needs `/proc`.
    pub(super) fn reopened(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Self::new(reopen_fd(fd, false)?)
    }

    /// Opens a device like [`FileHandles::reopened`]; a descriptor that we may not reopen is used itself.
    pub(super) fn reopened_device(claim: BorrowedFd<'_>) -> io::Result<Self> {
        match reopen_fd(claim, false) {
            Err(Errno::ACCESS | Errno::PERM) => Self::new(claim.try_clone_to_owned()?),
            opened => Self::new(opened?),
        }
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        let other = match &self.other {
            OtherPath::Open(fd) => OtherPath::Open(fd.try_clone()?),
            OtherPath::Switch => OtherPath::Switch,
            OtherPath::None => OtherPath::None,
        };
        Ok(Self { first: self.first.try_clone()?, first_is_direct: self.first_is_direct, other })
    }

    pub(super) fn has_direct(&self) -> bool {
        self.first_is_direct || !matches!(self.other, OtherPath::None)
    }

    /// Some file systems accept O_DIRECT at opening and refuse the first I/O.
    pub(super) fn disable_direct(&mut self) {
        if self.first_is_direct {
            let _ = set_direct(self.first.as_fd(), false);
            self.first_is_direct = false;
        }
        self.other = OtherPath::None;
    }

    /// Description for direct or cached I/O; the cached one if there is no direct I/O.
    pub(super) fn get(&self, direct: bool) -> io::Result<BorrowedFd<'_>> {
        match &self.other {
            OtherPath::Open(other) if direct != self.first_is_direct => return Ok(other.as_fd()),
            OtherPath::Switch => set_direct(self.first.as_fd(), direct)?,
            _ => {}
        }
        Ok(self.first.as_fd())
    }

    /// Any of the descriptions, for operations on the file itself.
    pub(super) fn any_fd(&self) -> BorrowedFd<'_> {
        self.first.as_fd()
    }

    /// Current size of a plain file; `None` for anything else.
    pub(super) fn file_bytes(&self) -> Option<u64> {
        let found = fstat(&self.first).ok()?;
        let plain = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        plain.then(|| u64::try_from(found.st_size).ok()).flatten()
    }

    /// Alignment for direct I/O in bytes, tested with real reads. `None` if direct I/O does not work, even if opening
    /// succeeded: some file systems refuse at the first I/O, others silently fall back to the page cache.
    pub(super) fn direct_alignment(&self, least: u32) -> Option<u32> {
        let fd = self.has_direct().then(|| self.get(true).ok()).flatten()?;
        match announced_alignment(fd) {
            Some(0) => None,
            Some(align) => Some(align.max(least)),
            None => [least, PAGE as u32].into_iter().find(|&align| accepts_alignment(fd, align)),
        }
    }
}

/// Alignment from statx (Linux 6.1): `Some(0)` if the file has no direct I/O, `None` if the file system does not report
/// it.
fn announced_alignment(fd: BorrowedFd<'_>) -> Option<u32> {
    let found = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    (found.stx_mask & StatxFlags::DIOALIGN.bits() != 0).then_some(found.stx_dio_offset_align)
}

/// False if a direct read of the second `align` bytes is refused as misaligned. An empty file refuses nothing.
fn accepts_alignment(fd: BorrowedFd<'_>, align: u32) -> bool {
    let Ok(memory) = AlignedBuffer::new(PAGE) else { return false };
    // SAFETY: the memory is local, so nothing else accesses it.
    let bytes = unsafe { memory.slice(0, (align as usize).min(PAGE)) };
    let outcome = retry_on_intr(|| pread(fd, &mut *bytes, u64::from(align)));
    !matches!(outcome, Err(Errno::INVAL | Errno::OPNOTSUPP))
}

fn reopen_fd(fd: BorrowedFd<'_>, direct: bool) -> Result<OwnedFd, Errno> {
    let access = fcntl_getfl(fd)? & (OFlags::RDWR | OFlags::WRONLY);
    let flag = if direct { OFlags::DIRECT } else { OFlags::empty() };
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    retry_on_intr(|| open(&path, access | flag | OFlags::CLOEXEC, Mode::empty()))
}

fn set_direct(fd: BorrowedFd<'_>, direct: bool) -> Result<(), Errno> {
    let flags = fcntl_getfl(fd)?;
    fcntl_setfl(fd, if direct { flags | OFlags::DIRECT } else { flags - OFlags::DIRECT })
}
