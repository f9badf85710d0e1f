//! Serves simulated cards in real time to other tools (fio, f3probe, flashbench, mkfs, qemu), through the kernel (FUSE)
//! or over the network (NBD). The model gets each request on arrival and says when to answer it; several may be in
//! flight.

mod cpu_latency;
mod delay;
mod fuse;
mod mount;
pub mod nbd;
mod report;
mod round_trip;
mod served_card;
mod server;

use cardscope_model::{with_defaults, worded};
pub use report::{AnswerLag, LagQuantiles, ServeReport};
pub use server::{CardServer, ServeJob, serve_cards};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

/// Name of the card's file in its mount directory.
pub const CARD_FILE: &str = "card";

worded! {
    /// Measure that brings answers closer to their times. All apply unless excluded; `benches/lag` shows the effect of
    /// each. The text is the name on the command line.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum LagMeasure: name {
        /// Holds `/dev/cpu_dma_latency` at 0, so that cores do not sleep deeply.
        LatencyHold = "latency-hold",
        /// Without a cpuidle driver: one thread per core spins while nothing else runs there, so that cores do not
        /// halt; for a second after the last command.
        Spinner = "spinner",
        /// Real-time priority for the threads that answer.
        Priority = "priority",
        /// Two readers of requests, one of which waits for a short answer itself instead of handing it over.
        Inline = "inline",
        /// Subtracts the host's own round trip, measured when the card is mounted, from each wait.
        Allowance = "allowance",
    }
}

impl LagMeasure {
    pub const ALL: [Self; 5] =
        [Self::LatencyHold, Self::Spinner, Self::Priority, Self::Inline, Self::Allowance];
}

with_defaults! {
    #[derive(Debug, Clone)]
    pub struct ServingOptions {
        /// False to answer each request at once: the card has its data but not its times.
        pub timing: bool = true,
        /// Measures that are excluded.
        pub without: BTreeSet<LagMeasure> = BTreeSet::new(),
    }
}

impl ServingOptions {
    /// True if a measure applies; none does without times.
    pub fn has_measure(&self, measure: LagMeasure) -> bool {
        self.timing && !self.without.contains(&measure)
    }
}

/// Reason why cards cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("nothing to serve; give a card, and --mount DIR or --nbd ADDRESS")]
    Nothing,
    /// Directory, what is wrong with it, and what to do.
    #[error("cannot serve on {0}: {1}")]
    Directory(PathBuf, String),
    /// Directory, the kernel's answer, and what to do.
    #[error("mounting on {0} failed: {1}")]
    Mount(PathBuf, String),
    /// Address as given, what is wrong with it, and what to do.
    #[error("cannot serve NBD on {0}: {1}")]
    Address(String, String),
    #[error(transparent)]
    Card(#[from] crate::archetype::ArchetypeError),
    #[error(transparent)]
    State(#[from] crate::state_file::StateError),
    /// Directory or card, and the reason.
    #[error("serving {0} ended: {1}")]
    Session(String, #[source] io::Error),
}

impl ServeError {
    /// True if the request was refused and nothing was done.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Nothing | Self::Directory(..) | Self::Address(..) | Self::State(_))
    }
}
