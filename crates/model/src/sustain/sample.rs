//! One second of a long run.

use serde::{Deserialize, Serialize};

/// What the run was at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
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
pub struct Reading {
    /// What is measured: `card (NVMe composite)`, `SoC`, `reader` …
    pub place: String,
    /// °C.
    pub celsius: f64,
}

/// One second, or as long as the card took to answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When it ended, in seconds since the run began.
    pub at_s: f64,
    /// What the run was at.
    pub phase: Phase,
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
    pub temperatures: Vec<Reading>,
    /// Times that light throttling began, as the card counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t1_transitions: Option<u32>,
    /// The same for heavy throttling.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub t2_transitions: Option<u32>,
}
