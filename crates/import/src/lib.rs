//! Logs of other tools: their formats, and how they get into the archive.
#![forbid(unsafe_code)]

pub mod page;
pub mod readers;
pub mod verb;
