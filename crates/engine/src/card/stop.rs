//! Errors as data: an I/O that failed is recorded with its place and what became of the second try, and the probe goes
//! on. Only a card that is gone ends it.

use crate::journal::JournalError;
use crate::target::TargetError;
use cardscope_model::suspect_reader::SuspectReader;
pub(super) use cardscope_model::verify::IoError;

/// The record of an error of one I/O; gives back what concerns the whole card.
///
/// # Errors
/// If the card is gone, or the target cannot be driven at all.
pub fn io_error(error: TargetError) -> Result<IoError, ProbeStop> {
    of_io(error).map_err(ProbeStop::from)
}

/// The same in the target's own words.
pub(crate) fn of_io(error: TargetError) -> Result<IoError, TargetError> {
    match error {
        TargetError::Io { operation, offset, len, reason, errno } => Ok(IoError {
            operation: operation.to_owned(),
            offset,
            len,
            errno,
            reason,
            recovered: false,
            in_parts: false,
        }),
        other => Err(other),
    }
}

/// Why a probe ended before its end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProbeStop {
    /// The card went away, or cannot be driven.
    #[error(transparent)]
    Target(TargetError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// What was on the card could not be saved, so it was not overwritten.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The limits that the user set (time, bytes written) are reached.
    #[error("the limits given are reached")]
    Limit,
    /// Reads of one place gave different data, so that nothing that is read can be saved or restored for sure.
    #[error("{0}; nothing more was written. Try another reader")]
    SuspectReader(Box<SuspectReader>),
    /// Another card is in the slot than the one that was tested so far. Nothing more was written.
    #[error(
        "the slot now holds another card ({0}); nothing more was written. Insert the first card and start \
         again"
    )]
    Swapped(String),
}

impl From<TargetError> for ProbeStop {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::Rationed => ProbeStop::Limit,
            TargetError::Interrupted => ProbeStop::Interrupted,
            other => ProbeStop::Target(other),
        }
    }
}
