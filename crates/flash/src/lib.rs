//! What is inside of a card: page, erase block, open blocks, cache, queue, and what follows for partitions and file systems.
#![forbid(unsafe_code)]

pub mod judge;
pub mod page;
pub mod probe;
pub mod verb;
