//! The list of all verbs on a card: the page that each document becomes.
#![forbid(unsafe_code)]

pub mod records;
