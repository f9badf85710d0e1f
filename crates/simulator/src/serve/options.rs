//! How cards are served: with their times or at once, and which measures against the host's own latency are taken.

use cardscope_model::with_defaults;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

/// A measure that brings answers closer to their times. All are taken unless left out; what each gains is shown by
/// `benches/lag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LagMeasure {
    /// Hold `/dev/cpu_dma_latency` at 0, so that cores do not sleep deeply.
    LatencyHold,
    /// Where the kernel has no cpuidle driver: a thread a core that spins when nothing else runs there, so that
    /// cores do not halt. Only within a second of a command.
    Spinner,
    /// Real-time priority for the threads that answer.
    Priority,
    /// Two readers of requests, one of which waits for a short answer by itself instead of handing it over.
    Inline,
    /// The host's own round trip, measured when mounted, is taken off each answer's wait.
    Allowance,
}

impl LagMeasure {
    /// All of them.
    pub const ALL: [LagMeasure; 5] = [
        LagMeasure::LatencyHold,
        LagMeasure::Spinner,
        LagMeasure::Priority,
        LagMeasure::Inline,
        LagMeasure::Allowance,
    ];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            LagMeasure::LatencyHold => "latency-hold",
            LagMeasure::Spinner => "spinner",
            LagMeasure::Priority => "priority",
            LagMeasure::Inline => "inline",
            LagMeasure::Allowance => "allowance",
        }
    }
}

with_defaults! {
    /// How cards are served.
    #[derive(Debug, Clone)]
    pub struct ServingOptions {
        /// False to answer each request at once: the card keeps its data but not its times.
        pub timing: bool = true,
        /// Measures that are left out.
        pub without: BTreeSet<LagMeasure> = BTreeSet::new(),
    }
}

impl ServingOptions {
    /// Each request is answered at once.
    pub fn at_once() -> Self {
        ServingOptions { timing: false, ..ServingOptions::default() }
    }

    /// Whether a measure is taken; none is where there are no times to keep.
    pub fn takes(&self, measure: LagMeasure) -> bool {
        self.timing && !self.without.contains(&measure)
    }
}

/// Why cards cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Neither a directory nor an address was given, or no card.
    #[error("nothing to serve; give a card, and --mount DIR or --nbd ADDRESS")]
    Nothing,
    /// The directory is no place to mount on: what is wrong, and what to do.
    #[error("cannot serve on {0}: {1}")]
    Directory(PathBuf, String),
    /// The kernel did not take the mount: its answer, and what to do.
    #[error("mounting on {0} failed: {1}")]
    Mount(PathBuf, String),
    /// The address, as it was given, cannot be listened on: what is wrong, and what to do.
    #[error("cannot serve NBD on {0}: {1}")]
    Address(String, String),
    /// The card's own description does not hold.
    #[error(transparent)]
    Card(#[from] crate::archetype::ArchetypeError),
    /// Its saved state cannot be used, or not be saved.
    #[error(transparent)]
    State(#[from] crate::state_file::StateError),
    /// It broke while it was served.
    #[error("serving {what} ended: {source}")]
    Session {
        /// The directory or address.
        what: String,
        /// Why.
        source: io::Error,
    },
}

impl ServeError {
    /// True where nothing was done because of how it was asked for.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            ServeError::Nothing | ServeError::Directory(..) | ServeError::Address(..) | ServeError::State(_)
        )
    }
}
