//! What stands on a simulated card: described by extents, not kept as bytes, and false where the card is a fake.

mod bytes;
mod fake;
mod medium;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use fake::FakeMap;
pub(crate) use medium::{Medium, Piece, fill, first_difference};
pub(crate) use store::What;
