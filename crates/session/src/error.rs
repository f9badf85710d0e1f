//! Why a use case ended early, sorted by what the caller can do about it.

use cardscope_engine::card::ProbeStop;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::target::TargetError;
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_store::ArchiveError;

/// What a use case comes to, or why it ended early.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

/// The sorts of failure; each has an exit status of its own on the command line.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// Asked for wrongly, or refused for safety: nothing was done.
    #[error(transparent)]
    Refused(ErrorCause),
    /// The card failed or went away, or a result could not be kept.
    #[error(transparent)]
    Io(ErrorCause),
    /// Reads of one place gave different data: nothing more was written.
    #[error("{0}; nothing more was written. Try another reader")]
    SuspectReader(Box<SuspectReader>),
    /// The user interrupted.
    #[error("interrupted; the results so far are stored")]
    Interrupted,
    /// The user interrupted what is done whole or not at all; and what that means.
    #[error("interrupted; {0}")]
    Undone(&'static str),
}

impl Failure {
    /// The exit status of the command line.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Refused(_) => 2,
            Failure::Io(_) => 3,
            Failure::SuspectReader(_) => 4,
            Failure::Interrupted | Failure::Undone(_) => 130,
        }
    }

    /// A refusal for this reason: an error, or a sentence.
    pub fn refused(reason: impl Into<ErrorCause>) -> Self {
        Failure::Refused(reason.into())
    }

    /// An I/O failure for this reason: an error, or a sentence.
    pub fn io(reason: impl Into<ErrorCause>) -> Self {
        Failure::Io(reason.into())
    }

    /// Refuses the first of these that is wrong.
    pub fn refuse_first(odd: &[(bool, &'static str)]) -> Result<()> {
        match odd.iter().find(|(wrong, _)| *wrong) {
            Some((_, why)) => Err(Failure::refused(*why)),
            None => Ok(()),
        }
    }

    /// A refusal in these words, for an error that stays its source.
    pub fn refused_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        Failure::Refused(ErrorCause::worded(words, error))
    }

    /// An I/O failure in these words, for an error that stays its source.
    pub fn io_for(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        Failure::Io(ErrorCause::worded(words, error))
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

impl From<cardscope_journal::JournalFailure> for Failure {
    fn from(error: cardscope_journal::JournalFailure) -> Self {
        match error {
            cardscope_journal::JournalFailure::Refused(why) => Failure::Refused(why),
            cardscope_journal::JournalFailure::Io(why) => Failure::Io(why),
            cardscope_journal::JournalFailure::Stop(stop) => stop.into(),
        }
    }
}

impl From<cardscope_journal::UnusableJournal> for Failure {
    fn from(why: cardscope_journal::UnusableJournal) -> Self {
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
