//! The document of `endure`: a card worn out in rounds. Sizes in bytes, times in seconds of the target's clock, speeds
//! in MB/s.

use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

/// Shares of bad sectors that are milestones, in percent, beside the first error (docs/reference/tools.md#mfst).
pub const MILESTONES_PERCENT: [f64; 5] = [0.1, 1.0, 10.0, 25.0, 50.0];

/// Bad sectors of one round by what stood there, in sectors of 512 bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadSectors {
    /// Data that was written to another address.
    pub misdirected: u64,
    /// What an earlier round wrote there.
    pub stale: u64,
    /// Stamps of another run.
    pub foreign: u64,
    /// This round's data with a few bits wrong.
    pub flipped: u64,
    /// One byte repeated, or nothing that is known.
    pub lost: u64,
    /// They could not be read.
    pub unreadable: u64,
}

impl BadSectors {
    /// Counts the bad sectors of all kinds.
    pub fn all(&self) -> u64 {
        self.misdirected + self.stale + self.foreign + self.flipped + self.lost + self.unreadable
    }
}

/// One round: everything written in random order, everything read in another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndureRound {
    /// Counts from 1.
    pub round: u32,
    /// Seed of its two orders.
    pub seed: u64,
    /// Bytes written.
    pub written: u64,
    /// Bytes read back.
    pub read: u64,
    /// Sectors that were bad, each read twice.
    pub bad: BadSectors,
    /// Sectors that were bad in one of two readings only.
    #[serde(default)]
    pub passing_sectors: u64,
    /// Of the sectors that were read back, from 0 to 1.
    pub bad_share: f64,
    /// Writes that failed twice.
    pub failed_writes: u64,
    /// Speed of writing.
    pub write_mb_s: f64,
    /// Speed of reading.
    pub read_mb_s: f64,
    /// How long it took.
    pub seconds: f64,
}

/// A share of bad sectors that was reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WearMilestone {
    /// `first error`, `0.1 %` …
    pub milestone: String,
    /// The round that reached it.
    pub round: u32,
    /// Bytes written by then, over all rounds.
    pub bytes_written: u64,
    /// Seconds of testing by then.
    pub seconds: f64,
}

/// When half of the sectors will be bad, if it goes on like this.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WearProjection {
    /// Full-card cycles, those of this run, until half of it is bad.
    pub cycles: f64,
    /// 95 % interval of it, from leaving rounds out in turn.
    pub interval: [f64; 2],
    /// The same in bytes written.
    pub bytes_written: f64,
    /// Rounds with losses that it rests on.
    pub rounds: u32,
}

/// What became of a card that was worn out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EnduranceResult {
    /// Bytes that the card announces.
    pub announced_bytes: u64,
    /// Bytes from 0 that are worn.
    pub span_bytes: u64,
    /// Each finished round.
    pub rounds: Vec<EndureRound>,
    /// What was reached, in order.
    pub milestones: Vec<WearMilestone>,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
    /// Bytes written over the span.
    pub cycles: f64,
    /// Share of bad sectors in the last round, from 0 to 1.
    pub bad_share: f64,
    /// When half of it will be bad; `None` where nothing can be said.
    pub projection: Option<WearProjection>,
    /// Why nothing can be said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub projection_reason: Option<String>,
    /// Times that the card went away and came back.
    pub returns: u32,
    /// What ended it: `half of the sectors are bad`, `--rounds` …
    pub ended_by: String,
}

/// The document of `endure`.
pub type EndureReport = Report<EnduranceResult>;

impl ReportBody for EnduranceResult {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.is_bad() || self.passing_sectors() > 0)
            .max(ExitStatus::not_proven_if(self.rounds.is_empty()))
    }

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

impl EnduranceResult {
    /// True where a sector was lost or a write failed twice.
    pub fn is_bad(&self) -> bool {
        self.rounds.iter().any(|r| r.bad.all() > 0 || r.failed_writes > 0)
    }

    /// Counts the sectors of all rounds that were bad in one of two readings only.
    pub fn passing_sectors(&self) -> u64 {
        self.rounds.iter().map(|round| round.passing_sectors).sum()
    }

    /// The write that the next round's stamps name; a round that was broken off has used up its own.
    pub fn attempt(&self) -> u32 {
        self.rounds.last().map_or(0, |round| round.round) + 1
    }

    /// The milestone that comes next, in percent; 0 is the first error.
    pub fn next_milestone_percent(&self) -> Option<f64> {
        match self.milestones.len() {
            0 => Some(0.0),
            n => MILESTONES_PERCENT.get(n - 1).copied(),
        }
    }

    /// Takes a finished round in, with the milestones that it reached.
    pub fn take(&mut self, round: EndureRound) {
        self.moved.bytes_read += round.read;
        self.bad_share = round.bad_share;
        while let Some(percent) = self.next_milestone_percent() {
            let reached = round.bad.all() > 0 && round.bad_share * 100.0 >= percent;
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
