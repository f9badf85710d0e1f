//! Writing parts of a map on simulated cards in virtual time, compared with the cards' definitions.

mod blocks;
mod caches;
mod common;
mod failing;
mod limits;
mod speeds;
