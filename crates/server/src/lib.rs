//! HTTP server for the archive and the tests: a JSON API with its OpenAPI document, an event stream, and the web app.
//!
//! The server itself never tests or judges. The crates of the verbs do the work, every test runs as a child process of
//! the same program (`tasks`), and `page` renders the results.
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
