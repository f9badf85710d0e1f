//! Restores data that an interrupted test had saved (`restore`).
#![forbid(unsafe_code)]

pub mod page;
pub mod request;
pub mod verb;
