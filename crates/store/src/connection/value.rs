//! Values as both databases take them.

use serde::Serialize;
use sqlx::Arguments;
use sqlx::postgres::PgArguments;
use sqlx::sqlite::SqliteArguments;

pub(crate) type Outcome<T> = Result<T, sqlx::Error>;

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

/// A value of ours as the text that stands in a column.
pub(crate) fn json(value: &impl Serialize) -> Outcome<String> {
    serde_json::to_string(value).map_err(|e| sqlx::Error::Encode(Box::new(e)))
}

macro_rules! values {
    ($($kind:ident: $($from:ty => |$it:ident| $inner:expr),+;)+) => {
        $($(impl From<$from> for Value {
            fn from($it: $from) -> Self {
                Value::$kind($inner)
            }
        })+)+
    };
}

values! {
    Text: String => |text| Some(text), &str => |text| Some(text.to_owned()), &String => |text| Some(text.clone()),
        Option<String> => |text| text, &Option<String> => |text| text.clone(),
        Option<&str> => |text| text.map(str::to_owned);
    Int: u32 => |number| Some(i64::from(number)), Option<u32> => |number| number.map(i64::from),
        i64 => |number| Some(number), u64 => |number| Some(signed(number)),
        Option<u64> => |number| number.map(signed);
    Real: f64 => |number| Some(number), Option<f64> => |number| number;
    Bool: bool => |truth| Some(truth);
    Bytes: Vec<u8> => |bytes| Some(bytes);
}

/// Databases have no unsigned 64 bits; no count of bytes or nanoseconds of a card comes near 2^63.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
