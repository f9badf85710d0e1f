//! What can go wrong with an archive, each told as what happened, on what, and what to do.

use crate::SessionId;
use crate::address::{Address, OtherScheme};
use cardscope_model::session_file::SessionFileError;
use sqlx::postgres::PgDatabaseError;
use std::path::{Path, PathBuf};

/// An archive that could not be opened, read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// Neither `XDG_DATA_HOME` nor `HOME` says where data go.
    #[error("no place for the archive: neither XDG_DATA_HOME nor HOME is set; give --archive FILE")]
    NoHome,
    /// The system does not let us.
    #[error("the archive {path} may not be opened for writing ({reason}); change its owner or mode, or give --archive FILE", path = path.display())]
    Permission {
        /// The file, or the folder that could not be made.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file cannot be there at all: a path that leads nowhere …
    #[error("the archive {path} cannot be opened ({reason}); give another --archive FILE", path = path.display())]
    Open {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// What lies there is not taken for safety: a link, a pipe, another user's file … It was not touched.
    #[error("{path} is refused as archive ({reason}); give another --archive FILE", path = path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// What is against it.
        reason: String,
    },
    /// Another kind of file. It was not touched.
    #[error("{path} is no Cardscope archive ({what}) and was left as it is; give another --archive FILE", path = path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// An archive of which parts are missing or overwritten. It was not touched.
    #[error("the archive {path} is damaged ({reason}); put back a copy of it, or move it away and start a new one", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that is known.
        reason: String,
    },
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
    #[error("no room on the disk of the archive {path}; what was stored before is kept: make room, or give --archive FILE on another disk", path = .0.display())]
    Full(PathBuf),
    /// The server does not answer, or went away.
    #[error("the server of the archive {path} cannot be reached ({reason}); what was stored before is kept, of this step all or nothing: see that it runs, then try again", path = path.display())]
    Unreachable {
        /// Its address, without the password.
        path: PathBuf,
        /// What happened.
        reason: String,
    },
    /// Another process held the archive for too long.
    #[error("the archive {path} is held by another process; wait for it to end, or give another --archive FILE", path = .0.display())]
    Busy(PathBuf),
    /// No session of that name.
    #[error("the archive has no session {0}; `cardscope archive list` shows those it has")]
    NoSuchSession(String),
    /// No card of that name.
    #[error("the archive has no card {0}; `cardscope archive list` shows those it has")]
    NoSuchCard(String),
    /// No file or attachment of that hash.
    #[error("the archive has no file {0}; files are named by the 64 hex digits of their hash")]
    NoSuchFile(String),
    /// A session file that cannot be taken in.
    #[error(transparent)]
    File(#[from] SessionFileError),
    /// A stored value is not what it should be.
    #[error("{what} of the archive {path} cannot be read ({reason}); its other sessions are not concerned", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Which value.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything else that the database reports.
    #[error("the archive {path} failed ({reason}); check its disk, or give another --archive FILE", path = path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// What the database says.
        reason: String,
    },
}

impl From<OtherScheme> for ArchiveError {
    fn from(OtherScheme(scheme): OtherScheme) -> Self {
        ArchiveError::Open {
            path: PathBuf::from(format!("{scheme}://…")),
            reason: "an archive is a file, or a database at postgres://user@host/name".to_owned(),
        }
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
        let reason = error.to_string();
        if let sqlx::Error::ColumnDecode { index, source } = error {
            return ArchiveError::Unreadable {
                path,
                what: format!("the field {index}"),
                reason: source.to_string(),
            };
        }
        let database = error.as_database_error();
        if let Some(error) = database.and_then(|e| e.try_downcast_ref::<PgDatabaseError>()) {
            return ArchiveError::of_server(path, error.code(), reason);
        }
        if let Some(error) = ArchiveError::of_connection(&path, error) {
            return error;
        }
        let code = database.and_then(|e| e.code()).and_then(|c| c.parse::<i64>().ok());
        match code.map(|c| if c == IOERR_SHMSIZE { FULL } else { c & 0xff }) {
            Some(PERM | READONLY) => ArchiveError::Permission { path, reason },
            Some(BUSY | LOCKED) => ArchiveError::Busy(path),
            Some(CORRUPT) => ArchiveError::Damaged { path, reason },
            Some(FULL) => ArchiveError::Full(path),
            Some(CANTOPEN) => ArchiveError::Open { path, reason },
            Some(NOTADB) => ArchiveError::NotAnArchive { path, what: reason },
            _ if matches!(error, sqlx::Error::RowNotFound) => ArchiveError::NoSuchSession(String::new()),
            _ => ArchiveError::Failed { path, reason },
        }
    }

    /// What PostgreSQL's SQLSTATE means (<https://www.postgresql.org/docs/15/errcodes-appendix.html>).
    fn of_server(path: PathBuf, code: &str, reason: String) -> Self {
        match code {
            // Connection exceptions, and a server that is stopped or not yet up.
            "57P01" | "57P02" | "57P03" => ArchiveError::Unreachable { path, reason },
            _ if code.starts_with("08") => ArchiveError::Unreachable { path, reason },
            _ if code.starts_with("28") => ArchiveError::Permission { path, reason },
            "42501" | "25006" => ArchiveError::Permission { path, reason },
            "53100" => ArchiveError::Full(path),
            "55P03" | "40001" | "40P01" | "53300" => ArchiveError::Busy(path),
            "3D000" => ArchiveError::Open { path, reason },
            "XX001" | "XX002" => ArchiveError::Damaged { path, reason },
            _ => ArchiveError::Failed { path, reason },
        }
    }

    /// What an error of the way to the database means. Only a server is reached by a way that can break.
    fn of_connection(path: &Path, error: &sqlx::Error) -> Option<Self> {
        let lost = |reason: String| ArchiveError::Unreachable { path: path.to_owned(), reason };
        match error {
            sqlx::Error::Io(e) if matches!(Address::of(path), Ok(Some(_))) => Some(lost(e.to_string())),
            sqlx::Error::Io(e) => Some(ArchiveError::of_system(path, e)),
            sqlx::Error::Protocol(reason) => Some(lost(reason.clone())),
            _ => None,
        }
    }

    /// Names what was asked for, where it is not there.
    fn named(self, missing: impl FnOnce() -> ArchiveError) -> Self {
        match self {
            ArchiveError::NoSuchSession { .. } => missing(),
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
        let (path, reason) = (path.to_owned(), error.to_string());
        match error.kind() {
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => ArchiveError::Permission { path, reason },
            Kind::StorageFull | Kind::QuotaExceeded => ArchiveError::Full(path),
            _ => ArchiveError::Open { path, reason },
        }
    }
}
