//! Serves simulated cards in real time to other tools (fio, f3probe, flashbench, mkfs, qemu), through the kernel (FUSE)
//! or over the network (NBD). The model gets each request on arrival and says when to answer it; several may be in
//! flight.

mod cpu_latency;
mod delay;
mod fuse;
mod mount;
pub mod nbd;
mod options;
mod report;
mod round_trip;
mod served_card;
mod server;

pub use options::{LagMeasure, ServeError, ServingOptions};
pub use report::{AnswerLag, LagQuantiles, ServeReport};
pub use server::{CardServer, ServeJob, serve_cards};

/// Name of the card's file in its mount directory.
pub const CARD_FILE: &str = "card";
