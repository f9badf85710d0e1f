//! Data that an interrupted test had saved, back onto its card.
#![forbid(unsafe_code)]

pub mod page;
pub mod request;
pub mod verb;
