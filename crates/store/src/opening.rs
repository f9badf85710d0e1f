//! Opens the database: SQLite's file is created and checked, a PostgreSQL server connected.
//!
//! Parts that a server's address leaves out come from `PGHOST`, `PGUSER`, `PGPASSWORD` and `~/.pgpass`, as in libpq. The
//! connection is not encrypted; use a tunnel in a foreign network.

use crate::address::DatabaseAddress;
use crate::archive_file::{ArchiveFile, ArchiveFileState};
use crate::connection::{
    Connection, Durability, ServerConnection, SqlResult, SqlRow, dynamic_statement, statement,
};
use crate::error::{ArchiveError, Result};
use crate::migration;
use sqlx::ConnectOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteLockingMode, SqliteSynchronous};
use std::time::Duration;

/// Longest wait for another process's write, which takes milliseconds, or seconds on a card that stalls.
const BUSY_TIMEOUT: Duration = Duration::from_secs(20);

/// Attempts to lock a file that is being created, 10 ms apart: SQLite's busy timeout does not cover that.
const CREATION_ATTEMPTS: u32 = 500;

/// Rows that SQLite's thread reads ahead: with the default of 50 the two threads mostly wake each other.
const ROWS_AHEAD: usize = 1000;

/// Opens, creates or upgrades the archive. On failure the connection is closed, so that no log of ours stays next to a
/// foreign file.
pub(crate) async fn open_file(place: &ArchiveFile) -> Result<Connection> {
    match open_writable(place, SqliteLockingMode::Normal).await {
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
async fn open_read_only(place: &ArchiveFile) -> Result<Connection> {
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

async fn open_writable(place: &ArchiveFile, locking: SqliteLockingMode) -> Result<Connection> {
    let file = connect(place, locking).await.map_err(|e| ArchiveError::from_database(place.path(), &e))?;
    let mut connection = Connection::Sqlite(file);
    match prepare_file(&mut connection, place).await {
        Ok(()) => Ok(connection),
        Err(error) => {
            connection.close().await;
            Err(error)
        }
    }
}

/// SQLite opens its files by name, so the name is checked both before and after anything is written.
async fn prepare_file(connection: &mut Connection, place: &ArchiveFile) -> Result<()> {
    place.check_unchanged()?;
    if place.state() == ArchiveFileState::Empty {
        let marked = mark_as_archive(connection, place).await;
        marked.map_err(|e| ArchiveError::from_database(place.path(), &e))?;
    }
    check_schema(connection, place).await?;
    migration::ensure_current(connection, place.path()).await?;
    place.check_unchanged()
}

/// Refuses a schema that is not UTF-8, on which sqlx would panic (`StatementHandle::column_decltype`). Read as blobs,
/// the texts are safe.
async fn check_schema(connection: &mut Connection, place: &ArchiveFile) -> Result<()> {
    let schema = statement(
        "SELECT CAST(name AS BLOB), CAST(tbl_name AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema ORDER BY rowid",
    );
    let is_text = |row: &SqlRow| {
        let texts = [row.get::<Option<Vec<u8>>>(0)?, row.get(1)?, row.get(2)?];
        Ok(texts.iter().flatten().all(|text| std::str::from_utf8(text).is_ok()))
    };
    let objects = connection.fetch_all(schema, is_text).await;
    let objects = objects.map_err(|e| ArchiveError::from_database(place.path(), &e))?;
    let Some(at) = objects.iter().position(|is_text| !is_text) else { return Ok(()) };
    let reason = format!("object {} of its schema is not UTF-8 text", at + 1);
    Err(ArchiveError::Damaged(place.path().to_owned(), reason))
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
async fn mark_as_archive(connection: &mut Connection, place: &ArchiveFile) -> SqlResult<()> {
    execute_when_free(connection, "PRAGMA synchronous = OFF").await?;
    // The application id of `archive_file`, in decimal.
    execute_when_free(connection, "PRAGMA application_id = 1129538353").await?;
    execute_when_free(connection, "PRAGMA journal_mode = WAL").await?;
    place.sync()?;
    execute_when_free(connection, "PRAGMA synchronous = NORMAL").await
}

/// Executes a statement, and retries while another process creates the same file.
async fn execute_when_free(connection: &mut Connection, text: &'static str) -> SqlResult<()> {
    let mut tries = CREATION_ATTEMPTS;
    loop {
        match connection.execute(statement(text)).await {
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

/// Longest wait for a connection, and for locks that others hold.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// Default of the longest silence within a statement. Longer than [`CONNECT_TIMEOUT`], which bounds the wait for locks, and
/// than a busy disk needs to sync a large batch.
pub(crate) const DEFAULT_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Opens the database, and creates or upgrades its tables.
pub(crate) async fn open_server(address: &DatabaseAddress, answer_timeout: Duration) -> Result<Connection> {
    let shown = address.redacted();
    let failed = |e: sqlx::Error| ArchiveError::from_database(&shown, &e);
    let silence = || format!("no answer within {} s", CONNECT_TIMEOUT.as_secs());
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, parse_options(address)?.connect()).await;
    let connected = connected.map_err(|_| ArchiveError::Unreachable(shown.clone(), silence()))?;
    let connection = connected.map_err(failed)?;
    let mut connection = Connection::Postgres(ServerConnection { connection, answer_timeout });
    prepare_connection(&mut connection).await.map_err(failed)?;
    migration::ensure_current(&mut connection, &shown).await?;
    Ok(connection)
}

/// Parses the connection options of an address.
pub(crate) fn parse_options(address: &DatabaseAddress) -> Result<PgConnectOptions> {
    let wrong = |e: sqlx::Error| ArchiveError::Open(address.redacted(), e.to_string());
    let options: PgConnectOptions = address.url.parse().map_err(wrong)?;
    Ok(options.application_name("cardscope").disable_statement_logging())
}

async fn prepare_connection(c: &mut Connection) -> SqlResult<()> {
    c.execute(dynamic_statement(format!("SET lock_timeout = '{}s'", CONNECT_TIMEOUT.as_secs()))).await?;
    c.execute(statement("SET client_min_messages = warning")).await?;
    c.set_durability(Durability::Later).await
}
