//! What the failure of an I/O means, asked of the open descriptor at that moment: one bad place on a card that still
//! answers, a card that answers nothing, one whose capacity changed, or one that is gone.

use super::backing::LaneBacking;
use super::handles::FileHandles;
use super::holding::lost;
use super::patience::{HangingCall, SLICE};
use super::slots::SlotIo;
use super::test_file::room;
use crate::buffer::AlignedBuffer;
use crate::pending::PendingWait;
use crate::target::TargetError;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread, retry_on_intr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Places, evenly spread, of which one that can be read proves that a card answers.
const PLACES: u64 = 16;

/// How long such places are tried before a card counts as silent: a reader that resets itself is back within it, and chance
/// does not fail some hundred reads on end.
const TRIED_FOR: Duration = Duration::from_secs(5);

/// What happened to an I/O.
#[derive(Debug, Clone, Copy)]
pub(super) enum IoFailure {
    /// The kernel said so.
    Errno(Errno),
    /// It moved nothing: the medium ends there.
    End,
}

/// What an error number says of the whole card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ErrorMeaning {
    /// There is no card or no reader any more.
    Gone,
    /// No room in a file system.
    Full,
    /// The file would be longer than its file system or `ulimit -f` allows.
    TooLong,
    /// Nothing: the card, or all that lies before it, failed.
    Unknown,
    /// It answered, and refused this I/O.
    Refused,
}

/// The kernel's block layer gives each way to fail its own number (`blk_errors` in block/blk-core.c); FUSE and NBD servers
/// choose theirs.
fn meaning(failure: IoFailure) -> ErrorMeaning {
    let IoFailure::Errno(errno) = failure else { return ErrorMeaning::Refused };
    match errno {
        // The device is offline or was removed (ENODEV, ENXIO), has no medium; a FUSE server is dead (ENOTCONN) or was
        // aborted (ECONNABORTED), a connection is closed, a network file system forgot the file.
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
        // An error of the path (EIO, a link that fails), no answer in time.
        Errno::IO | Errno::TIMEDOUT | Errno::TIME | Errno::NOLINK => ErrorMeaning::Unknown,
        // The card says what is wrong: its medium (ENODATA), its protection or a check sum (EILSEQ, EBADMSG), a command that
        // it does not take (EREMOTEIO, EOVERFLOW, EINVAL), no writing (EPERM, EROFS).
        _ => ErrorMeaning::Refused,
    }
}

/// Tells the failure of an I/O.
#[cold]
pub(super) fn of_io(
    shared: &LaneBacking,
    handles: &FileHandles,
    sector: u32,
    io: SlotIo,
    failure: IoFailure,
) -> TargetError {
    let (offset, len) = (io.offset + u64::from(io.done), u64::from(io.len - io.done));
    of_call(shared, handles, sector, io.operation(), (offset, len), failure)
}

/// Tells the failure of any operation on a range, given by its first byte and its length.
#[cold]
pub(super) fn of_call(
    shared: &LaneBacking,
    handles: &FileHandles,
    sector: u32,
    operation: &'static str,
    (offset, len): (u64, u64),
    failure: IoFailure,
) -> TargetError {
    if let Err(change) = shared.lookout.present() {
        return lost(&shared.name, change, operation, offset);
    }
    let (reason, errno) = match failure {
        IoFailure::Errno(errno) => (cardscope_files::in_words(&errno.into()), errno.raw_os_error()),
        IoFailure::End => ("the medium ends there".to_owned(), 0),
    };
    match meaning(failure) {
        ErrorMeaning::Gone => TargetError::Gone { operation, offset, reason },
        ErrorMeaning::Full if !shared.is_device() => {
            let what = format!("the {operation} at {offset} of the test file");
            TargetError::NoSpace { what, needed: len, available: room(handles.any()) }
        }
        // Nothing of the card: what the file may hold ends here.
        ErrorMeaning::TooLong if !shared.is_device() => TargetError::Setup {
            what: format!("{operation} of {len} bytes at {offset} of {}", shared.name),
            reason,
        },
        ErrorMeaning::Unknown if !still_answers(shared, handles, sector) => {
            TargetError::Silent { operation, offset, reason }
        }
        // An empty slot fails before the kernel knows of it, and what answers by now may be the next card.
        _ => match shared.lookout.present() {
            Err(change) => lost(&shared.name, change, operation, offset),
            Ok(()) => TargetError::Io { operation, offset, len, reason, errno },
        },
    }
}

/// True where the device or file still gives some of its bytes, so that an error was one place's and not the whole card's.
fn still_answers(shared: &LaneBacking, handles: &FileHandles, sector: u32) -> bool {
    let fd = handles.get(handles.has_direct()).and_then(|fd| fd.try_clone_to_owned());
    let Ok(fd) = fd else { return false };
    // A file that grows has nothing yet behind its end, and an empty one nothing that could tell.
    let sectors = handles.file_bytes().unwrap_or(u64::MAX).min(shared.limit()) / u64::from(sector);
    if sectors == 0 {
        return true;
    }
    let options = &shared.options;
    let what = PendingWait::Call(format!("a read that shows whether {} still answers", shared.name).into());
    let call = HangingCall {
        what,
        operation: "read",
        interrupt: &options.interrupt,
        limit: Some(options.io_timeout()),
    };
    match call.wait(move || gives_some(fd.as_fd(), sectors, sector)) {
        Ok(answers) => answers,
        // Who asks to stop does not wait for it.
        Err(error) => error == TargetError::Interrupted,
    }
}

/// Reads places until one can be read, or all of them have failed for a while.
fn gives_some(fd: BorrowedFd<'_>, sectors: u64, sector: u32) -> bool {
    let Ok(memory) = AlignedBuffer::new(sector as usize) else { return true };
    // SAFETY: nobody else knows of this memory.
    let buffer = unsafe { memory.slice(0, sector as usize) };
    let began = Instant::now();
    loop {
        for place in 0..PLACES {
            let number = (sectors - 1) as u128 * u128::from(place) / u128::from(PLACES - 1);
            let Some(offset) = on_medium(fd, number as u64, sector) else { continue };
            let read = retry_on_intr(|| pread(fd, &mut *buffer, offset));
            if matches!(read, Ok(1..)) {
                return true;
            }
        }
        if began.elapsed() >= TRIED_FOR {
            return false;
        }
        std::thread::sleep(SLICE);
    }
}

/// The first byte of a sector at or behind this one, else of the first one, that holds something: a file system answers
/// for blocks that were never written without asking the card. `None` where nothing does.
fn on_medium(fd: BorrowedFd<'_>, number: u64, sector: u32) -> Option<u64> {
    let place = number * u64::from(sector);
    let data = |from: u64| match seek(fd, SeekFrom::Data(from)) {
        Ok(at) => Some(at - at % u64::from(sector)),
        Err(Errno::NXIO) => None,
        // It cannot tell, which devices and old file systems cannot.
        Err(_) => Some(from),
    };
    data(place).or_else(|| data(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_mean_what_the_kernel_means_by_them() {
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
                assert_eq!(meaning(IoFailure::Errno(Errno::from_raw_os_error(*number))), wanted, "{number}");
            }
        }
        assert_eq!(meaning(IoFailure::End), ErrorMeaning::Refused);
    }
}
