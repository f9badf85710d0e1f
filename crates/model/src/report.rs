//! Documents of verbs: a common header and a body for each verb. In JSON both are on one level.

use crate::caveat::{self, Caveat};
use crate::condition::Condition;
use crate::finding::{Finding, FindingWeight};
use crate::suspect_reader::SuspectReader;
use crate::verify::io_errors::{ErrorPattern, IoCounts, IoError, READER_ERRORS, list_failed};
use serde::{Deserialize, Serialize};

/// Claims of findings that are part of a verdict on the capacity.
pub const CAPACITY_CLAIMS: [&str; 2] = ["capacity", "bound"];

/// Common fields of every document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportHeader {
    pub target: String,
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub condition: Condition,
    /// I/O method: `io_uring`, `preads`, `simulated`.
    #[serde(default)]
    pub io_path: String,
    #[serde(default, deserialize_with = "caveat::read")]
    pub caveats: Vec<Caveat>,
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Inconsistent reads; None if there were none or they were not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspect_reader: Option<SuspectReader>,
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    #[serde(default)]
    pub next: Vec<NextStep>,
}

impl ReportHeader {
    pub fn exit_status(&self) -> ExitStatus {
        let of = |finding: &Finding| match (finding.weight, finding.claim.as_str()) {
            (FindingWeight::Bad, _) => ExitStatus::Bad,
            (_, READER_ERRORS) => ExitStatus::NotProven,
            _ => ExitStatus::Good,
        };
        let found = self.findings.iter().map(of).max().unwrap_or_default();
        match &self.suspect_reader {
            Some(reader) if reader.ended_test => found.max(ExitStatus::NotProven),
            _ => found,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}

/// Bytes that a verb moved, its duration by the target's clock, and the state of the card's data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoTotals {
    /// True if all data of the card is preserved, as far as the card can hold it.
    pub data_kept: bool,
    /// Blocks whose data may not have been preserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_have_changed: Option<ChangedBlocks>,
    /// Excludes `bytes_restored`.
    pub bytes_written: u64,
    pub bytes_restored: u64,
    pub bytes_read: u64,
    pub seconds: f64,
    #[serde(flatten)]
    pub counts: IoCounts,
    #[serde(rename = "troubles", skip_serializing_if = "Vec::is_empty", default)]
    pub io_errors: Vec<IoError>,
}

/// Conclusion of a finished document, as an exit status. Ascending: the greatest of several counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Done without a bad finding.
    #[default]
    Good,
    /// Done without proof: inconclusive, a suspect reader, nothing tested.
    NotProven,
    /// Done with a bad finding: a fake, a missed mark, lost data.
    Bad,
}

impl ExitStatus {
    pub const fn code(self) -> u8 {
        match self {
            ExitStatus::Good => 0,
            ExitStatus::Bad => 1,
            ExitStatus::NotProven => 4,
        }
    }

    pub fn from_code(code: impl Into<i64>) -> Option<Self> {
        let code = code.into();
        let mut all = [ExitStatus::Good, ExitStatus::Bad, ExitStatus::NotProven].into_iter();
        all.find(|status| i64::from(status.code()) == code)
    }

    pub fn not_proven_if(untested: bool) -> Self {
        if untested { ExitStatus::NotProven } else { ExitStatus::Good }
    }

    pub fn bad_if(bad: bool) -> Self {
        if bad { ExitStatus::Bad } else { ExitStatus::Good }
    }
}

/// Tone of a message, which determines its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NewsTone {
    Good,
    #[default]
    Plain,
    Warning,
    Bad,
}

const CHANGED_BLOCK_BYTES: u64 = 4096;

/// Blocks of 4096 bytes that may have lost their contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedBlocks {
    pub blocks: u64,
    pub bytes: u64,
    /// File with the list of ranges; None if it could not be written.
    pub file: Option<String>,
}

impl ChangedBlocks {
    /// Counts ranges (offset, length), which must be sorted and disjoint. Returns None if there are none.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        let mut changed = ChangedBlocks::default();
        let mut next = 0;
        for (offset, len) in ranges.into_iter().filter(|(_, len)| *len > 0) {
            let end = (offset + len).div_ceil(CHANGED_BLOCK_BYTES);
            changed.blocks += end - (offset / CHANGED_BLOCK_BYTES).max(next).min(end);
            changed.bytes += len;
            next = end;
        }
        (changed.bytes > 0).then_some(changed)
    }
}

const MAX_IO_ERRORS: usize = 100;

impl IoTotals {
    /// Records a restoration: data counts as preserved only if nothing may have changed.
    pub fn record_restored(&mut self, may_have_changed: Option<ChangedBlocks>) {
        self.data_kept = may_have_changed.is_none();
        self.may_have_changed = may_have_changed;
    }

    pub fn error_pattern(&self, card_bytes: Option<u64>) -> ErrorPattern {
        ErrorPattern::from_errors(self.counts, &self.io_errors, card_bytes)
    }

    /// Adds failed I/Os. If the list is full, one that failed twice replaces one that failed once.
    pub fn add_failed(&mut self, counts: IoCounts, io_errors: &[IoError]) {
        self.counts += counts;
        io_errors
            .iter()
            .for_each(|io_error| list_failed(&mut self.io_errors, MAX_IO_ERRORS, io_error.clone()));
    }
}

/// Body of a verb's document.
pub trait ReportBody {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::Good
    }

    /// Records the number of bytes that the card lost of an image restored after the test.
    fn record_lost_bytes(&mut self, _lost: u64) {}

    /// Records a suspect reader, through which reads prove nothing about the card.
    fn mark_reader_suspect(&mut self) {}

    /// Withdraws a positive verdict, because I/O failures cut its evidence short or the card's data is not restored.
    /// Returns true if there was one.
    fn withdraw_verdict(&mut self, _why: &str) -> bool {
        false
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        None
    }
}

/// Document of one run of a verb.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report<B> {
    #[serde(flatten)]
    pub header: ReportHeader,
    #[serde(flatten)]
    pub body: B,
}

impl<B: ReportBody> Report<B> {
    pub fn withdraw_verdict(&mut self, why: &str) {
        if self.body.withdraw_verdict(why) {
            self.drop_capacity_claims();
        }
    }

    pub fn drop_capacity_claims(&mut self) {
        self.header.findings.retain(|finding| !CAPACITY_CLAIMS.contains(&finding.claim.as_str()));
    }
}

/// Document of any verb, for its output.
pub trait ReportDocument {
    fn exit_status(&self) -> ExitStatus;

    /// Records an error that ended the verb early, if the document has a field for it.
    fn record_error(&mut self, _why: String) {}
}

impl<B: ReportBody> ReportDocument for Report<B> {
    fn exit_status(&self) -> ExitStatus {
        let worst = self.body.exit_status().max(self.header.exit_status());
        match &self.header.suspect_reader {
            // No data is at risk; a bad finding may come from the reader, so it proves nothing until another reader
            // confirms it.
            Some(it) if !it.ended_test && self.header.error.is_none() => worst.min(ExitStatus::NotProven),
            _ => worst,
        }
    }

    fn record_error(&mut self, why: String) {
        self.header.error = Some(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_status_is_the_worst_and_round_trips_its_code() {
        use ExitStatus::{Bad, Good, NotProven};
        assert_eq!([Good, NotProven, Bad].map(ExitStatus::code), [0, 4, 1]);
        assert_eq!((Good.max(NotProven), NotProven.max(Bad), Bad.max(Good)), (NotProven, Bad, Bad));
        assert!([Good, NotProven, Bad].iter().all(|it| ExitStatus::from_code(it.code()) == Some(*it)));
        assert_eq!([2, 3, 130, -1].map(ExitStatus::from_code), [None; 4]);
    }

    #[test]
    fn changed_blocks_count_each_block_once() {
        let blocks = |ranges: &[(u64, u64)]| {
            ChangedBlocks::from_ranges(ranges.iter().copied()).map(|c| (c.blocks, c.bytes))
        };
        assert_eq!(blocks(&[]), None);
        assert_eq!(blocks(&[(0, 512), (1024, 512), (4096, 512)]), Some((2, 1536)));
        assert_eq!(blocks(&[(4095, 2), (12_288, 8192)]), Some((4, 8194)));
    }

    #[test]
    fn data_is_kept_only_where_nothing_may_have_changed() {
        let mut moved = IoTotals::default();
        moved.record_restored(ChangedBlocks::from_ranges([(0, 4096)]));
        assert!(!moved.data_kept && moved.may_have_changed.is_some());
        moved.record_restored(None);
        assert!(moved.data_kept && moved.may_have_changed.is_none());
    }
}
