//! How fast a card is, by the recipes of published methods.
#![forbid(unsafe_code)]

pub mod page;
pub mod recipes;
pub mod request;
pub mod verb;
