//! Serves simulated cards in real time to other tools (fio, f3probe, flashbench, mkfs, qemu), through the kernel (FUSE)
//! or over the network (NBD). The model gets each request on arrival and says when to answer it; several may be in
//! flight.

mod awake;
mod delay;
mod fuse;
mod mount;
pub mod nbd;
mod options;
mod own_path;
mod report;
mod server;
mod slot;

pub use options::{LagMeasure, ServeError, ServingOptions};
pub use report::{AnswerLag, LagQuantiles, ServeReport};
pub use server::{CardServer, ServeJob, serve};

/// Name of the card's file in its mount directory.
pub const FILE: &str = "card";
