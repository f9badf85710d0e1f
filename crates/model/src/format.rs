//! Document of `format`. Bytes, and seconds of the target's clock.

use crate::present_layout::PresentLayout;
use crate::report::{IoTotals, Report, ReportBody};
use cardscope_sd::layout::CardLayout;
use serde::{Deserialize, Serialize};

/// Treatment of the card's old content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatMode {
    /// Only partition table and file system are written.
    #[default]
    Quick,
    /// Every byte of the card is written first.
    Overwrite,
    /// The whole card is discarded first.
    Discard,
}

/// Reason that less than the announced capacity is formatted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeLimit {
    pub announced_bytes: u64,
    pub real_bytes: u64,
    /// `--real`, or the `verify` session in the archive.
    pub source: String,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FormatResult {
    pub mode: FormatMode,
    pub card_bytes: u64,
    pub layout: CardLayout,
    /// Layout after formatting; None if it was not read.
    #[serialize_always]
    pub present: Option<PresentLayout>,
    pub checked: bool,
    pub label: Option<String>,
    pub size_adjustment: bool,
    pub limited: Option<SizeLimit>,
    /// True if the card accepted the discard; None in other modes.
    pub discarded: Option<bool>,
    /// Condition of the card for later runs: `overwritten`, `trimmed`. None after a quick format, which does not
    /// change the blocks.
    #[serialize_always]
    pub state: Option<String>,
    pub file_system: String,
    /// Image saved before; `restore` with it undoes the format.
    pub backup: Option<String>,
    pub tool: String,
    #[serde(flatten)]
    pub moved: IoTotals,
}

pub type FormatReport = Report<FormatResult>;

impl ReportBody for FormatResult {
    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
