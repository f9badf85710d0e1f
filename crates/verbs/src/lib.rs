//! The list of all verbs on a card: options, what they do to the card, and the page that each document becomes.
#![forbid(unsafe_code)]

pub mod description;
pub mod list;
pub mod request;
#[cfg(feature = "schema")]
mod schema;
