//! Content of a simulated card: extents with descriptions instead of bytes, and false where the card is a fake.

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

pub(crate) use faults::{CardIoError, FakeMap, FaultCounters, FaultModel, MediumLocation};
pub(crate) use found::ReadContent;
pub(crate) use medium::{CardMedium, ContentState, WEAK};
pub(crate) use store::{PAGE, WrittenData};
