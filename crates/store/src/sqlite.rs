//! What is SQLite's own: opening, making and upgrading the file, and how firmly it is written.

use crate::ArchiveError;
use crate::place::Found;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteLockingMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor, query_scalar};
use std::fs::File;
use std::path::Path;
use std::time::Duration;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// How long one Cardscope waits for another's write to end. A write takes milliseconds; on a card that stalls,
/// seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tries to take the file alone while it is being made, 10 ms apart: SQLite does not wait for that by itself.
const CREATION_TRIES: u32 = 500;

/// How firmly a commit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Firmness {
    /// On disk with the next [`Firmness::Now`]; safe against a crash of the process at once.
    Later,
    /// On disk before the call returns.
    Now,
}

/// Opens what lies at `path`, makes or upgrades it where needed. Where that fails it is closed again in order, so
/// that no log of ours stays beside a file that is not for us.
pub(crate) async fn open(path: &Path, found: Found) -> Result<SqliteConnection, ArchiveError> {
    let shared = connect_ready(path, found, SqliteLockingMode::Normal).await;
    match shared {
        // Sharing takes an index of 32 KiB beside the log. Alone, SQLite keeps it in memory, and an archive on a full
        // disk can be read.
        Err(ArchiveError::Full { .. }) if found == Found::Archive => {
            connect_ready(path, found, SqliteLockingMode::Exclusive).await
        }
        other => other,
    }
}

async fn connect_ready(
    path: &Path,
    found: Found,
    locking: SqliteLockingMode,
) -> Result<SqliteConnection, ArchiveError> {
    let failed = |e: sqlx::Error| ArchiveError::of_sqlite(path, &e);
    let mut connection = connect(path, locking).await.map_err(failed)?;
    let error = match ready(&mut connection, path, found).await {
        Ok(version) if version <= newest() => return Ok(connection),
        Ok(version) => ArchiveError::Newer { path: path.to_owned(), found: version, known: newest() },
        Err(e) => failed(e),
    };
    let _ = connection.close().await;
    Err(error)
}

/// Makes or upgrades the archive where needed; its version then.
async fn ready(connection: &mut SqliteConnection, path: &Path, found: Found) -> Result<i64, sqlx::Error> {
    if found == Found::Nothing {
        make(connection, path).await?;
    }
    let version = version(connection).await?;
    if version < newest() {
        upgrade(connection).await?;
        return Ok(newest());
    }
    Ok(version)
}

async fn connect(path: &Path, locking: SqliteLockingMode) -> Result<SqliteConnection, sqlx::Error> {
    SqliteConnectOptions::new()
        .filename(path)
        .locking_mode(locking)
        .busy_timeout(PATIENCE)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Normal)
        .disable_statement_logging()
        .connect()
        .await
}

/// Marks an empty file as an archive and switches it to a write-ahead log, so that reading and writing do not wait
/// for each other. The mark comes first, in the file itself, so that it can be seen without SQLite.
///
/// SQLite would sync some ten times over these two pages, which is seconds on a slow card; nothing is in them yet, so
/// they are synced once, at the end.
async fn make(connection: &mut SqliteConnection, path: &Path) -> Result<(), sqlx::Error> {
    insist(connection, "PRAGMA synchronous = OFF").await?;
    // The application id of `place`, in decimal.
    insist(connection, "PRAGMA application_id = 1129538353").await?;
    insist(connection, "PRAGMA journal_mode = WAL").await?;
    sync(path)?;
    insist(connection, "PRAGMA synchronous = NORMAL").await
}

/// The file's bytes and its name in the folder, both on disk.
fn sync(path: &Path) -> std::io::Result<()> {
    File::open(path)?.sync_all()?;
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Tries again while another process is making the same file.
async fn insist(connection: &mut SqliteConnection, statement: &'static str) -> Result<(), sqlx::Error> {
    let mut tries = CREATION_TRIES;
    loop {
        match connection.execute(statement).await {
            Err(e) if is_busy(&e) && tries > 0 => tries -= 1,
            other => return other.map(|_| ()),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn is_busy(error: &sqlx::Error) -> bool {
    // SQLITE_BUSY and its extended forms.
    let code = error.as_database_error().and_then(|e| e.code()).and_then(|c| c.parse::<i64>().ok());
    code.is_some_and(|c| c & 0xff == 5)
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    query_scalar("PRAGMA user_version").fetch_one(connection).await
}

fn newest() -> i64 {
    MIGRATIONS.iter().map(|m| m.version).max().unwrap_or(0)
}

/// Applies what is missing, all or nothing, one process at a time: sqlx itself takes no lock on SQLite.
async fn upgrade(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    if version(&mut transaction).await? < newest() {
        MIGRATIONS.run(&mut *transaction).await?;
        let note = sqlx::AssertSqlSafe(format!("PRAGMA user_version = {}", newest()));
        transaction.execute(note).await?;
    }
    transaction.commit().await
}

/// Sets how firmly the commits that follow are written.
pub(crate) async fn set(connection: &mut SqliteConnection, firmness: Firmness) -> Result<(), sqlx::Error> {
    let statement = match firmness {
        Firmness::Later => "PRAGMA synchronous = NORMAL",
        Firmness::Now => "PRAGMA synchronous = FULL",
    };
    connection.execute(statement).await.map(|_| ())
}
