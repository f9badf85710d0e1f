//! Common interface of both databases: values, statements, rows and transactions.

mod batch;
mod database;
mod server;
mod value;

pub(crate) use batch::RowBatch;
pub(crate) use database::{CHANNEL, Connection, Durability, found};
pub(crate) use server::ServerConnection;
pub(crate) use value::{SqlResult, SqlRow, SqlValue, composed, json, statement, tree, unreadable};
