//! Common interface of both databases: values, statements, rows and transactions.

mod batch;
mod database;
mod server;
mod value;

pub(crate) use batch::RowBatch;
pub(crate) use database::{Connection, Durability, NOTIFY_CHANNEL, require_one_row};
pub(crate) use server::ServerConnection;
pub(crate) use value::{
    SqlResult, SqlRow, SqlValue, dynamic_statement, json_text, json_value, statement, unreadable,
};
