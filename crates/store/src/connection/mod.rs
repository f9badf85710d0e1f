//! One connection to either database, so that everything above it writes each statement once.
//!
//! sqlx has a type for that itself (`Any`), which knows fewer types than either database; hence these few lines.

mod batch;
mod row;
mod server;
mod value;

pub(crate) use batch::{Rows, in_chunks};
pub(crate) use row::{Row, unreadable};
pub(crate) use server::Server;
pub(crate) use value::Value;

use crate::firmness::Firmness;
use crate::{postgres, sqlite};
use server::{answered, ended, patience};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection as _, Postgres, SqlSafeStr, SqlStr, Sqlite, query_with};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub(crate) type Outcome<T> = Result<T, sqlx::Error>;

/// An open database.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(Server),
}

/// A statement with its values, `$1` first.
#[derive(Debug)]
pub(crate) struct Statement {
    text: SqlStr,
    values: Vec<Value>,
}

/// A statement without values yet.
pub(crate) fn statement(text: &'static str) -> Statement {
    Statement { text: text.into_sql_str(), values: Vec::new() }
}

/// A statement whose text was put together here; never of anything that came from outside.
pub(crate) fn composed(text: String) -> Statement {
    Statement { text: AssertSqlSafe(text).into_sql_str(), values: Vec::new() }
}

impl Statement {
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    pub(crate) fn bind_all(mut self, values: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        self.values.extend(values.into_iter().map(Into::into));
        self
    }

    fn sqlite<'q>(self) -> Outcome<Query<'q, Sqlite, SqliteArguments>> {
        Ok(query_with(self.text, value::sqlite(self.values)?))
    }

    fn postgres<'q>(self) -> Outcome<Query<'q, Postgres, PgArguments>> {
        Ok(query_with(self.text, value::postgres(self.values)?))
    }
}

impl Connection {
    /// Runs a statement; how many rows it changed.
    pub(crate) async fn execute(&mut self, statement: Statement) -> Outcome<u64> {
        Ok(match self {
            Connection::Sqlite(c) => statement.sqlite()?.execute(c).await?.rows_affected(),
            Connection::Postgres(c) => {
                let patience = patience(c.answer, &statement);
                let done = statement.postgres()?.execute(&mut c.connection);
                ended(patience, done).await?.rows_affected()
            }
        })
    }

    /// Runs several statements without values.
    pub(crate) async fn script(&mut self, text: SqlStr) -> Outcome<()> {
        match self {
            Connection::Sqlite(c) => sqlx::raw_sql(text).execute(c).await.map(|_| ()),
            Connection::Postgres(c) => {
                ended(c.answer * SCRIPT, sqlx::raw_sql(text).execute(&mut c.connection)).await.map(|_| ())
            }
        }
    }

    /// Every row, one after the other; none is kept.
    pub(crate) async fn all<T: Send + Unpin>(
        &mut self,
        statement: Statement,
        mut read: impl FnMut(&Row) -> Outcome<T> + Send,
    ) -> Outcome<Vec<T>> {
        match self {
            Connection::Sqlite(c) => {
                statement.sqlite()?.try_map(|row| read(&Row::Sqlite(row))).fetch_all(c).await
            }
            Connection::Postgres(c) => {
                let (patience, rows) = (patience(c.answer, &statement), AtomicU64::new(0));
                let read = |row| {
                    rows.fetch_add(1, Ordering::Relaxed);
                    read(&Row::Postgres(row))
                };
                answered(patience, &rows, statement.postgres()?.try_map(read).fetch_all(&mut c.connection))
                    .await
            }
        }
    }

    /// The only row, if there is one.
    pub(crate) async fn optional<T: Send + Unpin>(
        &mut self,
        statement: Statement,
        read: impl FnMut(&Row) -> Outcome<T> + Send,
    ) -> Outcome<Option<T>> {
        Ok(self.all(statement, read).await?.pop())
    }

    /// The only row.
    pub(crate) async fn one<T: Send + Unpin>(
        &mut self,
        statement: Statement,
        read: impl FnMut(&Row) -> Outcome<T> + Send,
    ) -> Outcome<T> {
        self.optional(statement, read).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// All of the work or nothing of it, while nobody else does such work: for what first looks and then writes.
    pub(crate) async fn alone<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        self.together(async |c| {
            // SQLite has one writer at a time anyway.
            if let Connection::Postgres(_) = c {
                c.execute(statement("SELECT pg_advisory_xact_lock($1)").bind(WRITERS)).await?;
            }
            work(c).await
        })
        .await
    }

    /// All of the work or nothing of it.
    pub(crate) async fn together<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        let sqlite = matches!(self, Connection::Sqlite(_));
        self.transaction(if sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" }, work).await
    }

    /// Several looks at the archive as it is at one moment.
    pub(crate) async fn at_once<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        let sqlite = matches!(self, Connection::Sqlite(_));
        let begin = if sqlite { "BEGIN" } else { "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" };
        self.transaction(begin, work).await
    }

    async fn transaction<T>(
        &mut self,
        begin: &'static str,
        work: impl AsyncFnOnce(&mut Connection) -> Outcome<T>,
    ) -> Outcome<T> {
        self.execute(statement(begin)).await?;
        let worked = match work(self).await {
            Ok(value) => self.execute(statement("COMMIT")).await.map(|_| value),
            Err(error) => Err(error),
        };
        if worked.as_ref().is_err_and(|error| !self.is_lost(error)) {
            // It fails where the database has rolled back by itself, or is gone.
            let _ = self.execute(statement("ROLLBACK")).await;
        }
        worked
    }

    /// True where nothing more can be asked on this connection: a server that nobody reaches rolls back by itself.
    fn is_lost(&self, error: &sqlx::Error) -> bool {
        matches!((self, error), (Connection::Postgres(_), sqlx::Error::Io(_)))
    }

    /// Sets how firmly the commits that follow are written.
    pub(crate) async fn set(&mut self, firmness: Firmness) -> Outcome<()> {
        let text = match self {
            Connection::Sqlite(_) => sqlite::firmness(firmness),
            Connection::Postgres(_) => postgres::firmness(firmness),
        };
        self.execute(statement(text)).await.map(|_| ())
    }

    /// Closes it in order. Failing costs nothing: what was committed is kept.
    pub(crate) async fn close(self) {
        let _ = match self {
            Connection::Sqlite(c) => c.close().await,
            Connection::Postgres(c) => ended(FAREWELL, c.connection.close()).await,
        };
    }
}

/// So many times as long as a statement may a script take: it alters tables of a whole archive.
const SCRIPT: u32 = 20;

/// How long a server is given to hear that it is no longer needed.
const FAREWELL: Duration = Duration::from_secs(2);

/// The lock that writers of whole sets of rows hold in PostgreSQL; any number that others will not take: "CSc1".
const WRITERS: i64 = 0x4353_6331;

/// An update that found nothing to update names something that is not there.
pub(crate) fn found(rows: u64) -> Outcome<()> {
    if rows == 1 { Ok(()) } else { Err(sqlx::Error::RowNotFound) }
}
