//! Classification of I/O failures: one bad place on a card that still answers, a silent card, one with another
//! capacity, or one that is gone. The open descriptor is queried right after the failure.

use super::backing::LaneBacking;
use super::handles::FileHandles;
use super::hanging_call::{CHECK_INTERVAL, HangingCall};
use super::ownership::change_error;
use super::slots::SlotIo;
use super::test_file::free_space_below;
use crate::buffer::AlignedBuffer;
use crate::pending::PendingWait;
use crate::target::{TargetError, TargetRegion};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Evenly spread places; if any of them is readable, the card still answers.
const PROBED_PLACES: u64 = 16;

/// A card counts as silent after this time: a reader that resets itself needs less, and it is too long for hundreds of
/// failures by chance.
const PROBE_TIME: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy)]
pub(super) enum IoFailure {
    Errno(Errno),
    /// A transfer of 0 bytes: end of the medium.
    EndOfMedium,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ErrorMeaning {
    Gone,
    Full,
    /// Larger than the file system or `ulimit -f` allows.
    TooLong,
    /// Could concern one place or the whole card.
    Unknown,
    /// The card answered and refused this I/O.
    Refused,
}

/// The kernel's block layer gives each kind of failure its own number (`blk_errors` in block/blk-core.c); FUSE and NBD
/// servers choose theirs.
fn classify_failure(failure: IoFailure) -> ErrorMeaning {
    let IoFailure::Errno(errno) = failure else { return ErrorMeaning::Refused };
    match errno {
        // The device is offline or was removed (ENODEV, ENXIO) or has no medium; a FUSE server died (ENOTCONN) or was
        // aborted (ECONNABORTED), a connection was closed, a network file system lost the file.
        Errno::NODEV
        | Errno::NXIO
        | Errno::NOMEDIUM
        | Errno::NOTCONN
        | Errno::CONNABORTED
        | Errno::CONNRESET
        | Errno::SHUTDOWN
        | Errno::STALE => ErrorMeaning::Gone,
        Errno::NOSPC | Errno::DQUOT => ErrorMeaning::Full,
        Errno::FBIG => ErrorMeaning::TooLong,
        // Path errors (EIO, a link that fails), or no answer in time.
        Errno::IO | Errno::TIMEDOUT | Errno::TIME | Errno::NOLINK => ErrorMeaning::Unknown,
        // The card reports its reason: the medium (ENODATA), protection or a checksum (EILSEQ, EBADMSG), an unsupported
        // command (EREMOTEIO, EOVERFLOW, EINVAL), no writing (EPERM, EROFS).
        _ => ErrorMeaning::Refused,
    }
}

/// Call that failed on a range of the target.
pub(super) struct FailedCall {
    pub(super) operation: &'static str,
    pub(super) range: TargetRegion,
    pub(super) failure: IoFailure,
}

impl FailedCall {
    pub(super) fn from_io(io: &SlotIo, failure: IoFailure) -> Self {
        let range = TargetRegion { start: io.offset + u64::from(io.done), len: u64::from(io.len - io.done) };
        FailedCall { operation: io.operation(), range, failure }
    }

    #[cold]
    pub(super) fn classify(self, shared: &LaneBacking, handles: &FileHandles, sector: u32) -> TargetError {
        let FailedCall { operation, range: TargetRegion { start: offset, len }, failure } = self;
        if let Err(change) = shared.ownership.object_present() {
            return change_error(&shared.name, change, operation, offset);
        }
        let (reason, errno) = match failure {
            IoFailure::Errno(errno) => (cardscope_files::error_text(&errno.into()), errno.raw_os_error()),
            IoFailure::EndOfMedium => ("the medium ends there".to_owned(), 0),
        };
        match classify_failure(failure) {
            ErrorMeaning::Gone => TargetError::Gone { operation, offset, reason },
            ErrorMeaning::Full if !shared.is_device() => {
                let what = format!("the {operation} at {offset} of the test file");
                TargetError::NoSpace { what, needed: len, available: free_space_below(handles.any_fd()) }
            }
            // The limit is that of the file, not of the card.
            ErrorMeaning::TooLong if !shared.is_device() => TargetError::setup(
                format!("{operation} of {len} bytes at {offset} of {}", shared.name),
                reason,
            ),
            ErrorMeaning::Unknown if !still_answers(shared, handles, sector) => {
                TargetError::Silent { operation, offset, reason }
            }
            // An empty slot fails before the kernel notices, and by now the next card may answer.
            _ => match shared.ownership.object_present() {
                Err(change) => change_error(&shared.name, change, operation, offset),
                Ok(()) => TargetError::Io { operation, offset, len, reason, errno },
            },
        }
    }
}

/// True if other places are still readable, so that the error concerned one place and not the whole card.
fn still_answers(shared: &LaneBacking, handles: &FileHandles, sector: u32) -> bool {
    let fd = handles.get(handles.has_direct()).and_then(|fd| fd.try_clone_to_owned());
    let Ok(fd) = fd else { return false };
    // A growing file has no data beyond its end, and an empty one has none to test.
    let sectors = handles.file_bytes().unwrap_or(u64::MAX).min(shared.limit()) / u64::from(sector);
    if sectors == 0 {
        return true;
    }
    let what = PendingWait::Call(format!("a read that shows whether {} still answers", shared.name).into());
    let (interrupt, limit) = (&shared.options.interrupt, Some(shared.options.io_timeout()));
    let call = HangingCall { what, operation: "read", interrupt, limit };
    match call.run_limited(move || reads_any_place(fd.as_fd(), sectors, sector)) {
        Ok(answers) => answers,
        // An interrupted test does not wait for the answer.
        Err(error) => error == TargetError::Interrupted,
    }
}

/// Reads the places over and over until one is readable, or all have failed for some seconds.
fn reads_any_place(fd: BorrowedFd<'_>, sectors: u64, sector: u32) -> bool {
    let Ok(memory) = AlignedBuffer::new(sector as usize) else { return true };
    // SAFETY: the memory is local, so nothing else accesses it.
    let buffer = unsafe { memory.slice(0, sector as usize) };
    let began = Instant::now();
    loop {
        for place in 0..PROBED_PLACES {
            let number = (sectors - 1) as u128 * u128::from(place) / u128::from(PROBED_PLACES - 1);
            let Some(offset) = allocated_sector(fd, number as u64, sector) else { continue };
            if matches!(retry_on_intr(|| pread(fd, &mut *buffer, offset)), Ok(1..)) {
                return true;
            }
        }
        if began.elapsed() >= PROBE_TIME {
            return false;
        }
        std::thread::sleep(CHECK_INTERVAL);
    }
}

/// First byte of a sector at or after `number`, or else of any, that is allocated: file systems answer for unwritten
/// blocks without the card. `None` if there is none.
fn allocated_sector(fd: BorrowedFd<'_>, number: u64, sector: u32) -> Option<u64> {
    let place = number * u64::from(sector);
    let data = |from: u64| match seek(fd, SeekFrom::Data(from)) {
        Ok(at) => Some(at - at % u64::from(sector)),
        Err(Errno::NXIO) => None,
        // Devices and old file systems do not support SEEK_DATA.
        Err(_) => Some(from),
    };
    data(place).or_else(|| data(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_are_classified_as_in_the_kernel() {
        let all = [
            (
                ErrorMeaning::Gone,
                &[libc::ENODEV, libc::ENXIO, libc::ENOMEDIUM, libc::ENOTCONN, libc::ECONNABORTED][..],
            ),
            (ErrorMeaning::Full, &[libc::ENOSPC, libc::EDQUOT]),
            (ErrorMeaning::TooLong, &[libc::EFBIG]),
            (ErrorMeaning::Unknown, &[libc::EIO, libc::ETIMEDOUT, libc::ENOLINK]),
            (
                ErrorMeaning::Refused,
                &[libc::EREMOTEIO, libc::EILSEQ, libc::ENODATA, libc::EBADMSG, libc::EOVERFLOW, libc::EROFS],
            ),
        ];
        for (wanted, numbers) in all {
            for number in numbers {
                assert_eq!(
                    classify_failure(IoFailure::Errno(Errno::from_raw_os_error(*number))),
                    wanted,
                    "{number}"
                );
            }
        }
        assert_eq!(classify_failure(IoFailure::EndOfMedium), ErrorMeaning::Refused);
    }
}
