//! What `import` says: file by file what was understood, and what became of it. The document of `import`.

use crate::log::CardLog;
use crate::report::{ExitStatus, ReportDocument};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of a file, or of one part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOutcome {
    /// It is in the archive now.
    New,
    /// The archive had it already.
    Known,
    /// It was only looked at.
    DryRun,
    /// It was left alone: no log of a known tool.
    NotUnderstood,
    /// It could not be read, unpacked or kept.
    Failed,
}

/// One file, or one card's part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileLine {
    /// Its name as found; a file in an archive as `logs.zip/name`.
    pub file: String,
    /// What was understood; absent where nothing was.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub log: Option<CardLog>,
    /// What became of it.
    pub kept: FileOutcome,
    /// The archive's sessions of it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sessions: Vec<String>,
    /// Why not, where it was not kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
}

/// Files without a card's name that are taken for logs of one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedFiles {
    /// How the card is called.
    pub card: String,
    /// The files.
    pub files: Vec<String>,
}

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportTotals {
    /// Files looked at, those within archives included.
    pub files: u64,
    /// Kept now.
    pub new: u64,
    /// Already there.
    pub known: u64,
    /// No log of a known tool.
    pub not_understood: u64,
    /// Not readable, not unpackable.
    pub failed: u64,
    /// Runs in what was understood.
    pub runs: u64,
    /// Figures in them.
    pub figures: u64,
}

/// Files of one format, those included that were imported before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfFormat {
    /// Files.
    pub files: u64,
    /// Runs in them.
    pub runs: u64,
    /// Results of these runs.
    pub results: u64,
}

impl ImportReport {
    /// Counts a file that was understood.
    pub fn count(&mut self, format: &str, runs: u64, results: u64) {
        self.totals.runs += runs;
        self.totals.figures += results;
        let of = self.formats.entry(format.to_owned()).or_default();
        *of = OfFormat { files: of.files + 1, runs: of.runs + runs, results: of.results + results };
    }
}

/// The whole document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportReport {
    /// File by file, in order. Without `--json` and `--dry-run` only those with something to say.
    pub files: Vec<FileLine>,
    /// The sums.
    pub totals: ImportTotals,
    /// What was understood, by format; `cardscope` are sessions that an archive wrote.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub formats: BTreeMap<String, OfFormat>,
    /// Logs that name no card and were joined with one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub joined: Vec<JoinedFiles>,
    /// Where it is kept; absent on a dry run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub archive: Option<String>,
    /// What ended it early, if anything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// True where a file that was named itself was not understood, or a log is damaged: exit status 1.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub named_failed: bool,
}

impl ReportDocument for ImportReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.named_failed)
    }

    fn ended_by(&mut self, why: String) {
        self.error = Some(why);
    }
}
