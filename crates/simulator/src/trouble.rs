//! A card's trouble in the engine's words.

use crate::content::Trouble;
use cardscope_engine::target::{Direction, Io, TargetError};

/// What went wrong with an I/O, in the engine's words.
#[cold]
pub(crate) fn failed(io: &Io, trouble: Trouble) -> TargetError {
    let operation = match io.direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    error(operation, io.offset, u64::from(io.len), trouble)
}

/// The same of a call that is no read or write.
pub(crate) fn error(operation: &'static str, offset: u64, len: u64, trouble: Trouble) -> TargetError {
    match trouble {
        Trouble::Io { reason, errno } => TargetError::Io { operation, offset, len, reason, errno },
        Trouble::Gone { reason } => TargetError::Gone { operation, offset, reason },
    }
}
