//! Why a card did not do as it was told: errors of its I/O, and the same in the words of the engine and of the kernel.

use cardscope_engine::target::{Direction, Io, TargetError};

/// Why the card did not do as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum IoError {
    /// This command failed; the card still answers.
    Failed {
        /// What happened, for people.
        reason: String,
        /// The errno that the kernel would give.
        errno: i32,
    },
    /// It does not answer any more.
    Gone {
        /// What happened, for people.
        reason: String,
    },
}

impl IoError {
    /// The card failed this command by itself.
    pub(crate) fn failed(reason: &str) -> IoError {
        IoError::Failed { reason: reason.to_owned(), errno: libc::EIO }
    }

    /// It answers no more from now on.
    pub(crate) fn gone(reason: &str) -> IoError {
        IoError::Gone { reason: reason.to_owned() }
    }

    /// What a kernel would tell a program: no room, no device, or an error like any other.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            IoError::Failed { errno: libc::ENOSPC, .. } => libc::ENOSPC,
            IoError::Failed { .. } => libc::EIO,
            IoError::Gone { .. } => libc::ENODEV,
        }
    }

    /// In the engine's words, of an I/O.
    #[cold]
    pub(crate) fn of(self, io: &Io) -> TargetError {
        let operation = match io.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        self.during(operation, io.offset, u64::from(io.len))
    }

    /// The same, of a call that may be no read or write.
    pub(crate) fn during(self, operation: &'static str, offset: u64, len: u64) -> TargetError {
        match self {
            IoError::Failed { reason, errno } => TargetError::Io { operation, offset, len, reason, errno },
            IoError::Gone { reason } => TargetError::Gone { operation, offset, reason },
        }
    }
}
