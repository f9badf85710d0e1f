//! Errors as data: the failure of one I/O is recorded and the probe continues. Only errors of the whole card end it.

use crate::journal::JournalError;
use crate::target::TargetError;
use cardscope_model::suspect_reader::SuspectReader;
pub(super) use cardscope_model::verify::IoError;

/// Converts the error of one I/O to its record. Returns errors that concern the whole card.
pub fn to_io_error(error: TargetError) -> Result<IoError, ProbeStop> {
    to_io_record(error).map_err(ProbeStop::from)
}

/// Converts like [`to_io_error`], but returns other errors unchanged.
pub(crate) fn to_io_record(error: TargetError) -> Result<IoError, TargetError> {
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

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProbeStop {
    /// The card is gone, or cannot be driven.
    #[error(transparent)]
    Target(TargetError),
    #[error("interrupted")]
    Interrupted,
    /// Data could not be saved, so it was not overwritten.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A limit of the user (time, bytes written) is reached.
    #[error("the limits given are reached")]
    Limit,
    /// Reads of one place returned different data, so data read cannot be trusted for saving or restoring.
    #[error("{0}; nothing more was written. Try another reader")]
    SuspectReader(Box<SuspectReader>),
    /// The slot holds another card than the one tested so far.
    #[error(
        "the slot now holds another card ({0}); nothing more was written. Insert the first card and start \
         again"
    )]
    Swapped(String),
}

impl From<TargetError> for ProbeStop {
    fn from(error: TargetError) -> Self {
        match error {
            TargetError::WriteLimitReached => ProbeStop::Limit,
            TargetError::Interrupted => ProbeStop::Interrupted,
            other => ProbeStop::Target(other),
        }
    }
}
