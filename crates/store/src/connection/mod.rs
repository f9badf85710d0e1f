//! Connection to either database, so that each statement is written once, with batches of rows and timeouts.
//!
//! sqlx's own `Any` supports fewer types than either database. A frozen server or a cut line would be waited for for ever,
//! so a PostgreSQL connection has timeouts.

mod value;

pub(crate) use value::{
    SqlResult, SqlRow, SqlStatement, SqlValue, dynamic_statement, json_text, json_value, parse_json,
    statement, unreadable,
};

use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, SqlStr};
use std::io::{Error, ErrorKind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Survives a crash of the process; on disk with the next [`Durability::Now`].
    Later,
    /// On disk at the commit.
    Now,
}

#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(ServerConnection),
}

/// Asynchronous work on a connection.
pub(crate) trait DatabaseWork<T>: AsyncFnOnce(&mut Connection) -> SqlResult<T> {}
impl<T, F: AsyncFnOnce(&mut Connection) -> SqlResult<T>> DatabaseWork<T> for F {}

impl Connection {
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Connection::Postgres(_))
    }

    /// Runs a statement and returns the number of changed rows.
    pub(crate) async fn execute(&mut self, statement: SqlStatement) -> SqlResult<u64> {
        Ok(match self {
            Connection::Sqlite(c) => statement.sqlite()?.execute(c).await?.rows_affected(),
            Connection::Postgres(c) => {
                let limit = statement_timeout(c.answer_timeout, &statement);
                let done = statement.postgres()?.execute(&mut c.connection);
                with_timeout(limit, done).await?.rows_affected()
            }
        })
    }

    /// Runs several statements without values.
    pub(crate) async fn execute_script(&mut self, text: SqlStr) -> SqlResult<()> {
        match self {
            Connection::Sqlite(c) => sqlx::raw_sql(text).execute(c).await.map(|_| ()),
            Connection::Postgres(c) => {
                let done = sqlx::raw_sql(text).execute(&mut c.connection);
                with_timeout(c.answer_timeout * SCRIPT_TIMEOUT_FACTOR, done).await.map(|_| ())
            }
        }
    }

    /// Reads all rows.
    pub(crate) async fn fetch_all<T: Send + Unpin>(
        &mut self,
        statement: SqlStatement,
        mut read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> SqlResult<Vec<T>> {
        match self {
            Connection::Sqlite(c) => {
                statement.sqlite()?.try_map(|row| read(&SqlRow::Sqlite(row))).fetch_all(c).await
            }
            Connection::Postgres(c) => {
                let (limit, rows) = (statement_timeout(c.answer_timeout, &statement), AtomicU64::new(0));
                let read = |row| {
                    rows.fetch_add(1, Ordering::Relaxed);
                    read(&SqlRow::Postgres(row))
                };
                let all = statement.postgres()?.try_map(read).fetch_all(&mut c.connection);
                with_silence_limit(limit, &rows, all).await
            }
        }
    }

    /// Reads the only row, if there is one.
    pub(crate) async fn fetch_optional<T: Send + Unpin>(
        &mut self,
        statement: SqlStatement,
        read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> SqlResult<Option<T>> {
        Ok(self.fetch_all(statement, read).await?.pop())
    }

    /// Reads the only row; fails if there is none.
    pub(crate) async fn fetch_one<T: Send + Unpin>(
        &mut self,
        statement: SqlStatement,
        read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> SqlResult<T> {
        self.fetch_optional(statement, read).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Runs a transaction that excludes other writers, for work that reads before it writes.
    pub(crate) async fn exclusive<T>(&mut self, work: impl DatabaseWork<T>) -> SqlResult<T> {
        self.transaction(async |c| {
            // SQLite allows one writer at a time anyway.
            if c.is_server() {
                c.execute(statement("SELECT pg_advisory_xact_lock($1)").bind(WRITER_LOCK_KEY)).await?;
            }
            work(c).await
        })
        .await
    }

    /// Runs a transaction and notifies watchers.
    pub(crate) async fn notifying<T>(&mut self, work: impl DatabaseWork<T>) -> SqlResult<T> {
        if !self.is_server() {
            return work(self).await;
        }
        self.transaction(async |c| {
            let done = work(c).await?;
            c.notify_watchers().await.map(|()| done)
        })
        .await
    }

    /// Notifies watchers of changed sessions or cards at the commit. A server merges several calls of one transaction;
    /// SQLite files are polled.
    pub(crate) async fn notify_watchers(&mut self) -> SqlResult<()> {
        if self.is_server() {
            self.execute(statement("SELECT pg_notify($1, '')").bind(NOTIFY_CHANNEL)).await?;
        }
        Ok(())
    }

    async fn transaction<T>(&mut self, work: impl DatabaseWork<T>) -> SqlResult<T> {
        self.run_transaction(if self.is_server() { "BEGIN" } else { "BEGIN IMMEDIATE" }, work).await
    }

    /// Runs reads on one snapshot.
    pub(crate) async fn snapshot<T>(&mut self, work: impl DatabaseWork<T>) -> SqlResult<T> {
        let repeatable = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.run_transaction(if self.is_server() { repeatable } else { "BEGIN" }, work).await
    }

    async fn run_transaction<T>(&mut self, begin: &'static str, work: impl DatabaseWork<T>) -> SqlResult<T> {
        self.execute(statement(begin)).await?;
        let worked = match work(self).await {
            Ok(value) => self.execute(statement("COMMIT")).await.map(|_| value),
            Err(error) => Err(error),
        };
        if worked.as_ref().is_err_and(|error| !self.is_lost(error)) {
            // It fails if the database has rolled back by itself or is gone.
            let _ = self.execute(statement("ROLLBACK")).await;
        }
        worked
    }

    /// True if the connection is lost; the server rolls back by itself then.
    fn is_lost(&self, error: &sqlx::Error) -> bool {
        matches!((self, error), (Connection::Postgres(_), sqlx::Error::Io(_)))
    }

    /// Sets the durability of the commits that follow.
    pub(crate) async fn set_durability(&mut self, durability: Durability) -> SqlResult<()> {
        let text = match (self.is_server(), durability) {
            (false, Durability::Later) => "PRAGMA synchronous = NORMAL",
            (false, Durability::Now) => "PRAGMA synchronous = FULL",
            (true, Durability::Later) => "SET synchronous_commit = off",
            (true, Durability::Now) => "SET synchronous_commit = on",
        };
        self.execute(statement(text)).await.map(|_| ())
    }

    /// Enlarges SQLite's cache to 16 MB for a batch of thousands of logs (a negative number is KiB,
    /// <https://www.sqlite.org/pragma.html#pragma_cache_size>). It overflows the default of 2 MB and would be written twice.
    pub(crate) async fn enlarge_cache(&mut self) -> SqlResult<()> {
        match self.is_server() {
            true => Ok(()),
            false => self.execute(statement("PRAGMA cache_size = -16000")).await.map(drop),
        }
    }

    /// Closes the connection. An error is harmless: commits are kept.
    pub(crate) async fn close(self) {
        let _ = match self {
            Connection::Sqlite(c) => c.close().await,
            Connection::Postgres(c) => with_timeout(CLOSE_TIMEOUT, c.connection.close()).await,
        };
    }
}

/// Factor on the longest silence for a script, which alters the tables of a whole archive.
const SCRIPT_TIMEOUT_FACTOR: u32 = 20;

/// Longest wait for the closing of a server's connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Channel of PostgreSQL's notifications; each database has its own.
pub(crate) const NOTIFY_CHANNEL: &str = "cardscope_changes";

/// Key of PostgreSQL's advisory lock for writers; an arbitrary number: "CSc1".
const WRITER_LOCK_KEY: i64 = 0x4353_6331;

/// Fails as not found unless exactly one row was changed.
pub(crate) fn require_one_row(rows: u64) -> SqlResult<()> {
    if rows == 1 { Ok(()) } else { Err(sqlx::Error::RowNotFound) }
}

#[derive(Debug)]
pub(crate) struct ServerConnection {
    pub(crate) connection: PgConnection,
    /// Longest silence within a statement.
    pub(crate) answer_timeout: Duration,
}

/// Assumed minimum speed of the line in bytes a second: sending a large statement takes time.
const MIN_LINE_SPEED: u64 = 128 << 10;

/// Returns the longest silence allowed for a statement, by its size.
fn statement_timeout(answer: Duration, statement: &SqlStatement) -> Duration {
    let bytes: usize = statement.values.iter().map(value_bytes).sum();
    answer + Duration::from_secs(bytes as u64 / MIN_LINE_SPEED)
}

fn value_bytes(value: &SqlValue) -> usize {
    match value {
        SqlValue::Text(Some(text)) => text.len(),
        SqlValue::Bytes(Some(bytes)) => bytes.len(),
        _ => 0,
    }
}

/// Awaits work, and restarts the timeout with each row.
///
/// # Errors
/// That of the work, or `TimedOut` after a silence.
async fn with_silence_limit<T>(
    limit: Duration,
    rows: &AtomicU64,
    work: impl Future<Output = SqlResult<T>>,
) -> SqlResult<T> {
    let mut work = pin!(work);
    loop {
        let before = rows.load(Ordering::Relaxed);
        match tokio::time::timeout(limit, work.as_mut()).await {
            Ok(done) => return done,
            Err(_) if rows.load(Ordering::Relaxed) != before => {}
            Err(_) => {
                let why = format!("no answer within {} s", limit.as_secs_f64());
                return Err(sqlx::Error::Io(Error::new(ErrorKind::TimedOut, why)));
            }
        }
    }
}

/// Awaits work that returns no rows.
async fn with_timeout<T>(limit: Duration, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
    with_silence_limit(limit, &AtomicU64::new(0), work).await
}

/// Parameters in one statement: below SQLite's 32 766 (SQLITE_MAX_VARIABLE_NUMBER,
/// <https://www.sqlite.org/limits.html>) and PostgreSQL's 65 535 (a 16-bit count in its protocol). More is no faster.
const MAX_PARAMETERS: usize = 2000;

/// Rows for one table, inserted together.
pub(crate) struct RowBatch {
    /// `INSERT INTO table (columns)`, without the values.
    head: &'static str,
    /// Text after the values: `ON CONFLICT …`.
    tail: &'static str,
    columns: usize,
    values: Vec<SqlValue>,
}

impl RowBatch {
    /// `head` lists the columns in brackets; `tail` follows the values.
    pub(crate) fn new(head: &'static str, tail: &'static str) -> Self {
        let columns = head.matches(',').count() + 1;
        RowBatch { head, tail, columns, values: Vec::new() }
    }

    /// Adds a row with one value for each column.
    pub(crate) fn push<const N: usize>(&mut self, row: [SqlValue; N]) {
        debug_assert_eq!(N, self.columns, "{}", self.head);
        self.extend(row);
    }

    /// Adds rows, value by value.
    pub(crate) fn extend(&mut self, values: impl IntoIterator<Item = SqlValue>) {
        self.values.extend(values);
    }

    /// Writes and clears the rows.
    pub(crate) async fn write(&mut self, c: &mut Connection) -> SqlResult<()> {
        let at_once = (MAX_PARAMETERS / self.columns).max(1) * self.columns;
        let mut values = std::mem::take(&mut self.values).into_iter();
        while values.len() > 0 {
            let some: Vec<SqlValue> = values.by_ref().take(at_once).collect();
            let rows = some.len() / self.columns;
            let text = self.insert_text(rows, |at, count| c.placeholders_from(at, count));
            c.execute(dynamic_statement(text).bind_all(some)).await?;
        }
        Ok(())
    }

    fn insert_text(&self, rows: usize, places: impl Fn(usize, usize) -> String) -> String {
        let row = |row: usize| format!("({})", places(row * self.columns + 1, self.columns));
        format!("{} VALUES {} {}", self.head, join_with_commas((0..rows).map(row)), self.tail)
    }
}

impl Connection {
    /// Placeholders of a statement: `$1, $2, $3`.
    pub(crate) fn placeholders(&self, count: usize) -> String {
        self.placeholders_from(1, count)
    }

    /// Selects the rows of all keys in as many statements as needed; `head` ends before `IN`.
    pub(crate) async fn fetch_for_keys<K: Clone + Into<SqlValue>, T: Send + Unpin>(
        &mut self,
        head: &str,
        keys: &[K],
        mut read: impl FnMut(&SqlRow) -> SqlResult<T> + Send,
    ) -> SqlResult<Vec<T>> {
        let mut all = Vec::new();
        for some in keys.chunks(MAX_PARAMETERS) {
            let asked = dynamic_statement(format!("{head} IN ({})", self.placeholders(some.len())));
            all.extend(self.fetch_all(asked.bind_all(some.iter().cloned()), &mut read).await?);
        }
        Ok(all)
    }

    /// Placeholders from number `first` on.
    ///
    /// SQLite searches a name among all names of a statement, which for thousands takes longer than everything else, so
    /// there they are unnamed.
    fn placeholders_from(&self, first: usize, count: usize) -> String {
        match self {
            Connection::Sqlite(_) => join_with_commas(std::iter::repeat_n("?", count)),
            Connection::Postgres(_) => {
                join_with_commas((first..first + count).map(|place| format!("${place}")))
            }
        }
    }
}

fn join_with_commas(places: impl Iterator<Item = impl AsRef<str>>) -> String {
    let mut text = String::new();
    for place in places {
        text.push_str(if text.is_empty() { "" } else { ", " });
        text.push_str(place.as_ref());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(200);

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn timeout_restarts_with_each_row() {
        let rows = AtomicU64::new(0);
        let slow = async {
            for _ in 0..5 {
                tokio::time::sleep(SHORT / 2).await;
                rows.fetch_add(1, Ordering::Relaxed);
            }
            Ok(5)
        };
        assert_eq!(runtime().block_on(with_silence_limit(SHORT, &rows, slow)).unwrap(), 5);
        let silent = runtime().block_on(with_timeout(SHORT, std::future::pending::<SqlResult<()>>()));
        assert!(silent.unwrap_err().to_string().contains("no answer within 0.2 s"));
    }

    #[test]
    fn timeout_grows_with_statement_size() {
        let long = statement("INSERT").bind(vec![0; 64 << 20]);
        assert_eq!(statement_timeout(Duration::from_secs(60), &long), Duration::from_secs(60 + 512));
    }

    #[test]
    fn rows_become_one_statement_with_numbered_placeholders() {
        let rows = RowBatch::new("INSERT INTO rig (hash, words)", "ON CONFLICT (hash) DO NOTHING");
        let numbered =
            |first, count| join_with_commas((first..first + count).map(|place| format!("${place}")));
        assert_eq!(
            rows.insert_text(2, numbered),
            "INSERT INTO rig (hash, words) VALUES ($1, $2), ($3, $4) ON CONFLICT (hash) DO NOTHING"
        );
    }
}
