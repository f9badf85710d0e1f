//! A statement on its way to either database.

use super::value::{self, Outcome, Value};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Postgres, SqlSafeStr, SqlStr, Sqlite, query_with};

/// A statement with its values, `$1` first.
#[derive(Debug)]
pub(crate) struct Statement {
    text: SqlStr,
    pub(super) values: Vec<Value>,
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

    pub(super) fn sqlite<'q>(self) -> Outcome<Query<'q, Sqlite, SqliteArguments>> {
        Ok(query_with(self.text, value::sqlite(self.values)?))
    }

    pub(super) fn postgres<'q>(self) -> Outcome<Query<'q, Postgres, PgArguments>> {
        Ok(query_with(self.text, value::postgres(self.values)?))
    }
}
