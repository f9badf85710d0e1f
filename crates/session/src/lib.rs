//! The frame that every verb runs in ([`frame`]), and one module a verb: what the command line and the server offer is done
//! here, once.
//!
//! Nothing here prints, or reads a command line: a request describes its options, and whoever calls fills it. Progress
//! goes to a [`Listener`], questions to whoever can answer them, and what comes back is a finished document or a typed
//! refusal.
#![forbid(unsafe_code)]

mod after_verdict;
pub mod archive;
mod archive_access;
pub mod arguments;
mod attachment;
mod backups;
mod baseline;
pub mod bench;
mod card_bytes;
mod card_identity;
mod card_key;
mod card_state;
pub mod check;
mod checkpoint;
pub mod compare;
pub mod consent;
mod details;
pub mod doctor;
pub mod endure;
pub mod error;

mod card_source;
#[cfg(test)]
mod failed_ios_tests;
mod file_system_tool;
pub mod fit;
pub mod format;
pub mod frame;
pub mod identify;
pub mod import;
pub mod jobs;
mod journals;
pub mod map;
mod not_cards;
pub mod observe;
pub mod opened;
pub mod opening;
pub mod options;
pub mod output_file;
pub mod private_file;
pub mod publish;
pub mod rank;
pub mod recipes;
mod recorder;
pub mod restore;
#[cfg(test)]
mod schedules;
pub mod shelf;
pub mod simulate;
mod spreads;
pub mod state;
mod stored_document;
pub mod sustain;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod verify;

pub use cardscope_engine::event::{self, Event, Listener};
pub use cardscope_engine::interrupt::Interrupt;
pub use cardscope_engine::{pending, pulse};
pub use error::{Failure, Result};
pub use frame::{Common, Outcome, execute};
