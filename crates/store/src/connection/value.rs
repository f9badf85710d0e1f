//! Values as both databases take them.

use super::Outcome;
use sqlx::Arguments;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;

/// A value, or the lack of one of a known type: PostgreSQL wants to know the type also of what is not there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Real(Option<f64>),
    Bool(Option<bool>),
    Bytes(Option<Vec<u8>>),
}

pub(super) fn sqlite(values: Vec<Value>) -> Outcome<SqliteArguments> {
    let mut arguments = SqliteArguments::default();
    for value in values {
        match value {
            Value::Text(v) => arguments.add(v),
            Value::Int(v) => arguments.add(v),
            Value::Real(v) => arguments.add(v),
            Value::Bool(v) => arguments.add(v),
            Value::Bytes(v) => arguments.add(v),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

pub(super) fn postgres(values: Vec<Value>) -> Outcome<PgArguments> {
    let mut arguments = PgArguments::default();
    for value in values {
        match value {
            Value::Text(v) => arguments.add(v.map(without_nul)),
            Value::Int(v) => arguments.add(v),
            Value::Real(v) => arguments.add(v),
            Value::Bool(v) => arguments.add(v),
            Value::Bytes(v) => arguments.add(v),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// PostgreSQL's texts hold every character but U+0000; the sign for "unknown character" stands in its place.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(Some(text))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(Some(text.to_owned()))
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(Some(text.clone()))
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Self {
        Value::Text(text)
    }
}

impl From<&Option<String>> for Value {
    fn from(text: &Option<String>) -> Self {
        Value::Text(text.clone())
    }
}

impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Self {
        Value::Text(text.map(str::to_owned))
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(Some(i64::from(number)))
    }
}

/// Databases have no unsigned 64 bits; no count of bytes or nanoseconds of a card comes near 2^63.
impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Int(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(Some(number))
    }
}

impl From<Option<u64>> for Value {
    fn from(number: Option<u64>) -> Self {
        number.map_or(Value::Int(None), Value::from)
    }
}

impl From<Option<u32>> for Value {
    fn from(number: Option<u32>) -> Self {
        number.map_or(Value::Int(None), Value::from)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Real(Some(number))
    }
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Self {
        Value::Real(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Self {
        Value::Bool(Some(truth))
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(Some(bytes))
    }
}
