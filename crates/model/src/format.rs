//! The document of `format`. Sizes in bytes, times in seconds of the target's clock.

use crate::condition::Condition;
use crate::finding::{Finding, Weight};
use crate::layout::Layout;
use crate::layout::present::PresentLayout;
use crate::verify::Trouble;
use serde::{Deserialize, Serialize};

/// What is done to the card beside its file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
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
pub struct Limited {
    /// What the card goes on announcing.
    pub announced_bytes: u64,
    /// What it really keeps, from its start on.
    pub real_bytes: u64,
    /// Who says so: `--real`, or the verify record of the archive.
    pub source: String,
}

/// What `format` did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FormatReport {
    /// The target as it was named.
    pub target: String,
    /// Quick, overwrite or discard.
    pub mode: Mode,
    /// Bytes that the card announces.
    pub card_bytes: u64,
    /// The layout that was asked for.
    pub layout: Layout,
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
    pub limited: Option<Limited>,
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
    /// Written.
    pub bytes_written: u64,
    /// Read.
    pub bytes_read: u64,
    /// How long it took.
    pub seconds: f64,
    /// I/Os that failed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub troubles: Vec<Trouble>,
    /// What was true of card and rig.
    pub condition: Condition,
    /// How the I/O went.
    pub io_path: String,
    /// Seed of the data with which a card is overwritten, and of the numbers that tell volumes apart.
    pub seed: u64,
    /// Conclusions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// Where it is kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

impl FormatReport {
    /// Whether something speaks against the card: exit status 1.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.findings.iter().any(|f| f.weight == Weight::Bad)
    }
}
