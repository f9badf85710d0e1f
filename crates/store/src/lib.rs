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
mod card_migration;
mod cards;
mod changes;
mod connection;
mod deduplication;
mod error;
mod events;
mod figure_json;
mod file;
mod hash;
mod import;
mod imported_files;
mod measurement_writing;
mod measurements;
mod migration;
mod naming;
mod postgres;
mod process;
mod record;
mod removal;
mod resolver;
mod row_reading;
mod shared_settings;
mod sql;
mod sqlite;
mod summary;
mod tables;
mod timestamps;

pub use address::redact_address;
pub use archive::{Archive, is_server_address};
pub use attachments::{AttachmentOwner, NewAttachment, StoredAttachment};
pub use cards::{CardConclusion, CardStatement, NewestDocument};
pub use cardscope_model::session_file::SampleRecord;
pub use changes::ArchiveChanges;
pub use error::ArchiveError;
pub use import::{ImportedSource, NewSource, run_setting};
pub use imported_files::StoredSource;
pub use naming::is_named;
pub use record::{
    RunStart, SessionEnd, SessionId, SessionIdError, SessionStart, SessionSummary, StoredSession, unit_id,
};
pub use summary::summarize_runs;
pub use tables::{TableFile, TablesError};
