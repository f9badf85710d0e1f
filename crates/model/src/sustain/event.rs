//! Something that happened in a long run.

use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// The fast part is used up.
    CacheEnd,
    /// It is fast again without a pause.
    CacheRecovered,
    /// Heat slows it.
    Throttled,
    /// Heat slows it no more.
    CooledDown,
    /// The first of the stalls.
    StallsBegin,
    /// The longest stall.
    LongestStall,
    /// Somebody else is on bus or host.
    Disturbed,
    /// The last five rounds are even.
    SteadyState,
    /// A pause began.
    Pause,
    /// What a pause gave back is used up again.
    RecoveredUsedUp,
    /// The limit that the user set for the temperature was reached.
    TooHot,
    /// Slower, and nothing tells why.
    Slower,
    /// What the experiment with a pause showed.
    Experiment,
    /// The card did not answer for so long that a host gives it up.
    NoAnswer,
    /// Write after write fails; the run ends.
    NoMoreWrites,
    /// Read after read fails; the run ends.
    NoMoreReads,
}

impl EventKind {
    /// In a few words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            EventKind::CacheEnd => "the fast cache is full",
            EventKind::CacheRecovered => "fast again: the cache has room",
            EventKind::Throttled => "heat slows the card",
            EventKind::CooledDown => "heat slows it no more",
            EventKind::StallsBegin => "stalls begin",
            EventKind::LongestStall => "the longest stall",
            EventKind::Disturbed => "somebody else uses the bus or this computer",
            EventKind::SteadyState => "steady state",
            EventKind::Pause => "a pause begins",
            EventKind::RecoveredUsedUp => "what the pause gave back is used up",
            EventKind::TooHot => "the temperature limit is reached",
            EventKind::Slower => "slower, and nothing tells why",
            EventKind::Experiment => "a pause was tried to tell heat from a full cache",
            EventKind::NoAnswer => "no answer for very long",
            EventKind::NoMoreWrites => "the card takes no more writes",
            EventKind::NoMoreReads => "the card gives no more reads",
        }
    }
}

/// An event with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// When, in seconds since the run began.
    pub at_s: f64,
    /// Bytes that the workload had written (of a run of reads: read) by then.
    pub at_bytes: u64,
    /// 0 to 1.
    pub confidence: f64,
    /// Numbers and words it rests on, in reading order.
    pub evidence: Vec<(String, String)>,
}

impl Event {
    /// An event without evidence yet.
    #[must_use]
    pub fn new(kind: EventKind, at_s: f64, at_bytes: u64, confidence: f64) -> Self {
        Event { kind, at_s, at_bytes, confidence, evidence: Vec::new() }
    }

    /// Adds what it rests on.
    #[must_use]
    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }
}
