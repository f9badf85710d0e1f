//! What the failure of an I/O means, asked of the open descriptor at that moment: one bad place on a card that still
//! answers, a card that answers nothing, one whose capacity changed, or one that is gone.

use super::backing::Shared;
use super::handles::{Handles, still_answers};
use super::holding::lost;
use super::slots::Carried;
use super::test_file::room;
use crate::target::{Direction, TargetError};
use rustix::io::Errno;

/// What happened to an I/O.
#[derive(Debug, Clone, Copy)]
pub(super) enum Failure {
    /// The kernel said so.
    Errno(Errno),
    /// It moved nothing: the medium ends there.
    End,
}

/// Tells the failure of an I/O.
#[cold]
pub(super) fn of_io(
    shared: &Shared,
    handles: &Handles,
    sector: u32,
    io: Carried,
    failure: Failure,
) -> TargetError {
    let operation = match io.direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let (offset, len) = (io.offset + u64::from(io.done), u64::from(io.len - io.done));
    of_call(shared, handles, sector, operation, (offset, len), failure)
}

/// Tells the failure of any operation on a range, given by its first byte and its length.
#[cold]
pub(super) fn of_call(
    shared: &Shared,
    handles: &Handles,
    sector: u32,
    operation: &'static str,
    (offset, len): (u64, u64),
    failure: Failure,
) -> TargetError {
    if let Err(change) = shared.lookout.present() {
        return lost(&shared.name, change, operation, offset);
    }
    let (reason, errno) = match failure {
        Failure::Errno(errno) => (cardscope_files::in_words(&errno.into()), errno.raw_os_error()),
        Failure::End => ("the medium ends there".to_owned(), 0),
    };
    match failure {
        Failure::Errno(Errno::NODEV | Errno::NXIO | Errno::NOTCONN | Errno::SHUTDOWN | Errno::NOMEDIUM) => {
            TargetError::Gone { operation, offset, reason }
        }
        Failure::Errno(Errno::NOSPC | Errno::DQUOT) if !shared.is_device() => {
            let what = format!("the {operation} at {offset} of the test file");
            TargetError::NoSpace { what, needed: len, available: room(handles.any()) }
        }
        Failure::Errno(Errno::IO) if !still_answers(handles, shared.limit(), sector) => {
            TargetError::Silent { operation, offset, reason }
        }
        _ => TargetError::Io { operation, offset, len, reason, errno },
    }
}
