//! Content of a simulated card: extents with descriptions instead of bytes, and false where the card is a fake.

mod blocks;
mod extents;
mod faults;
mod medium;
mod medium_read;
#[cfg(test)]
mod model_tests;
mod read_content;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use faults::{CardIoError, FakeMap, FaultCounters, FaultModel, MediumLocation};
pub(crate) use medium::{CardMedium, ContentState, WEAK_BITS};
pub(crate) use read_content::ReadContent;
pub(crate) use store::{PAGE, WrittenData};
