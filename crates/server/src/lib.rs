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
mod hosts;
mod json_body;
mod peer;
mod poison;
mod redirect_page;
mod refusal;
mod rendering;
mod request;
mod routes;
mod serving;
mod state;
mod tasks;
mod token;
mod uploads;

pub use request::ServeRequest;
pub use routes::openapi;
pub use serving::{OnServerStart, StartedServer, serve};
pub use token::AccessToken;
