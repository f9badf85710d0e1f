//! The archive: every session that was ever measured, in one SQLite file, nothing lost that was finished.
//!
//! A sample is on disk when [`Archive::add_sample`] returns, so a crash, a full disk or a pulled plug costs at most
//! the sample under way. Inside it is asynchronous (sqlx), outside it blocks: who measures has no runtime. The SQL
//! is kept to what PostgreSQL takes too.
#![forbid(unsafe_code)]

mod archive;
mod document;
mod error;
mod place;
mod process;
mod read;
mod record;
mod sql;
mod sqlite;
mod stamp;
mod write;

pub use archive::Archive;
pub use document::{RecordStart, RecordSummary, StoredRecord};
pub use error::ArchiveError;
pub use record::{
    EndedHow, Piece, RunStart, SampleRecord, SessionId, SessionIdError, SessionStart, SessionSummary,
    StoredRun, StoredSession,
};
