//! Either database behind one face: values, statements, rows and transactions.

mod batch;
mod database;
mod row;
mod server;
mod statement;
mod value;

pub(crate) use batch::{Rows, in_chunks};
pub(crate) use database::{Connection, Durability, found};
pub(crate) use row::{Row, unreadable};
pub(crate) use server::Server;
pub(crate) use statement::{composed, statement};
pub(crate) use value::{Outcome, Value, json};
