//! What the documents of all verbs have in common: one header, and a body of the verb's own beside it. In JSON both lie
//! on one level.

use crate::caveat::{self, Caveat};
use crate::condition::Condition;
use crate::finding::{Finding, FindingWeight};
use crate::suspect_reader::SuspectReader;
use crate::verify::error_pattern::{ErrorPattern, READER_ERRORS};
use crate::verify::io_error::{IoCounts, IoError, list_failed};
use serde::{Deserialize, Serialize};

/// Claims of the findings that stand for a verdict on the capacity.
pub const CAPACITY_CLAIMS: [&str; 2] = ["capacity", "bound"];

/// What every document says, whatever the verb.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReportHeader {
    /// The target as it was named.
    pub target: String,
    /// The seed of places, orders and data.
    #[serde(default)]
    pub seed: u64,
    /// What was true of card and rig.
    #[serde(default)]
    pub condition: Condition,
    /// How the I/O went: `io_uring`, `preads`, `simulated`.
    #[serde(default)]
    pub io_path: String,
    /// Doubts about the whole document.
    #[serde(default, deserialize_with = "caveat::read")]
    pub caveats: Vec<Caveat>,
    /// Conclusions.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Reads that gave different data; `None` where none did, or it was not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub suspect_reader: Option<SuspectReader>,
    /// Its id in the archive; `None` where nothing was archived.
    pub session: Option<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// What to do next, the most pressing first.
    #[serde(default)]
    pub next: Vec<NextStep>,
}

impl ReportHeader {
    /// The conclusion that it adds to the body's.
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

/// What to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// In a sentence.
    pub what: String,
    /// The command, ready to paste, where one does it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}

/// What a verb moved to and from the card, in bytes, how long it took by the target's clock, and whether the card's data
/// is there again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IoTotals {
    /// True where everything that was on the card is there again, as far as the card can hold it.
    #[serde(default)]
    pub data_kept: bool,
    /// What of the data that was to be preserved may not be as it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub may_have_changed: Option<ChangedBlocks>,
    /// Written, putting back left out.
    pub bytes_written: u64,
    /// Put back after the test.
    #[serde(default)]
    pub bytes_restored: u64,
    /// Read.
    pub bytes_read: u64,
    /// Seconds.
    pub seconds: f64,
    /// I/Os, and how many of them failed.
    #[serde(flatten)]
    pub counts: IoCounts,
    /// The first of those that failed.
    #[serde(rename = "troubles", skip_serializing_if = "Vec::is_empty", default)]
    pub io_errors: Vec<IoError>,
}

/// Conclusion of a finished document, as the exit status says it. In ascending order: of several the greatest holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExitStatus {
    /// Done, and nothing bad found.
    #[default]
    Good,
    /// Done, but what was asked is not proven: inconclusive, a suspect reader, nothing tested.
    NotProven,
    /// Done, and a finding is bad: a fake, a mark missed, lost data.
    Bad,
}

impl ExitStatus {
    /// The status of a process that ends with this conclusion.
    pub const fn code(self) -> u8 {
        match self {
            ExitStatus::Good => 0,
            ExitStatus::Bad => 1,
            ExitStatus::NotProven => 4,
        }
    }

    /// The conclusion of a process that ended with `code`; `None` where something ended it early.
    pub fn from_code(code: impl Into<i64>) -> Option<Self> {
        let code = code.into();
        [ExitStatus::Good, ExitStatus::Bad, ExitStatus::NotProven]
            .into_iter()
            .find(|status| i64::from(status.code()) == code)
    }

    /// `NotProven` if it is not, else `Good`.
    pub fn not_proven_if(untested: bool) -> Self {
        if untested { ExitStatus::NotProven } else { ExitStatus::Good }
    }

    /// `Bad` if something is, else `Good`.
    pub fn bad_if(bad: bool) -> Self {
        if bad { ExitStatus::Bad } else { ExitStatus::Good }
    }
}

/// How good the news is: its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NewsTone {
    /// Green.
    Good,
    /// No colour.
    #[default]
    Plain,
    /// Yellow.
    Warning,
    /// Red.
    Bad,
}

impl IoTotals {
    /// Notes what became of data that was saved, overwritten and restored: it is preserved only where nothing of it may
    /// have changed.
    pub fn restored(&mut self, may_have_changed: Option<ChangedBlocks>) {
        self.data_kept = may_have_changed.is_none();
        self.may_have_changed = may_have_changed;
    }
}

/// Bytes of a block of [`ChangedBlocks`].
const BLOCK: u64 = 4096;

/// Blocks of 4096 bytes that may not hold what they held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedBlocks {
    /// Number of blocks.
    pub blocks: u64,
    /// Bytes of the ranges in them.
    pub bytes: u64,
    /// File that lists the ranges; `None` where it could not be written.
    pub file: Option<String>,
}

impl ChangedBlocks {
    /// Counts ranges, first byte and bytes, which are in order and apart; `None` where there are none.
    pub fn of(ranges: impl IntoIterator<Item = (u64, u64)>) -> Option<Self> {
        let mut changed = ChangedBlocks::default();
        let mut next = 0;
        for (offset, len) in ranges.into_iter().filter(|(_, len)| *len > 0) {
            let end = (offset + len).div_ceil(BLOCK);
            changed.blocks += end - (offset / BLOCK).max(next).min(end);
            changed.bytes += len;
            next = end;
        }
        (changed.bytes > 0).then_some(changed)
    }
}

/// Failed I/Os that a document lists at most.
const MOST_IO_ERRORS: usize = 100;

impl IoTotals {
    /// What the I/Os that failed have in common; the card's size is unknown for files.
    pub fn error_pattern(&self, card_bytes: Option<u64>) -> ErrorPattern {
        ErrorPattern::of(self.counts, &self.io_errors, card_bytes)
    }

    /// Counts I/Os and lists the first that failed; one that failed twice takes the place of one that did not.
    pub fn add_failed(&mut self, counts: IoCounts, io_errors: &[IoError]) {
        self.counts += counts;
        for io_error in io_errors {
            list_failed(&mut self.io_errors, MOST_IO_ERRORS, io_error.clone());
        }
    }
}

/// What a verb's document holds beside the header.
pub trait ReportBody {
    /// Its conclusion, header and findings left out.
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::Good
    }

    /// Hears how many bytes the card did not keep of an image that was put back after the test.
    fn restored_without(&mut self, _lost: u64) {}

    /// Takes note that the reader is suspect: what was read through it proves nothing of the card.
    fn reader_is_suspect(&mut self) {}

    /// Takes a clean verdict back: an I/O failure cut its evidence short, or the card's data is not restored. True where
    /// there was one.
    fn withdraw_verdict(&mut self, _why: &str) -> bool {
        false
    }

    /// What was moved to and from the card; `None` for a verb that moves nothing of its own.
    fn moved(&mut self) -> Option<&mut IoTotals> {
        None
    }
}

/// The document of one use of a verb.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report<B> {
    /// What every document says.
    #[serde(flatten)]
    pub header: ReportHeader,
    /// What this verb's says.
    #[serde(flatten)]
    pub body: B,
}

impl<B: ReportBody> Report<B> {
    /// Takes a clean verdict back, with the findings that stand for it.
    pub fn withdraw_verdict(&mut self, why: &str) {
        if self.body.withdraw_verdict(why) {
            self.drop_capacity_claims();
        }
    }

    /// Drops the findings that stand for a verdict on the capacity.
    pub fn drop_capacity_claims(&mut self) {
        self.header.findings.retain(|finding| !CAPACITY_CLAIMS.contains(&finding.claim.as_str()));
    }
}

/// A document of any verb, as whoever shows it must know it.
pub trait ReportDocument {
    /// Its conclusion.
    fn exit_status(&self) -> ExitStatus;

    /// Notes what ended the verb early, where the document has room for it.
    fn ended_by(&mut self, _why: String) {}
}

impl<B: ReportBody> ReportDocument for Report<B> {
    fn exit_status(&self) -> ExitStatus {
        let found = self.body.exit_status().max(self.header.exit_status());
        match &self.header.suspect_reader {
            // Nothing had to be restored: what is bad is the reader, or a card that only another reader can prove bad.
            Some(reader) if !reader.ended_test && self.header.error.is_none() => {
                found.min(ExitStatus::NotProven)
            }
            _ => found,
        }
    }

    fn ended_by(&mut self, why: String) {
        self.header.error = Some(why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_status_is_the_gravest_and_survives_the_process() {
        use ExitStatus::{Bad, Good, NotProven};
        assert_eq!([Good, NotProven, Bad].map(ExitStatus::code), [0, 4, 1]);
        assert_eq!((Good.max(NotProven), NotProven.max(Bad), Bad.max(Good)), (NotProven, Bad, Bad));
        assert!([Good, NotProven, Bad].iter().all(|it| ExitStatus::from_code(it.code()) == Some(*it)));
        assert_eq!([2, 3, 130, -1].map(ExitStatus::from_code), [None; 4]);
    }

    #[test]
    fn changed_blocks_count_each_block_once() {
        let blocks =
            |ranges: &[(u64, u64)]| ChangedBlocks::of(ranges.iter().copied()).map(|c| (c.blocks, c.bytes));
        assert_eq!(blocks(&[]), None);
        assert_eq!(blocks(&[(0, 512), (1024, 512), (4096, 512)]), Some((2, 1536)));
        assert_eq!(blocks(&[(4095, 2), (12_288, 8192)]), Some((4, 8194)));
    }

    #[test]
    fn data_is_kept_only_where_nothing_may_have_changed() {
        let mut moved = IoTotals::default();
        moved.restored(ChangedBlocks::of([(0, 4096)]));
        assert!(!moved.data_kept && moved.may_have_changed.is_some());
        moved.restored(None);
        assert!(moved.data_kept && moved.may_have_changed.is_none());
    }
}
