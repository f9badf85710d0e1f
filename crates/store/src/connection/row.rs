//! Rows of either database, and what stands in their columns.

use super::value::Outcome;
use serde::de::DeserializeOwned;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Decode, Postgres, Row as _, Sqlite, Type};
use std::str::FromStr;

/// A row that was read.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What both databases can store.
pub(crate) trait Stored:
    Type<Sqlite> + Type<Postgres> + for<'r> Decode<'r, Sqlite> + for<'r> Decode<'r, Postgres>
{
}

impl<T> Stored for T where
    T: Type<Sqlite> + Type<Postgres> + for<'r> Decode<'r, Sqlite> + for<'r> Decode<'r, Postgres>
{
}

/// A column by its name, or by its place from 0 where rows are many.
pub(crate) trait Column: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> + ToString + Copy {}
impl<T: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> + ToString + Copy> Column for T {}

impl Row {
    /// The value of a column.
    pub(crate) fn get<T: Stored>(&self, column: impl Column) -> Outcome<T> {
        match self {
            Row::Sqlite(row) => row.try_get(column),
            Row::Postgres(row) => row.try_get(column),
        }
    }

    /// A column that holds JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: impl Column) -> Outcome<T> {
        parse_json(&self.get::<String>(column)?, column)
    }

    /// A column that may hold JSON.
    pub(crate) fn optional_json<T: DeserializeOwned>(&self, column: impl Column) -> Outcome<Option<T>> {
        self.get::<Option<String>>(column)?.map(|text| parse_json(&text, column)).transpose()
    }

    /// A column whose text is parsed.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, column: impl Column) -> Outcome<T> {
        let text: String = self.get(column)?;
        text.parse().map_err(|e: T::Err| unreadable(column, e.to_string()))
    }

    /// A column that holds a count.
    pub(crate) fn whole<T: TryFrom<i64>>(&self, column: impl Column) -> Outcome<T> {
        in_range(self.get(column)?, column)
    }

    /// A column that may hold a count.
    pub(crate) fn optional_whole<T: TryFrom<i64>>(&self, column: impl Column) -> Outcome<Option<T>> {
        self.get::<Option<i64>>(column)?.map(|number| in_range(number, column)).transpose()
    }
}

fn in_range<T: TryFrom<i64>>(number: i64, column: impl Column) -> Outcome<T> {
    T::try_from(number).map_err(|_| unreadable(column, format!("{number} is out of range")))
}

fn parse_json<T: DeserializeOwned>(text: &str, column: impl Column) -> Outcome<T> {
    serde_json::from_str(text).map_err(|e| unreadable(column, e.to_string()))
}

/// A stored value that is not what it should be.
pub(crate) fn unreadable(column: impl ToString, reason: String) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_string(), source: reason.into() }
}
