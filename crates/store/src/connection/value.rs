//! Converts statement parameters and columns for both databases.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments, AssertSqlSafe, ColumnIndex, Database, Decode, Postgres, Row as _, SqlSafeStr, SqlStr, Sqlite,
    Type, query_with,
};
use std::fmt::Display;
use std::str::FromStr;

pub(crate) type SqlResult<T> = Result<T, sqlx::Error>;

/// A parameter. NULL has a type as well, which PostgreSQL demands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SqlValue {
    Text(Option<String>),
    Int(Option<i64>),
    Real(Option<f64>),
    Bool(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

/// Defines the conversion of values into the arguments of a database; `$text` converts texts.
macro_rules! arguments {
    ($name:ident, $arguments:ty, $text:expr) => {
        fn $name(values: Vec<SqlValue>) -> SqlResult<$arguments> {
            let mut arguments = <$arguments>::default();
            for value in values {
                match value {
                    SqlValue::Text(v) => arguments.add(v.map($text)),
                    SqlValue::Int(v) => arguments.add(v),
                    SqlValue::Real(v) => arguments.add(v),
                    SqlValue::Bool(v) => arguments.add(v),
                    SqlValue::Bytes(v) => arguments.add(v),
                }
                .map_err(sqlx::Error::Encode)?;
            }
            Ok(arguments)
        }
    };
}

arguments!(sqlite, SqliteArguments, std::convert::identity);
arguments!(postgres, PgArguments, without_nul);

/// Replaces U+0000, which PostgreSQL's texts cannot hold, by U+FFFD.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// Serializes a value as the text of a column.
pub(crate) fn json_text(value: &impl Serialize) -> SqlResult<String> {
    serde_json::to_string(value).map_err(|e| sqlx::Error::Encode(Box::new(e)))
}

/// Serializes a value as JSON that can be changed before it is stored.
pub(crate) fn json_value(value: &impl Serialize) -> SqlResult<serde_json::Value> {
    serde_json::to_value(value).map_err(|e| sqlx::Error::Encode(Box::new(e)))
}

macro_rules! values {
    ($($kind:ident: $($from:ty => |$it:ident| $inner:expr),+;)+) => {
        $($(impl From<$from> for SqlValue {
            fn from($it: $from) -> Self {
                SqlValue::$kind($inner)
            }
        })+)+
    };
}

values! {
    Text: String => |text| Some(text), &str => |text| Some(text.to_owned()), &String => |text| Some(text.clone()),
        Option<String> => |text| text, &Option<String> => |text| text.clone(),
        Option<&str> => |text| text.map(str::to_owned);
    Int: u32 => |number| Some(i64::from(number)), Option<u32> => |number| number.map(i64::from),
        i64 => |number| Some(number), u64 => |number| Some(clamp_to_i64(number)),
        Option<u64> => |number| number.map(clamp_to_i64);
    Real: f64 => |number| Some(number), Option<f64> => |number| number;
    Bool: bool => |truth| Some(truth);
    Bytes: Vec<u8> => |bytes| Some(bytes);
}

/// Clamps at 2^63 - 1: databases have no unsigned 64-bit type, and no count of a card comes near.
fn clamp_to_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A statement with its parameters, `$1` first.
#[derive(Debug)]
pub(crate) struct SqlStatement {
    text: SqlStr,
    pub(crate) values: Vec<SqlValue>,
}

pub(crate) fn statement(text: &'static str) -> SqlStatement {
    SqlStatement { text: text.into_sql_str(), values: Vec::new() }
}

/// Statement of a text assembled here, which must never contain foreign input.
pub(crate) fn dynamic_statement(text: String) -> SqlStatement {
    SqlStatement { text: AssertSqlSafe(text).into_sql_str(), values: Vec::new() }
}

impl SqlStatement {
    pub(crate) fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    pub(crate) fn bind_all(mut self, values: impl IntoIterator<Item = impl Into<SqlValue>>) -> Self {
        self.values.extend(values.into_iter().map(Into::into));
        self
    }

    pub(crate) fn sqlite<'q>(self) -> SqlResult<Query<'q, Sqlite, SqliteArguments>> {
        Ok(query_with(self.text, sqlite(self.values)?))
    }

    pub(crate) fn postgres<'q>(self) -> SqlResult<Query<'q, Postgres, PgArguments>> {
        Ok(query_with(self.text, postgres(self.values)?))
    }
}

pub(crate) enum SqlRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Types that both databases can decode.
pub(crate) trait SqlStored: StoredIn<Sqlite> + StoredIn<Postgres> {}
impl<T: StoredIn<Sqlite> + StoredIn<Postgres>> SqlStored for T {}

pub(crate) trait StoredIn<D: Database>: Type<D> + for<'r> Decode<'r, D> {}
impl<D: Database, T: Type<D> + for<'r> Decode<'r, D>> StoredIn<D> for T {}

/// A column by name, or by index from 0 where rows are many.
pub(crate) trait SqlColumn: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> + ToString + Copy {}
impl<T: ColumnIndex<SqliteRow> + ColumnIndex<PgRow> + ToString + Copy> SqlColumn for T {}

impl SqlRow {
    pub(crate) fn get<T: SqlStored>(&self, column: impl SqlColumn) -> SqlResult<T> {
        match self {
            SqlRow::Sqlite(row) => row.try_get(column),
            SqlRow::Postgres(row) => row.try_get(column),
        }
    }

    pub(crate) fn get_json<T: DeserializeOwned>(&self, column: impl SqlColumn) -> SqlResult<T> {
        parse_json(&self.get::<String>(column)?, column)
    }

    pub(crate) fn get_optional_json<T: DeserializeOwned>(&self, at: impl SqlColumn) -> SqlResult<Option<T>> {
        self.get::<Option<String>>(at)?.map(|text| parse_json(&text, at)).transpose()
    }

    /// Parses the text of a column.
    pub(crate) fn get_parsed<T: FromStr<Err: Display>>(&self, column: impl SqlColumn) -> SqlResult<T> {
        let text: String = self.get(column)?;
        text.parse().map_err(|e: T::Err| unreadable(column, e))
    }

    /// Reads a count and checks its range.
    pub(crate) fn get_integer<T: TryFrom<i64>>(&self, column: impl SqlColumn) -> SqlResult<T> {
        in_range(self.get(column)?, column)
    }

    pub(crate) fn get_optional_integer<T: TryFrom<i64>>(&self, at: impl SqlColumn) -> SqlResult<Option<T>> {
        self.get::<Option<i64>>(at)?.map(|number| in_range(number, at)).transpose()
    }
}

fn in_range<T: TryFrom<i64>>(number: i64, column: impl SqlColumn) -> SqlResult<T> {
    T::try_from(number).map_err(|_| unreadable(column, format!("{number} is out of range")))
}

pub(crate) fn parse_json<'a, T: Deserialize<'a>>(text: &'a str, column: impl ToString) -> SqlResult<T> {
    serde_json::from_str(text).map_err(|e| unreadable(column, e))
}

/// Error for a stored value that is invalid.
pub(crate) fn unreadable(column: impl ToString, reason: impl ToString) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_string(), source: reason.to_string().into() }
}
