//! What `restore` did. Sizes and places in bytes.

use crate::report::{ChangedBlocks, ExitStatus, ReportDocument};
use crate::verify::{IoCounts, IoError};
use serde::{Deserialize, Serialize};

/// What the originals come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreSource {
    /// What a test saved before it overwrote it.
    #[default]
    Journal,
    /// An image of a whole card.
    Backup,
}

/// How it is known that this is the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecognisedBy {
    /// By what it says of itself: CID, or model and serial number.
    Identity,
    /// By what stands on it.
    Content,
    /// The user said so.
    Consent,
    /// By its size only: it says nothing of itself, and nothing stands on it that would tell.
    SizeOnly,
}

/// A part of the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRange {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Why, where there is more to say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// What became of a journal or a backup.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RestoreReport {
    /// The journal or image.
    pub file: String,
    /// Which of both.
    pub source: RestoreSource,
    /// The target as it was named.
    pub target: String,
    /// When the originals were saved, UTC.
    pub saved_at: String,
    /// Bytes that the card announces.
    pub announced_bytes: u64,
    /// How it is known that this is the card; `None` before it was looked at.
    pub recognised_by: Option<RecognisedBy>,
    /// Bytes that the journal or image holds.
    pub saved_bytes: u64,
    /// Bytes of the card that were not as they had been; `None` where nobody looked.
    pub differed_bytes: Option<u64>,
    /// Bytes written to the card.
    pub bytes_restored: u64,
    /// Whether everything was read again after opening the card anew, and compared.
    pub compared: bool,
    /// What the card did not keep.
    pub lost: Vec<RestoreRange>,
    /// What holds something newer than the test, and was left as it is since nobody agreed to lose it.
    #[serde(default)]
    pub left: Vec<RestoreRange>,
    /// What could not be restored, and why.
    pub unreadable: Vec<RestoreRange>,
    /// What reads differently in requests of another size: the reader is suspect.
    #[serde(default)]
    pub doubtful: Vec<RestoreRange>,
    /// Test data on the card whose originals the journal does not have any more.
    #[serde(default)]
    pub originals_lost: Vec<RestoreRange>,
    /// Ranges that the journal had and does not have any more, at least.
    #[serde(default)]
    pub missing_ranges: u64,
    /// True where the journal may lack its end, and the card could not be searched whole for what was in it.
    #[serde(default)]
    pub may_lack_more: bool,
    /// Bytes of the card that were searched for test data beside what was saved.
    #[serde(default)]
    pub searched_bytes: u64,
    /// All that may not hold what it held before the test.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub may_have_changed: Option<ChangedBlocks>,
    /// True where the journal was removed, since nothing is left to do.
    pub removed: bool,
    /// I/Os, and how many of them failed.
    #[serde(flatten)]
    pub counts: IoCounts,
    /// The first of those that failed.
    #[serde(rename = "troubles", skip_serializing_if = "Vec::is_empty", default)]
    pub io_errors: Vec<IoError>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl RestoreReport {
    /// Whether anything is not as it was, or may not be.
    pub fn is_bad(&self) -> bool {
        let lists = [&self.lost, &self.unreadable, &self.left, &self.doubtful, &self.originals_lost];
        lists.iter().any(|list| !list.is_empty()) || self.missing_ranges > 0 || self.may_lack_more
    }
}

impl ReportDocument for RestoreReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.is_bad())
    }

    fn ended_by(&mut self, why: String) {
        self.error = Some(why);
    }
}

/// A journal that waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WaitingJournal {
    /// Its file.
    pub file: String,
    /// The target as it was named.
    pub target: String,
    /// What the card calls itself, where it does.
    pub card: Option<String>,
    /// Bytes that the card announces.
    pub announced_bytes: u64,
    /// When its test began, UTC.
    pub began: String,
    /// Bytes of the card that it holds.
    pub saved_bytes: u64,
    /// What is with it: `waits`, `running` where its test goes on, or why it cannot be used.
    pub state: String,
    /// The process that uses it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<u32>,
    /// The command that puts it back.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}
