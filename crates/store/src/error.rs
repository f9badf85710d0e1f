//! What can go wrong with an archive, each told as what happened, on what, and what to do.

use crate::SessionId;
use crate::address::{DatabaseAddress, OtherScheme};
use cardscope_model::session_file::SessionFileError;
use sqlx::postgres::PgDatabaseError;
use std::path::{Path, PathBuf};

/// An archive that could not be opened, read or written. Most have the file or folder, or a server's address without its
/// password, and what the system or the database says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Neither `XDG_DATA_HOME` nor `HOME` says where data go.
    #[error("no place for the archive: neither XDG_DATA_HOME nor HOME is set; give --archive FILE")]
    NoHome,
    /// The system does not let us.
    #[error("the archive {path} is not writable ({1}); change its owner or mode, or give --archive \
             FILE", path = .0.display())]
    Permission(PathBuf, String),
    /// The file cannot be there at all: a path that leads nowhere …
    #[error("the archive {path} cannot be opened ({1}); give another --archive FILE", path = .0.display())]
    Open(PathBuf, String),
    /// What lies there is not taken for safety: a link, a pipe, another user's file … It was not touched.
    #[error("{path} is refused as archive ({1}); give another --archive FILE", path = .0.display())]
    Refused(PathBuf, String),
    /// Another kind of file, and which. It was not touched.
    #[error("{path} is not a Cardscope archive ({1}) and was not changed; give another --archive \
             FILE", path = .0.display())]
    NotAnArchive(PathBuf, String),
    /// An archive of which parts are missing or overwritten, and how that is known. It was not touched.
    #[error("the archive {path} is damaged ({1}); restore a copy, or move it away to start a new \
             one", path = .0.display())]
    Damaged(PathBuf, String),
    /// A later Cardscope made it. It was not touched.
    #[error("the archive {path} was written by a newer Cardscope (format {found}, this one knows up to {known}); use that one, or give another --archive FILE", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// No room. Everything that was stored before is kept.
    #[error("the disk of the archive {path} is full; earlier results are stored. Free some space, or give \
             --archive FILE on another disk", path = .0.display())]
    Full(PathBuf),
    /// The server does not answer, or went away.
    #[error("the server of the archive {path} cannot be reached ({1}); earlier results are stored. Check \
             that it runs, then try again", path = .0.display())]
    Unreachable(PathBuf, String),
    /// Another process held the archive for too long.
    #[error("the archive {path} is locked by another process; wait for it to end, or give another --archive \
             FILE", path = .0.display())]
    Busy(PathBuf),
    /// No session of that name.
    #[error("the archive has no session {0}; `cardscope archive list` shows its sessions")]
    NoSuchSession(String),
    /// No card of that name.
    #[error("the archive has no card {0}; `cardscope archive cards` shows its cards")]
    NoSuchCard(String),
    /// No file or attachment of that hash.
    #[error("the archive has no file {0}; files are named by the 64 hex digits of their hash")]
    NoSuchFile(String),
    /// A session file that cannot be taken in.
    #[error(transparent)]
    File(#[from] SessionFileError),
    /// A stored value is not what it should be: which one, and what is wrong with it.
    #[error("{1} of the archive {path} cannot be read ({2}); other sessions are not \
             affected", path = .0.display())]
    Unreadable(PathBuf, String, String),
    /// Anything else that the database reports.
    #[error("the archive {path} failed ({1}); check its disk, or give another --archive FILE", path = .0.display())]
    Failed(PathBuf, String),
}

impl From<OtherScheme> for ArchiveError {
    fn from(OtherScheme(scheme): OtherScheme) -> Self {
        let why = "an archive is a file, or a database at postgres://user@host/name".to_owned();
        ArchiveError::Open(PathBuf::from(format!("{scheme}://…")), why)
    }
}

// Primary result codes of SQLite (https://www.sqlite.org/rescode.html); the lowest byte of an extended one.
const PERM: i64 = 3;
const BUSY: i64 = 5;
const LOCKED: i64 = 6;
const READONLY: i64 = 8;
const CORRUPT: i64 = 11;
const FULL: i64 = 13;
const CANTOPEN: i64 = 14;
const NOTADB: i64 = 26;
/// Extended: no room for the shared index beside the write-ahead log.
const IOERR_SHMSIZE: i64 = 4874;

impl ArchiveError {
    /// What an error of the database at `path` means to its user.
    pub(crate) fn of_database(path: &Path, error: &sqlx::Error) -> Self {
        let path = path.to_owned();
        let database = error.as_database_error();
        let reason = database.map_or_else(|| error.to_string(), |e| e.message().to_owned());
        if let sqlx::Error::ColumnDecode { index, source } = error {
            return ArchiveError::Unreadable(path, format!("the field {index}"), source.to_string());
        }
        if let Some(error) = database.and_then(|e| e.try_downcast_ref::<PgDatabaseError>()) {
            return ArchiveError::of_server(path, error.code(), reason);
        }
        if let Some(error) = ArchiveError::of_connection(&path, error) {
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
            _ if matches!(error, sqlx::Error::RowNotFound) => ArchiveError::NoSuchSession(String::new()),
            _ => ArchiveError::Failed(path, reason),
        }
    }

    /// What PostgreSQL's SQLSTATE means (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
    fn of_server(path: PathBuf, code: &str, reason: String) -> Self {
        match code {
            // Connection exceptions, and a server that is stopped or not yet up.
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

    /// What an error of the way to the database means. Only a server is reached by a way that can break.
    fn of_connection(path: &Path, error: &sqlx::Error) -> Option<Self> {
        let lost = |reason: String| ArchiveError::Unreachable(path.to_owned(), reason);
        match error {
            sqlx::Error::Io(e) if matches!(DatabaseAddress::of(path), Ok(Some(_))) => {
                Some(lost(e.to_string()))
            }
            sqlx::Error::Io(e) => Some(ArchiveError::of_system(path, e)),
            sqlx::Error::Protocol(reason) => Some(lost(reason.clone())),
            _ => None,
        }
    }

    /// Names what was asked for, where it is not there.
    fn named(self, missing: impl FnOnce() -> ArchiveError) -> Self {
        match self {
            ArchiveError::NoSuchSession(_) => missing(),
            other => other,
        }
    }

    /// Names the session that was asked for, where it is not there.
    pub(crate) fn about(self, session: SessionId) -> Self {
        self.named(|| ArchiveError::NoSuchSession(session.to_string()))
    }

    /// Names the card that was asked for, where it is not there.
    pub(crate) fn about_card(self, id: &str) -> Self {
        self.named(|| ArchiveError::NoSuchCard(id.to_owned()))
    }

    /// Names the file that was asked for, where it is not there.
    pub(crate) fn about_file(self, hash: &str) -> Self {
        self.named(|| ArchiveError::NoSuchFile(hash.to_owned()))
    }

    /// What an error of the system on `path` means to its user.
    pub(crate) fn of_system(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind as Kind;
        let (path, reason) = (path.to_owned(), cardscope_files::in_words(error));
        match error.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => ArchiveError::Permission(path, reason),
            Kind::StorageFull | Kind::QuotaExceeded => ArchiveError::Full(path),
            _ => ArchiveError::Open(path, reason),
        }
    }
}
