//! One function a use case: what the command line and the server offer is done here, once.
//!
//! Nothing here prints or parses arguments. Progress goes to a [`Listener`], questions to whoever can answer them,
//! and what comes back is a finished document or a typed refusal.
#![forbid(unsafe_code)]

pub mod archive;
pub mod bench;
pub mod consent;
pub mod error;
pub mod event;
pub mod identify;
pub mod opening;
pub mod simulate;
pub mod verify;
mod watching;

pub use error::Failure;
pub use event::{Event, Listener};
