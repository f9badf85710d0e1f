//! The archive and the test bench for any browser: an API over HTTP and JSON with its OpenAPI document, events as they happen,
//! and the app's files.
//!
//! Nothing here tests or judges: what is asked for is done by `session`, a test by the program itself in a process of its own
//! (`tasks`), and shown by `report`.
#![forbid(unsafe_code)]

pub mod api;
mod app;
mod claim;
mod door;
mod hub;
mod problem;
mod records;
mod request;
mod routes;
mod serving;
mod shelf;
mod tasks;
mod token;
mod uploads;
mod watch;

pub use request::Request;
pub use routes::openapi;
pub use serving::{Announce, serve};
pub use token::Token;

use door::Hosts;
use hub::Hub;
use shelf::Shelf;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tasks::Tasks;
use uploads::Uploads;

/// What all requests share.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) hosts: Hosts,
    pub(crate) token: Token,
    pub(crate) archive: Option<PathBuf>,
    /// Whether fixed disks and loop devices are listed, too.
    pub(crate) all_devices: bool,
    pub(crate) hub: Arc<Hub>,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) shelf: Shelf,
    pub(crate) uploads: Uploads,
    /// True once it is about to end: streams of events end with it.
    pub(crate) closing: tokio::sync::watch::Sender<bool>,
}

/// What a lock guards, also where whoever held it before panicked: each change is whole.
pub(crate) fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
