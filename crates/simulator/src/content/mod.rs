//! What stands on a simulated card: described by extents, not kept as bytes, and false where the card is a fake.

mod bytes;
mod cache;
mod chunk;
mod extents;
mod fake;
mod faults;
mod finding;
mod found;
mod live;
mod medium;
#[cfg(test)]
mod model_tests;
mod pages;
mod saved;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use fake::{FakeMap, Place};
pub(crate) use faults::{Counters, Faults};
pub(crate) use found::Found;
pub(crate) use medium::{Medium, WEAK};
pub(crate) use saved::{ContentRef, ContentState, PAGE_BYTES};

/// Why the card did not do as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// This command failed; the card still answers.
    Io {
        /// What happened, for people.
        reason: String,
        /// The errno that the kernel would give.
        errno: i32,
    },
    /// It does not answer any more.
    Gone {
        /// What happened, for people.
        reason: String,
    },
}
