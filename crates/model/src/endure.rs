//! Document of `endure`: a card worn out in rounds. Bytes, seconds of the target's clock, MB/s.

use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

/// Milestones in percent of bad sectors, after the first error (docs/reference/tools.md#mfst).
pub const MILESTONES_PERCENT: [f64; 5] = [0.1, 1.0, 10.0, 25.0, 50.0];

/// Bad sectors of a round by content, in sectors of 512 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadSectors {
    pub misdirected: u64,
    pub stale: u64,
    pub foreign: u64,
    pub flipped: u64,
    pub lost: u64,
    pub unreadable: u64,
}

impl BadSectors {
    pub fn total_sectors(&self) -> u64 {
        self.misdirected + self.stale + self.foreign + self.flipped + self.lost + self.unreadable
    }
}

/// Round: a full write in random order and a full read in another order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndureRound {
    pub round: u32,
    pub seed: u64,
    pub written: u64,
    pub read: u64,
    /// Sectors that were bad in two readings.
    pub bad: BadSectors,
    /// Sectors that were bad in one of two readings only.
    #[serde(default)]
    pub passing_sectors: u64,
    /// Share of the sectors read, 0 to 1.
    pub bad_share: f64,
    pub failed_writes: u64,
    pub write_mb_s: f64,
    pub read_mb_s: f64,
    pub seconds: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WearMilestone {
    /// `first error`, `0.1 %` …
    pub milestone: String,
    pub round: u32,
    pub bytes_written: u64,
    pub seconds: f64,
}

/// Extrapolation to the point at which half of the sectors are bad.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WearProjection {
    /// Cycles of the full card in this run until half of it is bad.
    pub cycles: f64,
    /// 95 % interval of `cycles`, by leaving out one round at a time.
    pub interval: [f64; 2],
    pub bytes_written: f64,
    pub rounds: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EnduranceResult {
    pub announced_bytes: u64,
    pub span_bytes: u64,
    pub rounds: Vec<EndureRound>,
    pub milestones: Vec<WearMilestone>,
    #[serde(flatten)]
    pub moved: IoTotals,
    /// Bytes written over the span.
    pub cycles: f64,
    pub bad_share: f64,
    /// None if the rounds do not allow one.
    pub projection: Option<WearProjection>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub projection_reason: Option<String>,
    /// Number of disconnections that the card recovered from.
    pub returns: u32,
    pub ended_by: String,
}

pub type EndureReport = Report<EnduranceResult>;

impl ReportBody for EnduranceResult {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.is_bad() || self.passing_sectors() > 0)
            .max(ExitStatus::not_proven_if(self.rounds.is_empty()))
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

impl EnduranceResult {
    pub fn is_bad(&self) -> bool {
        self.rounds.iter().any(|r| r.bad.total_sectors() > 0 || r.failed_writes > 0)
    }

    pub fn passing_sectors(&self) -> u64 {
        self.rounds.iter().map(|round| round.passing_sectors).sum()
    }

    /// Returns the round number for the next stamps. An interrupted round has used up its number.
    pub fn next_attempt(&self) -> u32 {
        self.rounds.last().map_or(0, |round| round.round) + 1
    }

    pub fn next_milestone_percent(&self) -> Option<f64> {
        match self.milestones.len() {
            0 => Some(0.0),
            n => MILESTONES_PERCENT.get(n - 1).copied(),
        }
    }

    /// Adds a finished round and the milestones that it reached.
    pub fn add_round(&mut self, round: EndureRound) {
        self.moved.bytes_read += round.read;
        self.bad_share = round.bad_share;
        while let Some(percent) = self.next_milestone_percent() {
            let reached = round.bad.total_sectors() > 0 && round.bad_share * 100.0 >= percent;
            if !reached {
                break;
            }
            self.milestones.push(WearMilestone {
                milestone: if percent == 0.0 { "first error".to_owned() } else { format!("{percent} %") },
                round: round.round,
                bytes_written: self.moved.bytes_written,
                seconds: self.moved.seconds,
            });
        }
        self.rounds.push(round);
    }
}
