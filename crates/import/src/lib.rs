//! Logs of other tools, understood: one module a foreign format, each a pure function from text to [`Log`]s.
//!
//! Formats are recognised by content, never by a file's name. Figures come out in true units (MB/s is 10^6 bytes a
//! second) with what the tool printed beside them; which tool prints what is said at each format, and in
//! `docs/import.md`. Nothing here reads a file or touches a database.
#![forbid(unsafe_code)]

mod amount;
mod as_ssd;
mod card_name;
mod cdm_fio;
mod dates;
mod disk_mark;
#[cfg(test)]
mod effort;
mod error;
mod figures;
mod fio;
mod formats;
mod identity;
pub mod invariants;
mod json;
mod mixed;
mod mojibake;
mod notes;
mod numbers;
mod page;
mod parts;
mod probe;
mod runs;
mod sanitize;
mod speed;
mod table;
mod text;

pub use error::ImportError;
pub use formats::{Format, formats};
pub use text::Text;

use cardscope_model::log::Log;

/// Reads a log. Most hold one card; a page that compares cards holds several, and a file may hold the logs of several tools.
///
/// # Errors
/// If no format knows it, or one does and nothing in it can be read.
pub fn read(bytes: &[u8]) -> Result<Vec<Log>, ImportError> {
    mixed::read(&Text::decode(bytes))
}
