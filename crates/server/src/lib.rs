//! The archive and the test bench for any browser: an API over HTTP and JSON with its OpenAPI document, events as they happen,
//! and the app's files.
//!
//! Nothing here tests or judges: what is asked for is done by `session`, a test by the program itself in a process of its own
//! (`tasks`), and shown by `report`.
#![forbid(unsafe_code)]

pub mod api;
mod app;
mod claim;
mod connections;
mod door;
mod hosts;
mod hub;
mod locked;
mod open_page;
mod peer;
mod problem;
mod records;
mod request;
mod routes;
mod sent;
mod serving;
mod shelf;
mod state;
mod tasks;
mod token;
mod uploads;
mod watch;

pub use request::ServeRequest;
pub use routes::openapi;
pub use serving::{OnServerStart, StartedServer, serve};
pub use token::AccessToken;
