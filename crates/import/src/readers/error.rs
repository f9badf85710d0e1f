//! Why a text could not be understood.

use cardscope_model::log::CardLog;

/// The logs of a text, or why nothing in it could be read. A log that names no format is of the one that reads it.
pub(crate) type ReaderOutcome = Result<Vec<CardLog>, String>;

/// A text that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No importer knows it.
    #[error(
        "unknown log: {0}; `cardscope import --formats` lists the supported formats, please report it if it \
         should be supported"
    )]
    Unknown(String),
    /// It is one of a format, but nothing in it could be read.
    #[error("a {format} log without results: {why}")]
    Empty {
        /// The format.
        format: &'static str,
        /// What is wrong with it.
        why: String,
    },
}
