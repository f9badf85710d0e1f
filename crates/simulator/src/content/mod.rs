//! What stands on a simulated card: described by extents, not kept as bytes, and false where the card is a fake.

mod blocks;
mod bytes;
mod chunk;
mod extents;
mod fake;
mod faults;
mod finding;
mod found;
mod medium;
#[cfg(test)]
mod model_tests;
mod state;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use fake::{FakeMap, Location};
pub(crate) use faults::{Counters, Faults, IoError};
pub(crate) use found::Found;
pub(crate) use medium::{Medium, WEAK};
pub(crate) use state::{ContentState, PAGE_BYTES};
