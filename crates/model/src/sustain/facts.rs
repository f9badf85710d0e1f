//! What a long run showed, in numbers.

use serde::{Deserialize, Serialize};

/// A level of the speed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
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
    /// What holds: `fast`, `cache full`, `hot`, `cache full and hot`, `slower`.
    pub state: String,
}

/// What a pause gave back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
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
pub struct Stalls {
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
pub struct Throttling {
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
pub struct Limits {
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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Interference {
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

/// Small reads one at a time, alone and with writes under way (seed 002), in µs.
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
