//! What a run leaves: its slices, samples and events, from which everything is concluded.

use cardscope_analysis::series::{Experiment, Slice};
use cardscope_model::sustain::{Event, Phase, Sample};
use cardscope_sd::nvme::SmartLog;

/// A slice, and what the run was at.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) slice: Slice,
    pub(super) phase: Phase,
    pub(super) writes: bool,
}

/// All that a run leaves.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) taken: Vec<Taken>,
    pub(super) samples: Vec<Sample>,
    pub(super) events: Vec<Event>,
    /// Small reads with nothing else under way, in seconds; those under writes.
    pub(super) alone: Vec<f64>,
    pub(super) among: Vec<f64>,
    pub(super) health: Option<(SmartLog, SmartLog)>,
    pub(super) ended_by: String,
    pub(super) left_out: Vec<String>,
    pub(super) pause_s: f64,
    /// Longest time in which the card answered nothing that it was asked.
    pub(super) longest_wait: Option<Wait>,
    pub(super) experiment: Option<Experiment>,
    pub(super) written: u64,
    pub(super) read: u64,
}

/// A time without an answer, and when it was over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) at_s: f64,
    pub(super) at_bytes: u64,
    pub(super) seconds: f64,
}

/// Slices in a row in which nothing of a kind succeeded, and how long they took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Empty {
    pub(super) slices: u32,
    pub(super) seconds: f64,
}
