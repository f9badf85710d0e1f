//! Flash geometry: page, erase block, open blocks, cache and queue of a card, and the advice for partitions and
//! file systems that follows from them.
#![forbid(unsafe_code)]

pub mod judge;
pub mod page;
pub mod probe;
pub mod verb;
