//! Document of `check`: all parts, and the verdict over them.

use crate::card_map::MapReport;
use crate::identity::Identity;
use crate::job::JobScore;
use crate::label_check::JudgedSpeed;
use crate::mark_result::MarksMeasured;
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use crate::result::{NotMeasured, TestResult};
use crate::sustain;
use crate::verify::{SURE_CONFIDENCE, Verdict, VerifyReport};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    Done,
    /// Partly done; `reason` says what is missing.
    Partly,
    /// Skipped; `reason` says why.
    LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckPart {
    pub part: String,
    pub state: PartState,
    pub seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// True if a longer budget would complete it.
    pub wants_time: bool,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckResult {
    pub verdict: Verdict,
    /// 0 to 1.
    pub confidence: f64,
    /// Announced bytes; of a directory, the free space that was filled.
    pub announced_bytes: u64,
    /// Length of the prefix that can be trusted; None if unknown.
    #[serialize_always]
    pub usable_bytes: Option<u64>,
    /// Distinct bytes that the card kept at one time.
    pub proven_bytes: u64,
    /// Time budget in seconds; 0 for none.
    pub budget_s: f64,
    #[serde(flatten)]
    pub moved: IoTotals,
    pub parts: Vec<CheckPart>,
    pub identity: Option<Identity>,
    pub verify: Option<VerifyReport>,
    pub bench: Vec<TestResult>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_measured: Vec<NotMeasured>,
    pub map: Option<MapReport>,
    pub marks: Option<MarksMeasured>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub printed_speeds: Vec<JudgedSpeed>,
    pub sustain: Option<sustain::MeasuredRun>,
    pub jobs: Vec<JobScore>,
}

pub type CheckReport = Report<CheckResult>;

impl ReportBody for CheckResult {
    fn mark_reader_suspect(&mut self) {
        (self.verdict, self.confidence, self.usable_bytes) = (Verdict::ReaderSuspect, SURE_CONFIDENCE, None);
    }

    fn withdraw_verdict(&mut self, why: &str) -> bool {
        let clean = self.verdict == Verdict::Genuine;
        if clean {
            (self.verdict, self.confidence, self.usable_bytes) = (Verdict::Inconclusive, 0.0, None);
        }
        // The page of `check` reads the verdict there. The session of the part keeps its own finding.
        if let Some(verify) = &mut self.verify {
            verify.withdraw_verdict(why);
        }
        clean
    }

    fn exit_status(&self) -> ExitStatus {
        self.verdict.exit_status(self.confidence)
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
