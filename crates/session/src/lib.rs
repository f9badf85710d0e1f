//! Session frame of all verbs ([`frame`]), and what they share: opening, consent, journals, backups, archive access,
//! options, output files.
//!
//! This crate prints nothing and parses no command line. Callers fill the requests; progress goes to a [`Listener`],
//! questions to a consent source, and the result is a document or a typed failure.
#![forbid(unsafe_code)]

pub mod after_verdict;
pub mod archive_access;
pub mod arguments;
pub mod attachment;
pub mod backups;
pub mod card_bytes;
pub mod card_identity;
pub mod card_key;
pub mod consent;
pub mod error;

pub mod file_system_tool;
pub mod frame;
pub mod journals;
pub mod open_target;
pub mod opening;
pub mod option_json;
pub mod options;
pub mod output_file;
pub mod recorder;
pub mod secret_file;
pub mod simulated_cards;
pub mod spreads;
pub mod state_file;
#[cfg(test)]
mod test_support;

pub use cardscope_engine::event::Listener;
pub use cardscope_engine::interrupt::InterruptFlag;
pub use cardscope_engine::pending;
pub use error::{Failure, Result};
pub use frame::{CommonOptions, VerbOutcome, execute_verb};
