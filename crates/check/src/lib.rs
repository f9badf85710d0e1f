//! `check`: tests a card completely within a time budget: identity, capacity, speed, geometry, marks, sustained use,
//! jobs.
#![forbid(unsafe_code)]

pub mod page;
pub mod request;
pub mod verb;
