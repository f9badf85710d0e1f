//! The archive of all sessions, measured here or imported, in one SQLite file or a PostgreSQL database.
//!
//! A sample is on disk when [`Archive::add_sample`] returns, so a crash, a full disk or a pulled plug costs at most
//! the sample under way. The public calls block, since a program that measures has no async runtime; sqlx runs
//! inside. Both databases get the same statements, and `sqlite` and `postgres` hold the differences.
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
