//! The archive: every session that was ever measured, here or elsewhere, in one SQLite file or in a PostgreSQL
//! database, nothing lost that was finished.
//!
//! A sample is on disk when [`Archive::add_sample`] returns, so a crash, a full disk or a pulled plug costs at most
//! the sample under way. Inside it is asynchronous (sqlx), outside it blocks: who measures has no runtime. Both
//! databases get the same statements; what they do not share is in `sqlite` and `postgres`.
#![forbid(unsafe_code)]

mod address;
mod archive;
mod archive_file;
mod attachments;
mod cards;
mod changes;
mod connection;
mod error;
mod events;
mod figures;
mod file;
mod hash;
mod import;
mod measurements;
mod migration;
mod naming;
mod once;
mod postgres;
mod process;
mod read;
mod record;
mod removal;
mod resolver;
mod rig;
mod sources;
mod sql;
mod sqlite;
mod stamp;
mod summary;
mod tables;
mod upgrade;
mod write;

pub use address::shown;
pub use archive::{Archive, is_server};
pub use attachments::{AttachmentOwner, NewAttachment, StoredAttachment};
pub use cards::{CardConclusion, CardStatement, NewestDocument};
pub use cardscope_model::session_file::SampleRecord;
pub use changes::ArchiveChanges;
pub use error::ArchiveError;
pub use import::{ImportedSource, NewSource, setting_of};
pub use naming::is_named;
pub use record::{
    RunStart, SessionEnd, SessionId, SessionIdError, SessionStart, SessionSummary, StoredSession, unit_id,
};
pub use sources::StoredSource;
pub use summary::summaries_of;
pub use tables::{TableFile, TablesError};
