//! What a long run showed, in numbers: its facts, what happened in it, and a sample a second.

use crate::worded;
use serde::{Deserialize, Serialize};

/// A level of the speed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedLevel {
    /// `write` or `read`.
    pub op: String,
    /// Speed in MB/s: median of its slices.
    pub mb_s: f64,
    /// 95 % interval of that.
    pub ci95: [f64; 2],
    /// When it began, in seconds since the run began.
    pub from_s: f64,
    /// When it ended.
    pub to_s: f64,
    /// Bytes moved in it.
    pub bytes: u64,
    /// What holds: `steady` (the only level), `fast`, `cache full`, `hot`, `cache full and hot`, `slower`.
    pub state: String,
}

/// What a pause gave back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PauseRecovery {
    /// Length of the pause in seconds.
    pub pause_s: f64,
    /// Bytes that were fast again after it.
    pub bytes: u64,
    /// True where the test ended before they were used up: then there are more.
    pub at_least: bool,
    /// Bytes for each second of pause, in MB/s: how fast the card cleans its cache.
    pub mb_s: f64,
    /// Speed right after the pause, in MB/s.
    pub speed_mb_s: f64,
}

/// Stalls of the card's own housekeeping.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardStalls {
    /// How many.
    pub count: u64,
    /// Per GB (10^9 bytes) moved.
    pub per_gb: f64,
    /// 95 % interval of that, by Poisson.
    pub per_gb_ci95: [f64; 2],
    /// Median length in seconds.
    pub median_s: f64,
    /// 99 % are no longer, in seconds.
    pub p99_s: f64,
    /// The longest, in seconds.
    pub longest_s: f64,
    /// Share of the time that they take: 0 to 1.
    pub share: f64,
    /// Speed between them in MB/s.
    pub between_mb_s: f64,
    /// Their period, where they have one.
    pub period: Option<StallPeriod>,
}

/// A period in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StallPeriod {
    /// Bytes.
    pub bytes: u64,
    /// 0 to 1.
    pub confidence: f64,
}

/// A step of heat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ThermalStep {
    /// When, in seconds since the run began.
    pub at_s: f64,
    /// How long, in seconds.
    pub seconds: f64,
    /// Temperature of the card then, in °C.
    pub celsius: Option<f64>,
    /// The workload's speed against the cool level.
    pub speed_ratio: f64,
    /// Time of reads against that at the cool level.
    pub read_ratio: Option<f64>,
    /// True where the card's own counters moved.
    pub counted: bool,
}

/// What heat did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThrottleFacts {
    /// When it began, in seconds of load.
    pub after_s: f64,
    /// Temperature of the card then, in °C.
    pub at_celsius: Option<f64>,
    /// Share of the time under load: 0 to 1.
    pub share: f64,
    /// The steps.
    pub steps: Vec<ThermalStep>,
    /// Transitions to light throttling that the card counted in this run.
    pub t1_transitions: Option<u32>,
    /// To heavy throttling.
    pub t2_transitions: Option<u32>,
    /// Seconds of light throttling that the card counted in this run.
    pub t1_seconds: Option<u32>,
    /// Of heavy throttling.
    pub t2_seconds: Option<u32>,
    /// 0 to 1.
    pub confidence: f64,
}

/// Temperatures at which a card says that it acts, in °C.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TemperatureLimits {
    /// Over-temperature threshold (TMPTH).
    pub tmpth_celsius: Option<f64>,
    /// Light throttling (TMT1).
    pub tmt1_celsius: Option<f64>,
    /// Heavy throttling (TMT2).
    pub tmt2_celsius: Option<f64>,
    /// Warning temperature.
    pub warning_celsius: Option<f64>,
    /// Critical temperature.
    pub critical_celsius: Option<f64>,
}

/// Somebody else on bus or host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostInterference {
    /// Bursts.
    pub bursts: u64,
    /// Seconds in them.
    pub seconds: f64,
    /// Time of a command that needs no flash, in bursts over outside of them.
    pub ping_ratio: f64,
    /// Speed in bursts over that outside of them.
    pub speed_ratio: f64,
}

/// The last five rounds of the workload, as the SNIA's specification looks at them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// Highest less lowest at most 20 % of the mean, and the fitted line rising or falling by at most 10 % of it.
    pub reached: bool,
    /// Mean in MB/s.
    pub mb_s: f64,
    /// Highest less lowest, as a share of the mean.
    pub spread: f64,
    /// Rise of the line across the window, as a share of the mean.
    pub slope: f64,
    /// Seconds of a round.
    pub round_s: f64,
    /// When the window began, in seconds since the run began.
    pub from_s: f64,
}

/// Small reads one at a time, alone and with writes under way, in µs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadLatency {
    /// Median with nothing else under way.
    pub alone_p50_us: Option<f64>,
    /// 99 % of those are no longer.
    pub alone_p99_us: Option<f64>,
    /// Median with writes under way.
    pub writing_p50_us: Option<f64>,
    /// 99 % of those are no longer.
    pub writing_p99_us: Option<f64>,
    /// The longest of those.
    pub writing_max_us: Option<f64>,
}

worded! {
    /// What happened.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EventKind: words {
        CacheEnd = "the cache is full",
        CacheRecovered = "the cache has room again",
        Throttled = "heat slows the card",
        CooledDown = "no longer slowed by heat",
        StallsBegin = "stalls begin",
        LongestStall = "the longest stall",
        Disturbed = "other load on the bus or this computer",
        SteadyState = "steady state",
        Pause = "pause begins",
        RecoveredUsedUp = "the cache freed by the pause is full",
        TooHot = "the temperature limit is reached",
        Slower = "slower for an unknown reason",
        Experiment = "pause to tell heat from a full cache",
        NoAnswer = "long stall",
        NoMoreWrites = "the card accepts no more writes",
        NoMoreReads = "the card answers no more reads",
    }
}

/// An event with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SustainEvent {
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

impl SustainEvent {
    /// An event without evidence yet.
    pub fn new(kind: EventKind, at_s: f64, at_bytes: u64, confidence: f64) -> Self {
        SustainEvent { kind, at_s, at_bytes, confidence, evidence: Vec::new() }
    }

    /// Adds what it rests on.
    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }
}

/// What the run was at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPhase {
    /// The workload.
    #[default]
    Main,
    /// A pause without I/O.
    Pause,
    /// Writing again after it.
    Again,
    /// Reading at the end.
    Reading,
    /// The experiment that tells heat from a full cache.
    Experiment,
}

/// A temperature and where it was taken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacedTemperature {
    /// What is measured: `card (NVMe composite)`, `SoC`, `reader` …
    pub place: String,
    /// °C.
    pub celsius: f64,
}

impl PlacedTemperature {
    /// True for a temperature of the card itself, whichever of its sensors it is.
    pub fn is_of_card(&self) -> bool {
        self.place.starts_with("card")
    }
}

/// One second, or as long as the card took to answer; several seconds in runs of more than six hours.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SustainSample {
    /// When it ended, in seconds since the run began.
    pub at_s: f64,
    /// What the run was at.
    pub phase: RunPhase,
    /// Speed of writes in MB/s; `None` where none were made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub write_mb_s: Option<f64>,
    /// Speed of reads in MB/s; `None` where none were made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_mb_s: Option<f64>,
    /// Written by the workload so far.
    pub bytes_written: u64,
    /// Read by the workload so far.
    pub bytes_read: u64,
    /// Median of small reads, one at a time, with nothing else under way, in µs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_us: Option<f64>,
    /// A small read with writes under way, in µs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub read_while_writing_us: Option<f64>,
    /// A command that needs no flash, in µs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ping_us: Option<f64>,
    /// Longest time without a completion, in seconds.
    pub longest_gap_s: f64,
    /// Temperatures.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub temperatures: Vec<PlacedTemperature>,
    /// Times that light throttling began, as the card counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t1_transitions: Option<u32>,
    /// The same for heavy throttling.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t2_transitions: Option<u32>,
}
