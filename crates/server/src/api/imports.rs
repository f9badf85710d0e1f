//! Upload and import of other tools' logs.

use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UploadedFile {
    /// Id for an import.
    pub upload: String,
    pub name: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileName {
    pub name: String,
}

/// Request to import or preview files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportOrder {
    /// Ids of uploaded files.
    pub uploads: Vec<String>,
    /// True to store the results; false for a preview.
    pub keep: bool,
    /// Brand of the card, for logs that do not name it.
    pub brand: Option<String>,
    /// Product name of the card.
    pub card: Option<String>,
    /// Size on the label, such as `64GB`.
    pub capacity: Option<String>,
    /// Marks on the label.
    pub marks: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ImportedLogs {
    /// First line of the page.
    pub answer: String,
    pub tone: NewsTone,
    pub files: Vec<ImportedFile>,
    pub html: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFile {
    /// File name; inside an archive `logs.zip/name`.
    pub file: String,
    /// Detected format.
    pub format: Option<String>,
    pub card: Option<String>,
    pub runs: usize,
    pub results: usize,
    /// Reason why it was not parsed or stored.
    pub error: Option<String>,
    /// Ids of its sessions in the archive.
    pub sessions: Vec<String>,
}
