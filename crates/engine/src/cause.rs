//! Shared error of any type, kept with its sources and turned into text only where it is reported.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Error of any type that can be cloned, so that the error of one part may end the whole test too. It does not
/// implement `Error` itself, which lets every error and string convert into it by `From`.
#[derive(Debug, Clone)]
pub struct ErrorCause(Arc<dyn Error + Send + Sync>);

impl ErrorCause {
    /// Wraps an error in a new message; the error becomes its source.
    pub fn with_message(words: impl Into<String>, error: impl Into<ErrorCause>) -> Self {
        ErrorCause(Arc::new(WordedCause { message: words.into(), error: error.into() }))
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct WordedCause {
    message: String,
    #[source]
    error: ErrorCause,
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ErrorCause {
    fn from(error: E) -> Self {
        ErrorCause(Arc::from(error.into()))
    }
}

impl Deref for ErrorCause {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl fmt::Display for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Compares messages, since system errors have no equality.
impl PartialEq for ErrorCause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn reworded_error_keeps_type_and_sources() {
        let full = ErrorCause::with_message("the journal is full", io::Error::from_raw_os_error(28));
        let outer = ErrorCause::with_message("nothing was written", full);
        assert_eq!(outer.to_string(), "nothing was written");
        let journal = outer.source().unwrap();
        assert_eq!(journal.to_string(), "the journal is full");
        let system = journal.source().and_then(|e| e.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(system.raw_os_error(), Some(28));
    }
}
