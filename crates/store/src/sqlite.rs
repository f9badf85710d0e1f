//! SQLite: opens, creates and checks the archive's file.

use crate::archive_file::{ArchiveFile, ArchiveFileState};
use crate::connection::{Connection, SqlResult, SqlRow, statement};
use crate::{ArchiveError, migration};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteLockingMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Executor};
use std::time::Duration;

/// Longest wait for another process's write, which takes milliseconds, or seconds on a card that stalls.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// Attempts to lock a file that is being created, 10 ms apart: SQLite's busy timeout does not cover that.
const CREATION_ATTEMPTS: u32 = 500;

/// Rows that SQLite's thread reads ahead: with the default of 50 the two threads mostly wake each other.
const ROWS_AHEAD: usize = 1000;

/// Opens, creates or upgrades the archive. On failure the connection is closed, so that no log of ours stays next to a
/// foreign file.
pub(crate) async fn open(place: &ArchiveFile) -> Result<Connection, ArchiveError> {
    let shared = open_writable(place, SqliteLockingMode::Normal).await;
    match shared {
        // Sharing needs an index file of 32 KiB. In exclusive mode SQLite keeps the index in memory, so that an archive on
        // a full disk can be read.
        Err(ArchiveError::Full(_)) if place.state() == ArchiveFileState::Archive => {
            open_writable(place, SqliteLockingMode::Exclusive).await
        }
        Err(error) if place.state() == ArchiveFileState::Archive && place.is_read_only() => {
            open_read_only(place).await.map_err(|_| error)
        }
        other => other,
    }
}

/// Opens a file that nobody may write to. Without a log it is opened as immutable, because SQLite cannot create its
/// shared index there.
async fn open_read_only(place: &ArchiveFile) -> Result<Connection, ArchiveError> {
    let failed = |e: sqlx::Error| ArchiveError::from_database(place.path(), &e);
    let options = SqliteConnectOptions::new()
        .filename(place.resolved_path())
        .read_only(true)
        .immutable(!place.has_log())
        .row_buffer_size(ROWS_AHEAD)
        .disable_statement_logging();
    let mut connection = Connection::Sqlite(options.connect().await.map_err(failed)?);
    check_schema(&mut connection, place).await?;
    migration::ensure_current(&mut connection, place.path()).await?;
    place.check_unchanged().map(|()| connection)
}

async fn open_writable(place: &ArchiveFile, locking: SqliteLockingMode) -> Result<Connection, ArchiveError> {
    let mut file =
        connect(place, locking).await.map_err(|e| ArchiveError::from_database(place.path(), &e))?;
    // SQLite opens its files by name, so this is checked both before and after anything is written.
    let made = match place.check_unchanged() {
        Ok(()) => initialize(&mut file, place).await,
        other => other,
    };
    let mut connection = Connection::Sqlite(file);
    let sound = match made {
        Ok(()) => check_schema(&mut connection, place).await,
        other => other,
    };
    let ready = match sound {
        Ok(()) => migration::ensure_current(&mut connection, place.path()).await,
        other => other,
    };
    match ready.and_then(|()| place.check_unchanged()) {
        Ok(()) => Ok(connection),
        Err(error) => {
            connection.close().await;
            Err(error)
        }
    }
}

/// Refuses a schema that is not UTF-8, on which sqlx would panic (`StatementHandle::column_decltype`). Read as blobs,
/// the texts are safe.
async fn check_schema(connection: &mut Connection, place: &ArchiveFile) -> Result<(), ArchiveError> {
    let schema = statement(
        "SELECT CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema ORDER BY rowid",
    );
    let is_text = |row: &SqlRow| {
        let texts = [row.get::<Option<Vec<u8>>>(0)?, row.get(1)?, row.get(2)?];
        Ok(texts.iter().flatten().all(|text| std::str::from_utf8(text).is_ok()))
    };
    let objects = connection.fetch_all(schema, is_text).await;
    let objects = objects.map_err(|e| ArchiveError::from_database(place.path(), &e))?;
    match objects.iter().position(|is_text| !is_text) {
        None => Ok(()),
        Some(at) => {
            let reason = format!("object {} of its schema is not UTF-8 text", at + 1);
            Err(ArchiveError::Damaged(place.path().to_owned(), reason))
        }
    }
}

async fn connect(place: &ArchiveFile, locking: SqliteLockingMode) -> SqlResult<SqliteConnection> {
    SqliteConnectOptions::new()
        .filename(place.resolved_path())
        .locking_mode(locking)
        .busy_timeout(BUSY_TIMEOUT)
        .row_buffer_size(ROWS_AHEAD)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Normal)
        .disable_statement_logging()
        .connect()
        .await
}

/// Marks an empty file as an archive and switches it to a write-ahead log, so that readers and writers do not wait
/// for each other. The mark goes into the file first, so that it can be checked without SQLite.
///
/// SQLite would sync about ten times for these two pages, which takes seconds on a slow card. The file is empty, so
/// one sync at the end is enough.
async fn initialize(connection: &mut SqliteConnection, place: &ArchiveFile) -> Result<(), ArchiveError> {
    if place.state() == ArchiveFileState::Archive {
        return Ok(());
    }
    mark_as_archive(connection, place).await.map_err(|e| ArchiveError::from_database(place.path(), &e))
}

async fn mark_as_archive(connection: &mut SqliteConnection, place: &ArchiveFile) -> SqlResult<()> {
    execute_when_free(connection, "PRAGMA synchronous = OFF").await?;
    // The application id of `archive_file`, in decimal.
    execute_when_free(connection, "PRAGMA application_id = 1129538353").await?;
    execute_when_free(connection, "PRAGMA journal_mode = WAL").await?;
    place.sync()?;
    execute_when_free(connection, "PRAGMA synchronous = NORMAL").await
}

/// Executes a statement, and retries while another process creates the same file.
async fn execute_when_free(connection: &mut SqliteConnection, statement: &'static str) -> SqlResult<()> {
    let mut tries = CREATION_ATTEMPTS;
    loop {
        match connection.execute(statement).await {
            Err(e) if is_busy(&e) && tries > 0 => tries -= 1,
            other => return other.map(|_| ()),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    // SQLITE_BUSY and its extended codes.
    let code = error.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<i64>().ok());
    code.is_some_and(|c| c & 0xff == 5)
}
