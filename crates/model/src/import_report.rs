//! Document of `import`: outcome of each file.

use crate::log::CardLog;
use crate::report::{ExitStatus, ReportDocument};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOutcome {
    New,
    Known,
    DryRun,
    /// Skipped, because it is not a log of a supported tool.
    NotUnderstood,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileLine {
    /// File name; `logs.zip/name` for a file in an archive.
    pub file: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub log: Option<CardLog>,
    pub kept: FileOutcome,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sessions: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// Files without a card's name that were joined as logs of one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedFiles {
    pub card: String,
    pub files: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportTotals {
    pub files: u64,
    pub new: u64,
    pub known: u64,
    pub not_understood: u64,
    pub failed: u64,
    pub runs: u64,
    pub figures: u64,
}

/// Counts of one format, including files that were imported before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfFormat {
    pub files: u64,
    pub runs: u64,
    pub results: u64,
}

impl ImportReport {
    pub fn count_file(&mut self, format: &str, runs: u64, results: u64) {
        self.totals.runs += runs;
        self.totals.figures += results;
        let of = self.formats.entry(format.to_owned()).or_default();
        *of = OfFormat { files: of.files + 1, runs: of.runs + runs, results: of.results + results };
    }
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Files in order. Without `--json` and `--dry-run` only those worth a line.
    pub files: Vec<FileLine>,
    pub totals: ImportTotals,
    /// Counts by format; `cardscope` are sessions exported by an archive.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub formats: BTreeMap<String, OfFormat>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub joined: Vec<JoinedFiles>,
    /// Archive; None on a dry run.
    pub archive: Option<String>,
    pub error: Option<String>,
    /// True if a file on the command line was not parsed, or a log is damaged: exit status 1.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub named_failed: bool,
}

impl ReportDocument for ImportReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.named_failed)
    }

    fn record_error(&mut self, why: String) {
        self.error = Some(why);
    }
}
