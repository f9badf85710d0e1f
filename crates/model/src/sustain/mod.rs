//! Document of `sustain`: long runs with speed and temperature over time, events, and the evidence of each
//! conclusion. Seconds of the target's clock, MB/s.

mod facts;

pub use facts::*;

use crate::card_map::property::Property;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    #[default]
    Read,
    Write,
    /// Writes and reads in alternating slices.
    Mixed,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPattern {
    /// Sequential, starting again at the end.
    #[default]
    #[serde(alias = "seq")]
    Sequential,
    /// Random blocks of 4 KiB.
    #[serde(alias = "rnd")]
    Random,
}

/// Measurements. All are unknown at first, so that a run that ends early is still a valid document.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRun {
    pub queue_depth: u32,
    #[serde(default)]
    pub failed_ios: u64,
    pub series: SampleSeries,
    pub events: Vec<SustainEvent>,
    pub levels: Vec<SpeedLevel>,
    /// Bytes written before the speed falls permanently.
    pub cache_bytes: Property<u64>,
    pub after_cache_mb_s: Property<f64>,
    pub recovery: Option<PauseRecovery>,
    pub stalls: Option<CardStalls>,
    pub throttling: Option<ThrottleFacts>,
    pub interference: Option<HostInterference>,
    pub steady_state: Option<SteadyState>,
    pub read_latency: ReadLatency,
    pub limits: TemperatureLimits,
    #[serialize_always]
    pub max_celsius: Option<f64>,
    pub ended_by: String,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LongRun {
    pub work: WorkloadKind,
    pub pattern: WorkloadPattern,
    pub block_bytes: u64,
    pub region_start: u64,
    pub region_bytes: u64,
    #[serde(flatten)]
    pub measured: MeasuredRun,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<ConditionComparison>,
    pub announced_bytes: u64,
    #[serde(flatten)]
    pub moved: IoTotals,
}

pub type SustainReport = Report<LongRun>;

impl ReportBody for LongRun {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.measured.series.is_empty())
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

/// Comparison of two runs under different conditions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConditionComparison {
    pub other: String,
    /// Different conditions: key, value in this run, value in the other run.
    pub conditions: Vec<(String, String, String)>,
    pub lines: Vec<ComparedLine>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedLine {
    pub what: String,
    pub unit: String,
    pub here: Option<f64>,
    pub there: Option<f64>,
    pub ratio: Option<f64>,
    pub ratio_ci95: Option<[f64; 2]>,
    /// Conclusion: `faster`, `slower`, `same within ±5 %`, `no difference shown`, or empty.
    pub says: String,
}
