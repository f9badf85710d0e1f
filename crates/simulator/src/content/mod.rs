//! What stands on a simulated card: described by extents, not kept as bytes, and false where the card is a fake.

mod blocks;
mod extents;
mod faults;
mod finding;
mod found;
mod medium;
#[cfg(test)]
mod model_tests;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use faults::{Counters, FakeMap, Faults, IoError, Location};
pub(crate) use found::Found;
pub(crate) use medium::{ContentState, Medium, WEAK};
pub(crate) use store::{Data, PAGE};
