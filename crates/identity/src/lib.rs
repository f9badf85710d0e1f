//! Identity of cards: lists cards and readers, shows registers and bus of one, decodes pasted registers.
#![forbid(unsafe_code)]

pub mod page;
pub mod verb;
