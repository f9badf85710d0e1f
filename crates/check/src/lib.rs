//! The whole visit of a card in a time budget: identity, capacity, speed, geometry, marks, long use, and what it suits.
#![forbid(unsafe_code)]

pub mod page;
pub mod request;
pub mod verb;
