//! Logs of other tools, sent and understood.

use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A file that was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UploadedFile {
    /// Its name for an import.
    pub upload: String,
    /// Its file name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// The name of a file that is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileName {
    /// The name: `run1.log`.
    pub name: String,
}

/// What is imported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportOrder {
    /// Files that were sent.
    pub uploads: Vec<String>,
    /// Whether it is stored; otherwise it is only shown.
    pub keep: bool,
    /// Brand of the card, where the logs do not name it.
    pub brand: Option<String>,
    /// Its product name.
    pub card: Option<String>,
    /// The size on its label: `64GB`.
    pub capacity: Option<String>,
    /// Marks on its label.
    pub marks: Vec<String>,
}

/// What was understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ImportedLogs {
    /// The first line of the page.
    pub answer: String,
    /// How good that is.
    pub tone: NewsTone,
    /// File by file.
    pub files: Vec<ImportedFile>,
    /// The page as a fragment of HTML.
    pub html: String,
}

/// What was understood of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFile {
    /// Its name; one in an archive as `logs.zip/name`.
    pub file: String,
    /// Its format.
    pub format: Option<String>,
    /// The card that it is about.
    pub card: Option<String>,
    /// Runs in it.
    pub runs: usize,
    /// Results in it.
    pub results: usize,
    /// Why it was not understood or stored.
    pub error: Option<String>,
    /// Its sessions in the archive.
    pub sessions: Vec<String>,
}
