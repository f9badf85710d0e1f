//! The document of `check`: the whole visit, part by part, and the verdict page that ends it.

use crate::card_map::MapReport;
use crate::caveat::Caveat;
use crate::condition::Condition;
use crate::finding::{Finding, Weight};
use crate::identity::Identity;
use crate::job::JobScore;
use crate::judged_mark::MarksMeasured;
use crate::result::{NotMeasured, TestResult};
use crate::sustain;
use crate::verify::{Verdict, VerifyReport};
use serde::{Deserialize, Serialize};

/// What became of a part of the visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    /// All of it.
    Done,
    /// Some of it; `reason` says what is missing.
    Partly,
    /// None of it; `reason` says why.
    LeftOut,
}

/// A part of the visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `info`, `verify`, `bench`, `map`, `marks`, `sustain`.
    pub part: String,
    /// What became of it.
    pub state: PartState,
    /// Seconds of the target's clock.
    pub seconds: f64,
    /// What was left out and why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// True where a longer budget would bring what is missing.
    pub wants_time: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// In a sentence.
    pub what: String,
    /// The command, ready to paste, where one does it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}

/// The whole visit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The target as it was named.
    pub target: String,
    /// Is the card what it says: the verdict of `verify`.
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
    /// Bytes that the target announces; of a directory, the free space that was filled.
    pub announced_bytes: u64,
    /// The prefix from 0 that can be trusted; `None` if unknown.
    pub usable_bytes: Option<u64>,
    /// Distinct bytes that the card was seen to keep at one time.
    pub proven_bytes: u64,
    /// The time it was given, in seconds.
    pub budget_s: f64,
    /// The time it took, by the target's clock.
    pub seconds: f64,
    /// The parts, in the order in which they were done.
    pub parts: Vec<Part>,
    /// What the card says of itself.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub identity: Option<Identity>,
    /// Is the capacity real.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verify: Option<VerifyReport>,
    /// The short bench.
    pub bench: Vec<TestResult>,
    /// Tests of it that could not be measured.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_measured: Vec<NotMeasured>,
    /// What is inside.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub map: Option<MapReport>,
    /// The marks, judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub marks: Option<MarksMeasured>,
    /// What becomes of it when it is used for a while.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sustain: Option<sustain::Measured>,
    /// What it is good for.
    pub jobs: Vec<JobScore>,
    /// What to do next.
    pub next: Vec<Next>,
    /// True where everything that was on the card is there again.
    pub data_kept: bool,
    /// Written, putting back left out.
    pub bytes_written: u64,
    /// Put back.
    pub bytes_restored: u64,
    /// Read.
    pub bytes_read: u64,
    /// What was true of card and rig.
    pub condition: Condition,
    /// How the I/O went.
    pub io_path: String,
    /// The seed of places and data.
    pub seed: u64,
    /// Doubts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caveats: Vec<Caveat>,
    /// Conclusions of all parts.
    pub findings: Vec<Finding>,
    /// Where it is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl CheckReport {
    /// Whether something speaks against the card: exit status 1.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.verdict.is_bad() || self.findings.iter().any(|f| f.weight == Weight::Bad)
    }
}
