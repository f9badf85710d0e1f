//! `ArchiveError`: failure, path and remedy in one sentence each.

use crate::SessionId;
use crate::address::{DatabaseAddress, OtherScheme};
use cardscope_model::session_file::SessionFileError;
use sqlx::postgres::PgDatabaseError;
use std::path::{Path, PathBuf};

pub(crate) type Result<T, E = ArchiveError> = std::result::Result<T, E>;

/// Failure to open, read or write an archive. Most variants hold the path, or the server's address without its
/// password, and the reason of the system or database.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Neither `XDG_DATA_HOME` nor `HOME` is set.
    #[error("no place for the archive: neither XDG_DATA_HOME nor HOME is set; give --archive FILE")]
    NoHome,
    #[error("the archive {path} is not writable ({1}); change its owner or mode, or give --archive \
             FILE", path = .0.display())]
    Permission(PathBuf, String),
    /// The path cannot be opened at all.
    #[error("the archive {path} cannot be opened ({1}); give another --archive FILE", path = .0.display())]
    Open(PathBuf, String),
    /// Refused for safety: a link, a pipe, another user's file. It was not touched.
    #[error("{path} is refused as archive ({1}); give another --archive FILE", path = .0.display())]
    Refused(PathBuf, String),
    /// Another kind of file. It was not touched.
    #[error("{path} is not a Cardscope archive ({1}) and was not changed; give another --archive \
             FILE", path = .0.display())]
    NotAnArchive(PathBuf, String),
    /// An archive with missing or overwritten parts. It was not touched.
    #[error("the archive {path} is damaged ({1}); restore a copy, or move it away to start a new \
             one", path = .0.display())]
    Damaged(PathBuf, String),
    /// Written by a newer Cardscope. It was not touched.
    #[error("the archive {path} was written by a newer Cardscope (format {found}, this one knows up to {known}); use that one, or give another --archive FILE", path = path.display())]
    Newer {
        path: PathBuf,
        /// Format of the file.
        found: i64,
        /// Newest format that this version reads.
        known: i64,
    },
    /// The disk is full. Earlier data are kept.
    #[error("the disk of the archive {path} is full; earlier results are stored. Free some space, or give \
             --archive FILE on another disk", path = .0.display())]
    Full(PathBuf),
    /// The server does not answer, or the connection was lost.
    #[error("the server of the archive {path} cannot be reached ({1}); earlier results are stored. Check \
             that it runs, then try again", path = .0.display())]
    Unreachable(PathBuf, String),
    /// Another process locks the archive for too long.
    #[error("the archive {path} is locked by another process; wait for it to end, or give another --archive \
             FILE", path = .0.display())]
    Busy(PathBuf),
    #[error("the archive has no session {0}; `cardscope archive list` shows its sessions")]
    NoSuchSession(String),
    #[error("the archive has no card {0}; `cardscope archive cards` shows its cards")]
    NoSuchCard(String),
    /// No file or attachment has this hash.
    #[error("the archive has no file {0}; files are named by the 64 hex digits of their hash")]
    NoSuchFile(String),
    /// A session file cannot be imported.
    #[error(transparent)]
    File(#[from] SessionFileError),
    /// A stored value is invalid: path, column and reason.
    #[error("{1} of the archive {path} cannot be read ({2}); other sessions are not \
             affected", path = .0.display())]
    Unreadable(PathBuf, String, String),
    /// Any other error of the database.
    #[error("the archive {path} failed ({1}); check its disk, or give another --archive FILE", path = .0.display())]
    Failed(PathBuf, String),
}

impl From<OtherScheme> for ArchiveError {
    fn from(OtherScheme(scheme): OtherScheme) -> Self {
        let why = "an archive is a file, or a database at postgres://user@host/name".to_owned();
        ArchiveError::Open(PathBuf::from(format!("{scheme}://…")), why)
    }
}

// Primary result codes of SQLite (https://www.sqlite.org/rescode.html); the lowest byte of an extended code.
const PERM: i64 = 3;
const BUSY: i64 = 5;
const LOCKED: i64 = 6;
const READONLY: i64 = 8;
const CORRUPT: i64 = 11;
const FULL: i64 = 13;
const CANTOPEN: i64 = 14;
const NOTADB: i64 = 26;
/// Extended code: no room for the shared index of the write-ahead log.
const IOERR_SHMSIZE: i64 = 4874;

impl ArchiveError {
    /// Maps an error of the database at `path`.
    pub(crate) fn from_database(path: &Path, error: &sqlx::Error) -> Self {
        let path = path.to_owned();
        let database = error.as_database_error();
        let reason = database.map_or_else(|| error.to_string(), |e| e.message().to_owned());
        if let sqlx::Error::ColumnDecode { index, source } = error {
            return ArchiveError::Unreadable(path, format!("the field {index}"), source.to_string());
        }
        if let Some(error) = database.and_then(|e| e.try_downcast_ref::<PgDatabaseError>()) {
            return ArchiveError::from_sqlstate(path, error.code(), reason);
        }
        if let Some(error) = ArchiveError::from_transport(&path, error) {
            return error;
        }
        let code = database.and_then(|e| e.code()).and_then(|c| c.parse::<i64>().ok());
        match code.map(|c| if c == IOERR_SHMSIZE { FULL } else { c & 0xff }) {
            Some(PERM | READONLY) => ArchiveError::Permission(path, reason),
            Some(BUSY | LOCKED) => ArchiveError::Busy(path),
            Some(CORRUPT) => ArchiveError::Damaged(path, reason),
            Some(FULL) => ArchiveError::Full(path),
            Some(CANTOPEN) => ArchiveError::Open(path, reason),
            Some(NOTADB) => ArchiveError::NotAnArchive(path, reason),
            // The caller knows the id and fills it in.
            _ if matches!(error, sqlx::Error::RowNotFound) => ArchiveError::NoSuchSession(String::new()),
            _ => ArchiveError::Failed(path, reason),
        }
    }

    /// Maps PostgreSQL's SQLSTATE (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
    fn from_sqlstate(path: PathBuf, code: &str, reason: String) -> Self {
        match code {
            // Connection exceptions, and a server that is stopping or starting.
            "57P01" | "57P02" | "57P03" => ArchiveError::Unreachable(path, reason),
            _ if code.starts_with("08") => ArchiveError::Unreachable(path, reason),
            _ if code.starts_with("28") => ArchiveError::Permission(path, reason),
            "42501" | "25006" => ArchiveError::Permission(path, reason),
            "53100" => ArchiveError::Full(path),
            "55P03" | "40001" | "40P01" | "53300" => ArchiveError::Busy(path),
            "3D000" => ArchiveError::Open(path, reason),
            "XX001" | "XX002" => ArchiveError::Damaged(path, reason),
            _ => ArchiveError::Failed(path, reason),
        }
    }

    /// Maps an error of the transport. Only a server is reached through one that can break.
    fn from_transport(path: &Path, error: &sqlx::Error) -> Option<Self> {
        let lost = |reason: String| ArchiveError::Unreachable(path.to_owned(), reason);
        match error {
            sqlx::Error::Io(e) if matches!(DatabaseAddress::parse(path), Ok(Some(_))) => {
                Some(lost(e.to_string()))
            }
            sqlx::Error::Io(e) => Some(ArchiveError::from_io(path, e)),
            sqlx::Error::Protocol(reason) => Some(lost(reason.clone())),
            _ => None,
        }
    }

    fn replace_missing(self, missing: impl FnOnce() -> ArchiveError) -> Self {
        match self {
            ArchiveError::NoSuchSession(_) => missing(),
            other => other,
        }
    }

    /// Inserts the session's id into a "not found" error.
    pub(crate) fn for_session(self, session: SessionId) -> Self {
        self.replace_missing(|| ArchiveError::NoSuchSession(session.to_string()))
    }

    /// Inserts the card's id into a "not found" error.
    pub(crate) fn for_card(self, id: &str) -> Self {
        self.replace_missing(|| ArchiveError::NoSuchCard(id.to_owned()))
    }

    /// Inserts the file's hash into a "not found" error.
    pub(crate) fn for_file(self, hash: &str) -> Self {
        self.replace_missing(|| ArchiveError::NoSuchFile(hash.to_owned()))
    }

    /// Maps an error of the operating system on `path`.
    pub(crate) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let (path, reason) = (path.to_owned(), cardscope_files::error_text(error));
        match error.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => ArchiveError::Permission(path, reason),
            Kind::StorageFull | Kind::QuotaExceeded => ArchiveError::Full(path),
            _ => ArchiveError::Open(path, reason),
        }
    }
}
