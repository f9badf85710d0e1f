//! The writing parts of a map on simulated cards in virtual time: what they find held against what is true.

mod blocks;
mod caches;
mod common;
mod failing;
mod limits;
mod speeds;
