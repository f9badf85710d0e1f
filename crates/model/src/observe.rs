//! Document of `observe`: I/O of a card in use, second by second, and the bottleneck of the system.
//!
//! Shares are 0 to 1. The `uptime` axis counts from the boot of the system, so that two starts can be compared.

use crate::report::{Report, ReportBody};
use serde::{Deserialize, Serialize};

/// Activity in one interval. Figures of the device come from its kernel counters; a share is None if the kernel does
/// not report it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserveSample {
    pub uptime_seconds: f64,
    pub seconds: f64,
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub read_mb_s: f64,
    pub write_mb_s: f64,
    /// Mean time of a completed I/O in ms; None if none completed.
    pub wait_ms: Option<f64>,
    pub utilisation: f64,
    /// Mean number of I/Os in flight.
    pub queue: f64,
    pub in_flight: u64,
    /// Share of the time in which some task waited for I/O (PSI).
    pub io_some: Option<f64>,
    /// Share in which all runnable tasks waited for I/O (PSI).
    pub io_full: Option<f64>,
    pub memory_some: Option<f64>,
    pub cpu_some: Option<f64>,
    pub cpu_busy: Option<f64>,
    pub iowait: Option<f64>,
    /// Share idle, including `iowait`.
    pub cpu_idle: Option<f64>,
    pub steal: Option<f64>,
    pub blocked: Option<u32>,
    pub swap_bytes: Option<u64>,
    pub load: Option<f64>,
    pub other_utilisation: Option<f64>,
}

impl ObserveSample {
    pub fn ios(&self) -> u64 {
        self.reads + self.writes
    }

    pub fn mean_io_bytes(&self) -> Option<f64> {
        (self.ios() > 0).then(|| (self.read_bytes + self.write_bytes) as f64 / self.ios() as f64)
    }
}

worded! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SystemBottleneck: word {
        Card = "the card",
        Cpu = "the processors",
        Memory = "memory",
        Elsewhere = "another device",
        /// Several at once, or none clearly.
        Mixed = "no single cause",
        Nothing = "nothing",
    }
}

/// Kind of knowledge about the time at which the system became idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledStatus {
    Measured,
    /// Not idle yet at the end of the observation.
    AtLeast,
    /// Idle already at the start of the observation.
    AtMost,
}

/// Time from which the system stayed idle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalmMoment {
    pub status: SettledStatus,
    /// Seconds since boot; None unless measured.
    pub uptime_seconds: Option<f64>,
    pub bound_seconds: Option<f64>,
}

impl CalmMoment {
    pub fn seconds(&self) -> f64 {
        self.uptime_seconds.or(self.bound_seconds).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObserveSummary {
    pub seconds: f64,
    pub reads: u64,
    pub writes: u64,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub wait_ms: Option<f64>,
    /// Share of I/Os in intervals with a mean size of 16 KiB or less.
    pub small_share: Option<f64>,
    pub utilisation: f64,
    /// Highest mean number of I/Os in flight in an interval.
    pub queue_max: f64,
    pub io_some_seconds: Option<f64>,
    pub io_full_seconds: Option<f64>,
    pub cpu_busy: Option<f64>,
    pub iowait: Option<f64>,
    pub swap_bytes: Option<u64>,
    pub loaded_seconds: f64,
    pub settled: CalmMoment,
    pub bottleneck: SystemBottleneck,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedFigure {
    pub what: String,
    pub unit: String,
    pub before: Option<f64>,
    pub now: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObserveComparison {
    pub against: String,
    pub span_seconds: f64,
    /// True if times count from boot; false if from the start of each observation.
    pub since_boot: bool,
    pub figures: Vec<ComparedFigure>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserveResult {
    pub device: String,
    pub began_uptime_seconds: f64,
    pub every_seconds: f64,
    /// Totals since boot as one interval; the device's counters start when it is connected.
    pub from_boot: Option<ObserveSample>,
    pub samples: Vec<ObserveSample>,
    pub partitions: Vec<PartitionTraffic>,
    pub summary: Option<ObserveSummary>,
    pub comparison: Option<ObserveComparison>,
}

pub type ObserveReport = Report<ObserveResult>;

impl ReportBody for ObserveResult {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionTraffic {
    pub name: String,
    pub read_bytes: u64,
    pub write_bytes: u64,
}
