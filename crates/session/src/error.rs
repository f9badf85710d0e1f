//! Failures of verbs, classified by exit status.

use cardscope_engine::cause::ErrorCause;
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::target::TargetError;
use cardscope_journal::{JournalFailure, UnusableJournal};
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_store::ArchiveError;

pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// Class of a failure, with an exit status of its own.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// Invalid or unsafe request. Nothing was done.
    #[error(transparent)]
    Refused(ErrorCause),
    /// The card failed or was removed, or a result could not be stored.
    #[error(transparent)]
    Io(ErrorCause),
    /// Repeated reads of a place returned different data. Writing stopped.
    #[error("{0}; nothing more was written. Try another reader")]
    SuspectReader(Box<SuspectReader>),
    /// The user interrupted. The results so far are stored.
    #[error("interrupted; the results so far are stored")]
    Interrupted,
    /// The user interrupted an operation that is done completely or not at all. The text describes the state.
    #[error("interrupted; {0}")]
    InterruptedUndone(&'static str),
}

impl Failure {
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Refused(_) => 2,
            Failure::Io(_) => 3,
            Failure::SuspectReader(_) => 4,
            Failure::Interrupted | Failure::InterruptedUndone(_) => 130,
        }
    }

    pub fn refused(reason: impl Into<ErrorCause>) -> Self {
        Failure::Refused(reason.into())
    }

    pub fn io(reason: impl Into<ErrorCause>) -> Self {
        Failure::Io(reason.into())
    }

    /// Refuses with the text of the first condition that is true.
    pub fn refuse_first(odd: &[(bool, &'static str)]) -> Result<()> {
        let first = odd.iter().find(|(wrong, _)| *wrong);
        first.map_or(Ok(()), |(_, why)| Err(Failure::refused(*why)))
    }

    /// Refuses with a message that has `error` as its source.
    pub fn refused_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        Failure::Refused(ErrorCause::with_message(words, error))
    }

    pub fn io_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        Failure::Io(ErrorCause::with_message(words, error))
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Refused { .. } => Failure::refused(error),
            _ => Failure::io(error),
        }
    }
}

impl From<JournalFailure> for Failure {
    fn from(error: JournalFailure) -> Self {
        match error {
            JournalFailure::Refused(why) => Failure::Refused(why),
            JournalFailure::Io(why) => Failure::Io(why),
            JournalFailure::Stop(stop) => stop.into(),
        }
    }
}

impl From<UnusableJournal> for Failure {
    fn from(why: UnusableJournal) -> Self {
        Failure::refused(why)
    }
}

impl From<ProbeStop> for Failure {
    fn from(stop: ProbeStop) -> Self {
        match stop {
            ProbeStop::Interrupted | ProbeStop::Target(TargetError::Interrupted) => Failure::Interrupted,
            ProbeStop::SuspectReader(reader) => Failure::SuspectReader(reader),
            other => Failure::io(other),
        }
    }
}
