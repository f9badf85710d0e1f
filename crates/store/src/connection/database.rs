//! Connection to either database, so that each statement is written once.
//!
//! sqlx's own `Any` supports fewer types than either database.

use super::server::{ServerConnection, statement_timeout, with_silence_limit, with_timeout};
use super::value::{SqlResult, SqlRow, SqlStatement, statement};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, SqlStr};
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

impl Connection {
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Connection::Postgres(_))
    }

    /// Runs a statement and returns the number of changed rows.
    pub(crate) async fn execute(&mut self, statement: SqlStatement) -> SqlResult<u64> {
        Ok(match self {
            Connection::Sqlite(c) => statement.sqlite()?.execute(c).await?.rows_affected(),
            Connection::Postgres(c) => {
                let patience = statement_timeout(c.answer_timeout, &statement);
                let done = statement.postgres()?.execute(&mut c.connection);
                with_timeout(patience, done).await?.rows_affected()
            }
        })
    }

    /// Runs several statements without values.
    pub(crate) async fn execute_script(&mut self, text: SqlStr) -> SqlResult<()> {
        match self {
            Connection::Sqlite(c) => sqlx::raw_sql(text).execute(c).await.map(|_| ()),
            Connection::Postgres(c) => with_timeout(
                c.answer_timeout * SCRIPT_TIMEOUT_FACTOR,
                sqlx::raw_sql(text).execute(&mut c.connection),
            )
            .await
            .map(|_| ()),
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
                let (patience, rows) = (statement_timeout(c.answer_timeout, &statement), AtomicU64::new(0));
                let read = |row| {
                    rows.fetch_add(1, Ordering::Relaxed);
                    read(&SqlRow::Postgres(row))
                };
                with_silence_limit(
                    patience,
                    &rows,
                    statement.postgres()?.try_map(read).fetch_all(&mut c.connection),
                )
                .await
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
    pub(crate) async fn exclusive<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> SqlResult<T> {
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
    pub(crate) async fn notifying<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> SqlResult<T> {
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

    /// Runs a transaction.
    pub(crate) async fn transaction<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.run_transaction(if self.is_server() { "BEGIN" } else { "BEGIN IMMEDIATE" }, work).await
    }

    /// Runs reads on one snapshot.
    pub(crate) async fn snapshot<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let as_it_is = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.run_transaction(if self.is_server() { as_it_is } else { "BEGIN" }, work).await
    }

    async fn run_transaction<T>(
        &mut self,
        begin: &'static str,
        work: impl AsyncFnOnce(&mut Connection) -> SqlResult<T>,
    ) -> SqlResult<T> {
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
