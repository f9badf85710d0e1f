//! File format of an exported session, which another archive can import without loss.
//!
//! JSON; the first two fields identify the format. Newer versions and unknown fields are refused, because skipping
//! them would lose data silently. File contents are base64 (RFC 4648, section 4). JSON Schema:
//! `docs/result-file.schema.json`.

mod figures;

use crate::card::{CardEvent, CardFacts};
use crate::caveat::Caveat;
use crate::condition::{Condition, ConditionOrigin};
use crate::finding::Finding;
use crate::log::CardLog;
use crate::result::{BenchReport, LoopSample, RunResult};
use crate::run::TestFigure;
use crate::test_name::TestName;
use crate::untrusted_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Value of the field `format`.
pub const FORMAT: &str = "cardscope-session";
/// Version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// Session of any verb, with all its data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionFile {
    pub format: String,
    pub version: u32,
    /// Id of the session in every archive: a UUID of version 7.
    pub session: String,
    /// `bench` for a benchmark, `import` for a log of another tool, else the verb, e.g. `verify`.
    pub kind: String,
    pub card: Option<FileCard>,
    pub specimen: Option<CardUnit>,
    pub events: Vec<FileEvent>,
    pub attachments: Vec<FileAttachment>,
    /// Equipment between host and card, by keys of the condition.
    pub rig: BTreeMap<String, String>,
    pub condition: Condition,
    pub origins: BTreeMap<String, ConditionOrigin>,
    pub recipe: Option<FileRecipe>,
    pub target: String,
    /// Seed of positions and data, as a decimal string because JSON readers lose digits of large numbers.
    pub seed: String,
    pub io_path: Option<String>,
    pub bus_ceiling_mb_s: Option<f64>,
    pub identity: Value,
    pub host: Value,
    pub tool_version: String,
    /// Start, UTC; for a log its date, else the time of the import.
    pub started_at: String,
    pub measured_at: Option<String>,
    pub updated_at: Option<String>,
    /// End, UTC; None if the process died.
    pub ended_at: Option<String>,
    /// `complete`, `interrupted` or `failed`.
    pub ended: Option<String>,
    pub runs: Vec<FileRun>,
    pub report: Option<BenchReport>,
    pub document: Option<Value>,
    pub findings: Vec<Finding>,
    pub log: Option<CardLog>,
    /// Hash that recognizes the same log in another file.
    pub content_hash: Option<String>,
    pub source: Option<FileSource>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileCard {
    pub id: String,
    pub title: String,
    pub facts: CardFacts,
}

/// Unit: one physical card of its model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardUnit {
    /// BLAKE3, in hex, of all identifying data.
    pub id: String,
    pub maker: Option<String>,
    /// Model according to the card.
    pub model: String,
    pub capacity_bytes: Option<u64>,
    pub serial: Option<String>,
    pub facts: CardFacts,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEvent {
    pub specimen: Option<String>,
    pub event: CardEvent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachedTo {
    Card,
    Specimen,
    Session,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileAttachment {
    pub on: AttachedTo,
    pub name: String,
    pub media_type: String,
    pub note: Option<String>,
    pub added_at: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRecipe {
    pub name: String,
    pub version: String,
    /// Text of the recipe; empty for a tool.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRun {
    pub run: u32,
    pub seed: String,
    pub counted: bool,
    pub started_at: String,
    pub ended_at: Option<String>,
    pub size_bytes: Option<u64>,
    pub loops: Option<u32>,
    /// Figures in the common form; None for an unfinished run.
    #[serde(with = "figures")]
    pub figures: Option<Vec<TestFigure>>,
    pub results: Option<RunResult>,
    pub samples: Vec<SampleRecord>,
}

/// Source file of a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSource {
    pub hash: String,
    pub name: String,
    pub format: String,
    pub imported_at: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    pub test_key: String,
    pub test: TestName,
    pub step: Option<String>,
    pub loop_index: u32,
    pub sample: LoopSample,
    pub caveats: Vec<Caveat>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionFileError {
    #[error("this is not a Cardscope session ({0}); `cardscope archive export` writes such files")]
    OtherFormat(String),
    /// Newer version.
    #[error(
        "this session was written by a newer Cardscope (version {found} of the format, this one knows up to {VERSION}); use that one"
    )]
    Newer { found: u64 },
    /// Unknown field, as a path.
    #[error(
        "this session has a field that version {VERSION} of the format does not have: {0}; it was not taken in, because the field would be lost"
    )]
    UnknownField(String),
    /// Missing or invalid field.
    #[error("this session is damaged ({0}); export it again")]
    Damaged(String),
}

impl SessionFile {
    /// Parses a session file.
    ///
    /// # Errors
    /// If it has another format, is newer or damaged, or has an unknown field.
    pub fn from_json(text: &str) -> Result<Self, SessionFileError> {
        let no_json = |e| SessionFileError::OtherFormat(format!("no JSON: {e}"));
        let whole: Value = serde_json::from_str(text).map_err(no_json)?;
        // The version is checked first, because a newer file may have any other structure.
        match (whole["format"].as_str(), whole["version"].as_u64()) {
            (Some(FORMAT), Some(found)) if found > u64::from(VERSION) => {
                return Err(SessionFileError::Newer { found });
            }
            (Some(FORMAT), Some(1..)) => {}
            (Some(FORMAT), _) => return Err(SessionFileError::Damaged("its version is missing".to_owned())),
            _ => return Err(SessionFileError::OtherFormat(format!("its format is not {FORMAT}"))),
        }
        let damaged = |e: serde_json::Error| SessionFileError::Damaged(e.to_string());
        let file: SessionFile = serde_json::from_str(text).map_err(damaged)?;
        let taken = serde_json::to_value(&file).map_err(damaged)?;
        match unknown_field(&whole, &taken) {
            Some(path) => Err(SessionFileError::UnknownField(path)),
            None => Ok(file),
        }
    }

    /// Serializes the session, deterministic, with a final line end and without terminal control characters.
    pub fn to_json(&self) -> Result<String, SessionFileError> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| untrusted_text::escape_json(&text).into_owned() + "\n")
            .map_err(|e| SessionFileError::Damaged(e.to_string()))
    }
}

/// Returns the path of the first field of the file that was not parsed. Null fields do not count. Compares values
/// instead of using `deny_unknown_fields`, which all nested types would need for this single use.
fn unknown_field(file: &Value, taken: &Value) -> Option<String> {
    match (file, taken) {
        (Value::Object(all), Value::Object(known)) => all.iter().find_map(|(name, value)| {
            let inner = match known.get(name) {
                Some(taken) => unknown_field(value, taken)?,
                // Types omit empty lists when they are serialized.
                None if value.is_null() || value.as_array().is_some_and(Vec::is_empty) => return None,
                None => String::new(),
            };
            Some(join_path(name, &inner))
        }),
        (Value::Array(all), Value::Array(known)) => {
            all.iter().zip(known).enumerate().find_map(|(at, (value, taken))| {
                unknown_field(value, taken).map(|inner| join_path(&format!("[{at}]"), &inner))
            })
        }
        _ => None,
    }
}

fn join_path(name: &str, inner: &str) -> String {
    match inner {
        "" => name.to_owned(),
        inner if inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    }
}

#[cfg(test)]
mod tests;
