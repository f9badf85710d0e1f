//! Either database behind one face: values, statements, rows and transactions.

mod batch;
mod database;
mod server;
mod value;

pub(crate) use batch::Rows;
pub(crate) use database::{CHANNEL, Connection, Durability, found};
pub(crate) use server::Server;
pub(crate) use value::{Outcome, Row, Value, composed, json, statement, tree, unreadable};
