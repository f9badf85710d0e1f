//! The archive of all sessions, measured here or imported, in one SQLite file or a PostgreSQL database.
//!
//! A sample is on disk when [`Archive::add_sample`] returns, so a crash, a full disk or a pulled plug costs at most
//! the sample under way. The public calls block, since a program that measures has no async runtime; sqlx runs
//! inside. Both databases get the same statements, and `connection` and `opening` hold the differences.
#![forbid(unsafe_code)]

mod address;
mod archive;
mod archive_file;
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
mod measurement_writing;
mod migration;
mod naming;
mod opening;
mod process;
mod record;
mod resolver;
mod shared_settings;
mod sql;
mod stored_files;
mod summary;
mod tables;
mod timestamps;

pub use address::redact_address;
pub use archive::{Archive, is_server_address};
pub use cards::{CardConclusion, CardStatement, NewestDocument};
pub use cardscope_model::session_file::SampleRecord;
pub use changes::ArchiveChanges;
pub use error::ArchiveError;
pub use hash::unit_id;
pub use import::{ImportedSource, NewSource, run_setting};
pub use naming::is_named;
pub use record::{RunStart, SessionEnd, SessionId, SessionIdError, SessionSummary, StoredSession};
pub use stored_files::{AttachmentOwner, NewAttachment, StoredAttachment, StoredSource};
pub use summary::summarize_runs;
pub use tables::{TableFile, TablesError};
