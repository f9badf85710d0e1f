//! Logs of other tools, understood: one module a foreign format, each a pure function from text to [`Log`]s.
//!
//! Formats are recognised by content, never by a file's name. Figures come out in true units (MB/s is 10^6 bytes a
//! second) with what the tool printed beside them; which tool prints what is said at each format, and in
//! `docs/import.md`. Nothing here reads a file or touches a database.
#![forbid(unsafe_code)]

mod amount;
mod as_ssd;
mod cdm_fio;
mod collection;
mod dates;
mod disk_mark;
#[cfg(test)]
mod effort;
mod fio;
mod formats;
pub mod holds;
mod identity;
mod json;
mod mixed;
mod mojibake;
mod notes;
mod numbers;
mod page;
mod parts;
mod probe;
mod runs;
mod sound;
mod speed;
mod table;
mod text;

pub use formats::{Format, formats};
pub use text::Text;

use cardscope_model::log::Log;

/// A text that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No importer knows it.
    #[error(
        "no known log: {0}; `cardscope import --formats` lists what is understood, and a log that should be is worth a report"
    )]
    Unknown(String),
    /// It is one of a format, but nothing in it could be read.
    #[error("a log of {format} in which nothing could be read: {why}")]
    Empty {
        /// The format.
        format: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Reads a log. Most hold one card; a page that compares cards holds several, and a file may hold the logs of several tools.
///
/// # Errors
/// If no format knows it, or one does and nothing in it can be read.
pub fn read(bytes: &[u8]) -> Result<Vec<Log>, ImportError> {
    mixed::read(&Text::decode(bytes))
}

/// Reads a text that is one of a format.
fn read_as(format: &Format, text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut logs = (format.read)(text)?;
    logs.iter_mut().for_each(sound::keep_sound);
    logs.retain(|log| !log.is_empty());
    if logs.is_empty() {
        let why = "it has no result lines; perhaps it was cut off".to_owned();
        return Err(ImportError::Empty { format: format.name, why });
    }
    for log in &mut logs {
        log.doubts.extend(text.doubts().iter().cloned());
    }
    Ok(logs)
}
