//! HTTP server for the archive and the tests: a JSON API with its OpenAPI document, an event stream, and the web app.
//!
//! The server itself never tests or judges. The crates of the verbs do the work, every test runs as a child process of
//! the same program (`tasks`), and `page` renders the results.
#![forbid(unsafe_code)]

pub mod api;
mod app;
mod auth;
mod card_index;
mod change_watchers;
mod claim;
mod connections;
mod event_log;
mod extract;
mod peer;
mod poison;
mod refusal;
mod rendering;
mod routes;
mod serving;
mod state;
mod tasks;
mod token;
mod uploads;

pub use routes::openapi;
pub use serving::{OnServerStart, ServeRequest, StartedServer, serve};
pub use token::AccessToken;
