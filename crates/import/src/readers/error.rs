//! Errors of the readers.

use cardscope_model::log::CardLog;

/// Logs of a text, or the reason why it has none. A log without a format gets that of the reader.
pub(crate) type ReaderOutcome = Result<Vec<CardLog>, String>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No reader recognises the text.
    #[error(
        "unknown log: {0}; `cardscope import --formats` lists the supported formats, please report it if it \
         should be supported"
    )]
    Unknown(String),
    /// A reader recognises the text, but it has no results.
    #[error("a {format} log without results: {why}")]
    Empty { format: &'static str, why: String },
}
