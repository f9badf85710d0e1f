//! Speed of a card, measured with recipes of published methods (`bench`, `recipes`).
#![forbid(unsafe_code)]

pub mod page;
pub mod recipes;
pub mod request;
pub mod verb;
