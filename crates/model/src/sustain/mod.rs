//! `sustain`: what becomes of a card that is used for long. A sample a second with temperatures, what happened in order,
//! and what each conclusion rests on. Times in seconds of the target's clock, speeds in MB/s.

mod facts;
mod samples;

pub use facts::*;
pub use samples::SampleSeries;

use crate::card_map::property::Property;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

/// What the workload does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// Reads only.
    #[default]
    Read,
    /// Writes, then reads.
    Write,
    /// Writes and reads in turn, a slice each.
    Mixed,
}

/// Where the next I/O goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPattern {
    /// One after the other, from the beginning again at the end.
    #[default]
    #[serde(alias = "seq")]
    Sequential,
    /// 4 KiB anywhere.
    #[serde(alias = "rnd")]
    Random,
}

/// What was measured. Everything is open at first, so that a run that ends early still says what it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRun {
    /// I/Os of the workload in flight; fewer on a card that takes long for one.
    pub queue_depth: u32,
    /// I/Os that failed meanwhile.
    #[serde(default)]
    pub failed_ios: u64,
    /// A sample a second; several seconds in runs of more than six hours.
    pub series: SampleSeries,
    /// What happened, in order.
    pub events: Vec<SustainEvent>,
    /// Levels of the speed.
    pub levels: Vec<SpeedLevel>,
    /// Bytes written before the speed fell for good.
    pub cache_bytes: Property<u64>,
    /// Speed after that, in MB/s.
    pub after_cache_mb_s: Property<f64>,
    /// What a pause gave back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery: Option<PauseRecovery>,
    /// Stalls; `None` where there were none worth a name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stalls: Option<CardStalls>,
    /// What heat did; `None` where it did nothing that shows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttling: Option<ThrottleFacts>,
    /// Somebody else on bus or host.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interference: Option<HostInterference>,
    /// The last five rounds of the workload.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steady_state: Option<SteadyState>,
    /// Small reads, alone and while the card writes.
    pub read_latency: ReadLatency,
    /// Temperatures at which the card says that it acts.
    pub limits: TemperatureLimits,
    /// Highest temperature of the card, in °C.
    pub max_celsius: Option<f64>,
    /// Why it ended: `steady state`, `--duration`, `--bytes`, `--max-temp` …
    pub ended_by: String,
    /// What was left out, each with why.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_out: Vec<String>,
}

/// The document of `sustain`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LongRun {
    /// What the workload did.
    pub work: WorkloadKind,
    /// Where it went.
    pub pattern: WorkloadPattern,
    /// Bytes of an I/O.
    pub block_bytes: u64,
    /// First byte of the part of the target that was used.
    pub region_start: u64,
    /// Bytes of it.
    pub region_bytes: u64,
    /// What was measured.
    #[serde(flatten)]
    pub measured: MeasuredRun,
    /// The same card under another condition, held beside it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<ConditionComparison>,
    /// Bytes that the target announces.
    pub announced_bytes: u64,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
}

/// The document of `sustain`.
pub type SustainReport = Report<LongRun>;

impl ReportBody for LongRun {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::not_proven_if(self.measured.series.is_empty())
    }

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

/// Two conditions beside each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConditionComparison {
    /// The other run: its session or file.
    pub other: String,
    /// Words of the conditions that differ: the word, here, there.
    pub conditions: Vec<(String, String, String)>,
    /// The figures.
    pub lines: Vec<ComparedLine>,
    /// Why the two should not be held against each other, where they should not.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

/// One figure under two conditions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedLine {
    /// What.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// In this run.
    pub here: Option<f64>,
    /// In the other.
    pub there: Option<f64>,
    /// Here over there.
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio, where both have one.
    pub ratio_ci95: Option<[f64; 2]>,
    /// What may be said: `faster`, `slower`, `same within ±5 %`, `no difference shown`, or nothing.
    pub says: String,
}
