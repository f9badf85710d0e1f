//! How cards are served: with their times or at once, and which measures against the host's own latency are taken.

use std::collections::BTreeSet;

/// A measure that brings answers closer to their times. All are taken unless left out; what each gains is shown by
/// `benches/lag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
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

impl Measure {
    /// All of them.
    pub const ALL: [Measure; 5] =
        [Measure::LatencyHold, Measure::Spinner, Measure::Priority, Measure::Inline, Measure::Allowance];

    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Measure::LatencyHold => "latency-hold",
            Measure::Spinner => "spinner",
            Measure::Priority => "priority",
            Measure::Inline => "inline",
            Measure::Allowance => "allowance",
        }
    }
}

/// How cards are served.
#[derive(Debug, Clone)]
pub struct Options {
    /// False to answer each request at once: the card keeps its data but not its times.
    pub timing: bool,
    /// Measures that are left out.
    pub without: BTreeSet<Measure>,
}

impl Default for Options {
    fn default() -> Self {
        Options { timing: true, without: BTreeSet::new() }
    }
}

impl Options {
    /// Each request is answered at once.
    #[must_use]
    pub fn at_once() -> Self {
        Options { timing: false, ..Options::default() }
    }

    /// Whether a measure is taken; none is where there are no times to keep.
    #[must_use]
    pub fn takes(&self, measure: Measure) -> bool {
        self.timing && !self.without.contains(&measure)
    }
}
