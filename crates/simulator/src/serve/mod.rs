//! Simulated cards in real time: the tools of others (fio, f3probe, flashbench, mkfs, qemu) run on them through the
//! kernel's file systems (FUSE) or over the network (NBD). Each request is given to the model when it comes and
//! answered when the model says; several may be in flight.

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

/// The file that is the card, in the directory it is mounted on.
pub const FILE: &str = "card";
