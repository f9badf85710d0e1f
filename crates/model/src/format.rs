//! The document of `format`. Sizes in bytes, times in seconds of the target's clock.

use crate::present_layout::PresentLayout;
use crate::report::{IoTotals, Report, ReportBody};
use cardscope_sd::layout::CardLayout;
use serde::{Deserialize, Serialize};

/// What is done to the card beside its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatMode {
    /// Only partition table and file system are written.
    #[default]
    Quick,
    /// Every byte of the card is written first.
    Overwrite,
    /// The card is told first that nothing on it is of value.
    Discard,
}

/// Why less than the announced capacity is laid out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeLimit {
    /// What the card goes on announcing.
    pub announced_bytes: u64,
    /// What it really keeps, from its start on.
    pub real_bytes: u64,
    /// Who says so: `--real`, or the verify record of the archive.
    pub source: String,
}

/// What `format` did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FormatResult {
    /// Quick, overwrite or discard.
    pub mode: FormatMode,
    /// Bytes that the card announces.
    pub card_bytes: u64,
    /// The layout that was asked for.
    pub layout: CardLayout,
    /// The layout that was read back; `None` where it did not come to that.
    pub present: Option<PresentLayout>,
    /// True where everything that was written was read back, and was the same.
    pub checked: bool,
    /// Name of the volume.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// Whether the end was cut to a whole cylinder.
    pub size_adjustment: bool,
    /// Why less than the announced capacity is laid out.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limited: Option<SizeLimit>,
    /// With [`Mode::Discard`]: whether the card took it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub discarded: Option<bool>,
    /// The state that later runs name as their condition: `overwritten`, `trimmed`; `None` where a quick format says
    /// nothing about the card's blocks.
    pub state: Option<String>,
    /// Word of the file system for conditions.
    pub file_system: String,
    /// The image that was saved before; `restore` with it undoes the format.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub backup: Option<String>,
    /// The tool that made the file system, with its version.
    pub tool: String,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
}

/// The document of `format`.
pub type FormatReport = Report<FormatResult>;

impl ReportBody for FormatResult {
    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}
