//! Document of `restore`. Sizes and offsets in bytes.

use crate::report::{ChangedBlocks, ExitStatus, ReportDocument};
use crate::verify::{IoCounts, IoError};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestoreSource {
    #[default]
    Journal,
    Backup,
}

/// Evidence that the card is the one that was saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecognisedBy {
    /// CID, or model and serial number.
    Identity,
    Content,
    Consent,
    /// Size only, because the card has neither an identity nor contents to compare.
    SizeOnly,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreRange {
    pub offset: u64,
    pub len: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RestoreReport {
    pub file: String,
    pub source: RestoreSource,
    pub target: String,
    pub saved_at: String,
    pub announced_bytes: u64,
    pub recognised_by: Option<RecognisedBy>,
    pub saved_bytes: u64,
    /// Bytes of the card that differed from the originals; None if not compared.
    pub differed_bytes: Option<u64>,
    pub bytes_restored: u64,
    /// True if everything was read again after reopening the card, and compared.
    pub compared: bool,
    pub lost: Vec<RestoreRange>,
    /// Ranges with newer data than the test's, left unchanged because the user did not agree to lose them.
    #[serde(default)]
    pub left: Vec<RestoreRange>,
    pub unreadable: Vec<RestoreRange>,
    /// Ranges that read differently in requests of another size, which makes the reader suspect.
    #[serde(default)]
    pub doubtful: Vec<RestoreRange>,
    /// Ranges with test data whose originals the journal has lost.
    #[serde(default)]
    pub originals_lost: Vec<RestoreRange>,
    #[serde(default)]
    pub missing_ranges: u64,
    /// True if the journal may be truncated and the card could not be searched completely for its ranges.
    #[serde(default)]
    pub may_lack_more: bool,
    /// Bytes of the card searched for test data outside of the saved ranges.
    #[serde(default)]
    pub searched_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub may_have_changed: Option<ChangedBlocks>,
    /// True if the journal was removed because nothing is left to restore.
    pub removed: bool,
    #[serde(flatten)]
    pub counts: IoCounts,
    #[serde(rename = "troubles", skip_serializing_if = "Vec::is_empty", default)]
    pub io_errors: Vec<IoError>,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl RestoreReport {
    pub fn is_bad(&self) -> bool {
        let lists = [&self.lost, &self.unreadable, &self.left, &self.doubtful, &self.originals_lost];
        lists.iter().any(|list| !list.is_empty()) || self.missing_ranges > 0 || self.may_lack_more
    }
}

impl ReportDocument for RestoreReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.is_bad())
    }

    fn record_error(&mut self, why: String) {
        self.error = Some(why);
    }
}

/// Journal with unrestored data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WaitingJournal {
    pub file: String,
    pub target: String,
    pub card: Option<String>,
    pub announced_bytes: u64,
    pub began: String,
    pub saved_bytes: u64,
    /// `waits`, `running` if the test continues, or the reason that it cannot be used.
    pub state: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
}
