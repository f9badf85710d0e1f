//! What a test overwrites, and how it comes back: the journal, in which every place is saved before it is written to; an
//! image of the whole card; and putting both back.
//!
//! Nothing here looks for devices: the open card is a [`Target`](cardscope_engine::target::Target), and what else must be
//! known of it (its name, whether a folder lies on it) is handed in. `docs/journal.md` has both formats.
#![forbid(unsafe_code)]

pub mod backup;
mod changed;
mod error;
pub mod folder;
mod journal;
pub mod put_back;
mod record;
pub mod returned;
mod scan;
pub mod search;
pub mod survey;
mod tally;
pub mod witness;

pub use error::{JournalFailure, UnusableJournal};
pub use journal::Journal;
pub use record::{BlockFingerprint, JournalFacts};
pub use scan::{JournalCompleteness, JournalDamage, is_journal};
pub use survey::JournalPart;
