//! The document of `observe`: what a system in use asked of its card, second by second, and what it waited for.
//!
//! Shares are from 0 to 1. Times on the `uptime` axis count from the boot of the system, so that two starts can be
//! laid over each other.

use crate::report::{Report, ReportBody};
use crate::worded;
use serde::{Deserialize, Serialize};

/// What happened in one interval. The figures of the device are those of its own counters; a share that the
/// kernel does not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserveSample {
    /// End of the interval, in seconds since boot.
    pub uptime_seconds: f64,
    /// Length in seconds.
    pub seconds: f64,
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Read speed in MB/s (10^6).
    pub read_mb_s: f64,
    /// Write speed in MB/s.
    pub write_mb_s: f64,
    /// Mean time of an I/O that ended, in ms; `None` where none did.
    pub wait_ms: Option<f64>,
    /// Share of the time in which the device had work.
    pub utilisation: f64,
    /// Mean number of I/Os under way.
    pub queue: f64,
    /// I/Os under way at its end.
    pub in_flight: u64,
    /// Share of the time in which some task waited for I/O (PSI).
    pub io_some: Option<f64>,
    /// Share in which all tasks with something to do waited for I/O.
    pub io_full: Option<f64>,
    /// Share in which some task waited for memory.
    pub memory_some: Option<f64>,
    /// Share in which some task waited for a processor.
    pub cpu_some: Option<f64>,
    /// Share of the processors' time that was worked.
    pub cpu_busy: Option<f64>,
    /// Share that was idle while I/O was waited for.
    pub iowait: Option<f64>,
    /// Share that was idle, the waiting for I/O included.
    pub cpu_idle: Option<f64>,
    /// Share that the host of a virtual machine took.
    pub steal: Option<f64>,
    /// Tasks that waited for I/O at its end.
    pub blocked: Option<u32>,
    /// Bytes moved to and from swap.
    pub swap_bytes: Option<u64>,
    /// Load of the last minute.
    pub load: Option<f64>,
    /// Share of the time in which the busiest other disk had work.
    pub other_utilisation: Option<f64>,
}

impl ObserveSample {
    /// I/Os that ended.
    pub fn ios(&self) -> u64 {
        self.reads + self.writes
    }

    /// Bytes of a mean I/O; `None` where none ended.
    pub fn mean_io_bytes(&self) -> Option<f64> {
        (self.ios() > 0).then(|| (self.read_bytes + self.write_bytes) as f64 / self.ios() as f64)
    }
}

worded! {
    /// What the system waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SystemBottleneck: word {
        /// The card: busy while tasks wait for I/O and processors are idle.
        Card = "the card",
        /// The processors.
        Cpu = "the processors",
        /// Memory: the system swaps.
        Memory = "memory",
        /// I/O, but of another device than this one.
        Elsewhere = "another device",
        /// Several at once, or none clearly.
        Mixed = "no single cause",
        /// Nothing: the system was calm.
        Nothing = "nothing",
    }
}

/// How sure the moment of calm is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettledStatus {
    /// It was seen.
    Measured,
    /// It was not calm yet when the watch ended.
    AtLeast,
    /// It was calm already when the watch began.
    AtMost,
}

/// When the system became calm and stayed so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalmMoment {
    /// How sure it is.
    pub status: SettledStatus,
    /// Seconds since boot; null unless measured.
    pub uptime_seconds: Option<f64>,
    /// Seconds since boot that it is at least or at most.
    pub bound_seconds: Option<f64>,
}

impl CalmMoment {
    /// The moment or its bound, in seconds since boot.
    pub fn seconds(&self) -> f64 {
        self.uptime_seconds.or(self.bound_seconds).unwrap_or_default()
    }
}

/// A whole watch in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObserveSummary {
    /// Seconds watched.
    pub seconds: f64,
    /// Reads that ended.
    pub reads: u64,
    /// Writes that ended.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Mean time of an I/O in ms.
    pub wait_ms: Option<f64>,
    /// Share of I/Os in intervals whose mean I/O was of 16 KiB or less.
    pub small_share: Option<f64>,
    /// Mean share of the time in which the device had work.
    pub utilisation: f64,
    /// The most I/Os under way, as a mean over one interval.
    pub queue_max: f64,
    /// Seconds in which some task waited for I/O.
    pub io_some_seconds: Option<f64>,
    /// Seconds in which all waited.
    pub io_full_seconds: Option<f64>,
    /// Share of the processors' time that was worked.
    pub cpu_busy: Option<f64>,
    /// Share that was idle while I/O was waited for.
    pub iowait: Option<f64>,
    /// Bytes moved to and from swap.
    pub swap_bytes: Option<u64>,
    /// Seconds that were not calm: something was waited for or worked at.
    pub loaded_seconds: f64,
    /// When it became calm.
    pub settled: CalmMoment,
    /// What was waited for.
    pub bottleneck: SystemBottleneck,
}

/// One figure of two watches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedFigure {
    /// What it is.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// In the earlier watch.
    pub before: Option<f64>,
    /// In this one.
    pub now: Option<f64>,
}

/// Two watches side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObserveComparison {
    /// The earlier one: a file or a session.
    pub against: String,
    /// Seconds of both that are compared, from the same moment on.
    pub span_seconds: f64,
    /// True where both are laid over each other by the time since boot; false where by the time since each began.
    pub since_boot: bool,
    /// The figures.
    pub figures: Vec<ComparedFigure>,
}

/// The document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ObserveResult {
    /// Kernel name of the disk.
    pub device: String,
    /// When the watch began, in seconds since boot.
    pub began_uptime_seconds: f64,
    /// Seconds from one look to the next.
    pub every_seconds: f64,
    /// Everything since boot in one interval; the device's counters count since it came.
    pub from_boot: Option<ObserveSample>,
    /// What was seen.
    pub samples: Vec<ObserveSample>,
    /// Bytes read and written by partition.
    pub partitions: Vec<PartitionTraffic>,
    /// All of it in figures; null where nothing was watched.
    pub summary: Option<ObserveSummary>,
    /// Against an earlier watch.
    pub comparison: Option<ObserveComparison>,
}

/// The document of `observe`.
pub type ObserveReport = Report<ObserveResult>;

impl ReportBody for ObserveResult {}

/// What one partition had to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionTraffic {
    /// Kernel name.
    pub name: String,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
}
