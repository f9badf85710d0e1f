//! Saves the data that a test is going to overwrite, in a journal or in an image of the whole card, and restores it.
//!
//! Nothing here opens devices: callers pass an open [`Target`](cardscope_engine::target::Target), its name, and a check
//! whether a folder lies on it. `docs/journal.md` describes both formats.
#![forbid(unsafe_code)]

pub mod backup;
mod change_list;
mod error;
pub mod folder;
mod journal;
mod record;
pub mod restore_outcome;
pub mod restoring;
mod scan;
pub mod search;
pub mod survey;
mod tally;

pub use error::{JournalFailure, UnusableJournal};
pub use journal::Journal;
pub use record::{BlockFingerprint, JournalFacts};
pub use scan::{JournalCompleteness, JournalDamage, is_journal};
pub use survey::JournalPart;
