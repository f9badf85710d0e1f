//! Facts, events and samples of a sustained run.

use serde::{Deserialize, Serialize};

/// Period of nearly constant speed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedLevel {
    pub op: String,
    /// Median speed of its slices.
    pub mb_s: f64,
    pub ci95: [f64; 2],
    pub from_s: f64,
    pub to_s: f64,
    pub bytes: u64,
    /// `steady` (the only level), `fast`, `cache full`, `hot`, `cache full and hot` or `slower`.
    pub state: String,
}

/// Cache freed by a pause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PauseRecovery {
    pub pause_s: f64,
    /// Bytes that were fast again.
    pub bytes: u64,
    /// True if the test ended before the freed cache was full, so that there is more.
    pub at_least: bool,
    /// Bytes freed per second of pause, in MB/s.
    pub mb_s: f64,
    pub speed_mb_s: f64,
}

/// Stalls of the card's internal housekeeping.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardStalls {
    pub count: u64,
    pub per_gb: f64,
    /// 95 % interval of `per_gb` (Poisson).
    pub per_gb_ci95: [f64; 2],
    pub median_s: f64,
    pub p99_s: f64,
    pub longest_s: f64,
    pub share: f64,
    pub between_mb_s: f64,
    pub period: Option<StallPeriod>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StallPeriod {
    pub bytes: u64,
    pub confidence: f64,
}

/// Step of the speed that heat explains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ThermalStep {
    pub at_s: f64,
    pub seconds: f64,
    pub celsius: Option<f64>,
    /// Speed over that of the cool level.
    pub speed_ratio: f64,
    pub read_ratio: Option<f64>,
    pub counted: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThrottleFacts {
    /// Start, in seconds of load.
    pub after_s: f64,
    pub at_celsius: Option<f64>,
    pub share: f64,
    pub steps: Vec<ThermalStep>,
    pub t1_transitions: Option<u32>,
    pub t2_transitions: Option<u32>,
    pub t1_seconds: Option<u32>,
    pub t2_seconds: Option<u32>,
    pub confidence: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TemperatureLimits {
    pub tmpth_celsius: Option<f64>,
    pub tmt1_celsius: Option<f64>,
    pub tmt2_celsius: Option<f64>,
    pub warning_celsius: Option<f64>,
    pub critical_celsius: Option<f64>,
}

/// Bursts of other load on bus or host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostInterference {
    pub bursts: u64,
    pub seconds: f64,
    /// Duration of a command without flash access, in bursts over outside of them.
    pub ping_ratio: f64,
    pub speed_ratio: f64,
}

/// Steady state over the last five rounds, as in the SNIA's specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// True if the range is at most 20 % of the mean, and the fitted line changes by at most 10 % of it.
    pub reached: bool,
    pub mb_s: f64,
    /// Highest less lowest round, as a share of the mean.
    pub spread: f64,
    /// Change of the fitted line over the window, as a share of the mean.
    pub slope: f64,
    pub round_s: f64,
    pub from_s: f64,
}

/// Latency of small reads at queue depth 1, without and with concurrent writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadLatency {
    pub alone_p50_us: Option<f64>,
    pub alone_p99_us: Option<f64>,
    pub writing_p50_us: Option<f64>,
    pub writing_p99_us: Option<f64>,
    pub writing_max_us: Option<f64>,
}

worded! {
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SustainEvent {
    pub kind: EventKind,
    pub at_s: f64,
    /// Bytes written by the workload so far; of a run of reads, bytes read.
    pub at_bytes: u64,
    pub confidence: f64,
    pub evidence: Vec<(String, String)>,
}

impl SustainEvent {
    pub fn new(kind: EventKind, at_s: f64, at_bytes: u64, confidence: f64) -> Self {
        SustainEvent { kind, at_s, at_bytes, confidence, evidence: Vec::new() }
    }

    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPhase {
    #[default]
    Main,
    Pause,
    Again,
    Reading,
    /// Pause that distinguishes heat from a full cache.
    Experiment,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacedTemperature {
    /// Sensor: `card (NVMe composite)`, `SoC`, `reader` …
    pub place: String,
    pub celsius: f64,
}

impl PlacedTemperature {
    pub fn is_of_card(&self) -> bool {
        self.place.starts_with("card")
    }
}

/// Sample of one second or of one long I/O; of several seconds in runs of more than six hours.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SustainSample {
    pub at_s: f64,
    pub phase: RunPhase,
    pub write_mb_s: Option<f64>,
    pub read_mb_s: Option<f64>,
    pub bytes_written: u64,
    pub bytes_read: u64,
    /// Median latency of small reads at queue depth 1, without other I/O.
    pub read_us: Option<f64>,
    pub read_while_writing_us: Option<f64>,
    /// Duration of a command without flash access.
    pub ping_us: Option<f64>,
    pub longest_gap_s: f64,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub temperatures: Vec<PlacedTemperature>,
    pub t1_transitions: Option<u32>,
    pub t2_transitions: Option<u32>,
}
