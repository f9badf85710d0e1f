//! The document of `check`: the whole visit, part by part, and the verdict page that ends it.

use crate::card_map::MapReport;
use crate::identity::Identity;
use crate::job::JobScore;
use crate::judged_label::JudgedSpeed;
use crate::judged_mark::MarksMeasured;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::result::{NotMeasured, TestResult};
use crate::sustain;
use crate::verify::{SURE, Verdict, VerifyReport};
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
pub struct CheckPart {
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

/// The whole visit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
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
    /// The time it was given, in seconds; 0 where none was.
    pub budget_s: f64,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
    /// The parts, in the order in which they were done.
    pub parts: Vec<CheckPart>,
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
    /// The speeds that are printed on it, judged.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub printed_speeds: Vec<JudgedSpeed>,
    /// What becomes of it when it is used for a while.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sustain: Option<sustain::MeasuredRun>,
    /// What it is good for.
    pub jobs: Vec<JobScore>,
}

/// The document of `check`.
pub type CheckReport = Report<CheckResult>;

impl ReportBody for CheckResult {
    fn reader_is_suspect(&mut self) {
        (self.verdict, self.confidence, self.usable_bytes) = (Verdict::ReaderSuspect, SURE, None);
    }

    fn withdraw_verdict(&mut self, why: &str) -> bool {
        let clean = self.verdict == Verdict::Genuine;
        if clean {
            (self.verdict, self.confidence, self.usable_bytes) = (Verdict::Inconclusive, 0.0, None);
        }
        // The page reads it there; the part's own document says what it found by itself.
        if let Some(verify) = &mut self.verify {
            verify.withdraw_verdict(why);
        }
        clean
    }

    fn exit_status(&self) -> ExitStatus {
        self.verdict.exit_status(self.confidence)
    }

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
