//! One session as a file that leaves the archive and comes into another one without loss: the result format.
//!
//! A file is JSON. Its first two fields say what it is; a newer version is refused, and so is a field that this
//! version does not have, since leaving it out would lose it silently. Bytes of files stand in it as base64
//! (RFC 4648, section 4). The JSON Schema is `docs/result-file.schema.json`.

mod figures;

use crate::card::{CardEvent, CardFacts};
use crate::caveat::Caveat;
use crate::condition::{Condition, ConditionOrigin};
use crate::finding::Finding;
use crate::log::CardLog;
use crate::outside;
use crate::result::{BenchReport, LoopSample, RunResult};
use crate::run::TestFigure;
use crate::test_name::TestName;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// What `format` says in every such file.
pub const FORMAT: &str = "cardscope-session";
/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// A session, or the record of a verb that is no benchmark, with everything that is known about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Its name, for ever and in every archive: a UUID of version 7.
    pub session: String,
    /// `bench` for what was measured here, `import` for a log of another tool, else the verb of a record: `verify` …
    pub kind: String,
    /// The card; `None` for a record of a card that said nothing of itself.
    pub card: Option<FileCard>,
    /// The unit, where it could be told from others.
    pub specimen: Option<CardUnit>,
    /// What happened to the card, oldest first.
    pub events: Vec<FileEvent>,
    /// What hangs on the card, the unit and the session.
    pub attachments: Vec<FileAttachment>,
    /// What stood between host and card: words of the condition.
    pub rig: BTreeMap<String, String>,
    /// What was true of card and rig.
    pub condition: Condition,
    /// Who says so, by word.
    pub origins: BTreeMap<String, ConditionOrigin>,
    /// The method; `None` for a record.
    pub recipe: Option<FileRecipe>,
    /// The target as it was named; the file's name for a log.
    pub target: String,
    /// The seed of places and data, in decimal: JSON readers lose digits of large numbers.
    pub seed: String,
    /// How the I/O went: `io_uring`, `imported` …; `None` for a record.
    pub io_path: Option<String>,
    /// What the bus can carry in MB/s (10^6), where known.
    pub bus_ceiling_mb_s: Option<f64>,
    /// What the card said of itself.
    pub identity: Value,
    /// The computer.
    pub host: Value,
    /// Version of Cardscope that measured or imported it.
    pub tool_version: String,
    /// When it began, UTC; for a log its date, else when it was imported.
    pub started_at: String,
    /// When it was measured, where that is known.
    pub measured_at: Option<String>,
    /// When a record was last kept, UTC.
    pub updated_at: Option<String>,
    /// When it ended, UTC; `None` if nobody saw its end.
    pub ended_at: Option<String>,
    /// `complete`, `interrupted` or `failed`.
    pub ended: Option<String>,
    /// The runs, in order.
    pub runs: Vec<FileRun>,
    /// The report of a benchmark that ended.
    pub report: Option<BenchReport>,
    /// The document of a record.
    pub document: Option<Value>,
    /// What was concluded.
    pub findings: Vec<Finding>,
    /// A log as it was understood, without its runs.
    pub log: Option<CardLog>,
    /// The hash by which the same log is known again in another file.
    pub content_hash: Option<String>,
    /// The file that a log is from.
    pub source: Option<FileSource>,
}

/// The card in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileCard {
    /// Its name in the archive that wrote the file.
    pub id: String,
    /// How it is called.
    pub title: String,
    /// What is known of it.
    pub facts: CardFacts,
}

/// A unit of a card: one physical card of its model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardUnit {
    /// BLAKE3, in hex, of everything that tells it from others.
    pub id: String,
    /// Who made it.
    pub maker: Option<String>,
    /// How it names itself.
    pub model: String,
    /// Bytes it announces.
    pub capacity_bytes: Option<u64>,
    /// Its serial number.
    pub serial: Option<String>,
    /// What else is known of this unit.
    pub facts: CardFacts,
}

/// An event in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileEvent {
    /// The unit it happened to, where that is known.
    pub specimen: Option<String>,
    /// What happened.
    pub event: CardEvent,
}

/// On what an attachment hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachedTo {
    /// The card.
    Card,
    /// The unit.
    Specimen,
    /// The session.
    Session,
}

/// An attachment in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileAttachment {
    /// On what it hangs.
    pub on: AttachedTo,
    /// Its name.
    pub name: String,
    /// Its media type: `image/jpeg`.
    pub media_type: String,
    /// What there is to say about it.
    pub note: Option<String>,
    /// When it was added, UTC.
    pub added_at: String,
    /// Its bytes, in base64.
    pub content: String,
}

/// The method in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRecipe {
    /// The recipe's name, or the tool's.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its text; empty for a tool.
    pub text: String,
}

/// One run in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileRun {
    /// Counts from 1.
    pub run: u32,
    /// The seed of its places and data, in decimal.
    pub seed: String,
    /// False where it is not part of the summary.
    pub counted: bool,
    /// When it began.
    pub started_at: String,
    /// When it ended, UTC.
    pub ended_at: Option<String>,
    /// Size of the test area in bytes.
    pub size_bytes: Option<u64>,
    /// Loops in it.
    pub loops: Option<u32>,
    /// One figure for each test, in one shape whoever measured; `None` for a run that did not finish.
    #[serde(with = "figures")]
    pub figures: Option<Vec<TestFigure>>,
    /// All results of a run that was measured here.
    pub results: Option<RunResult>,
    /// Every finished loop, raw.
    pub samples: Vec<SampleRecord>,
}

/// The file that a log is from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileSource {
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    /// Its name.
    pub name: String,
    /// The importer that read it.
    pub format: String,
    /// When it was imported, UTC.
    pub imported_at: String,
    /// Its bytes, in base64.
    pub content: String,
}

/// One finished loop of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// The word by which the recipe names the test: its step, else its name.
    pub test_key: String,
    /// Pattern and operation.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    pub step: Option<String>,
    /// Which loop of the test, from 0, with those that are discarded.
    pub loop_index: u32,
    /// What was measured.
    pub sample: LoopSample,
    /// Doubts about it.
    pub caveats: Vec<Caveat>,
}

/// A file that could not be taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionFileError {
    /// Another kind of file.
    #[error("this is not a Cardscope session ({0}); `cardscope archive export` writes such files")]
    Other(String),
    /// Of a later Cardscope.
    #[error(
        "this session was written by a newer Cardscope (version {found} of the format, this one knows up to {VERSION}); use that one"
    )]
    Newer {
        /// Its version.
        found: u64,
    },
    /// A part that this version does not have.
    #[error(
        "this session has a field that version {VERSION} of the format does not have: {0}; it was not taken in, because the field would be lost"
    )]
    UnknownField(String),
    /// A part that is missing or of the wrong kind.
    #[error("this session is damaged ({0}); export it again")]
    Damaged(String),
}

impl SessionFile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it is of another kind, newer, damaged, or has a field that is not known here.
    pub fn from_json(text: &str) -> Result<Self, SessionFileError> {
        let whole: Value =
            serde_json::from_str(text).map_err(|e| SessionFileError::Other(format!("no JSON: {e}")))?;
        match (whole["format"].as_str(), whole["version"].as_u64()) {
            (Some(FORMAT), Some(found)) if found > u64::from(VERSION) => {
                return Err(SessionFileError::Newer { found });
            }
            (Some(FORMAT), Some(1..)) => {}
            (Some(FORMAT), _) => return Err(SessionFileError::Damaged("its version is missing".to_owned())),
            _ => return Err(SessionFileError::Other(format!("its format is not {FORMAT}"))),
        }
        let damaged = |e: serde_json::Error| SessionFileError::Damaged(e.to_string());
        let file: SessionFile = serde_json::from_str(text).map_err(damaged)?;
        let taken = serde_json::to_value(&file).map_err(damaged)?;
        match unknown_field(&whole, &taken) {
            Some(path) => Err(SessionFileError::UnknownField(path)),
            None => Ok(file),
        }
    }

    /// The file's text, ending with a line end; the same session gives the same bytes. It can be looked at in a terminal.
    ///
    /// # Errors
    /// If a part cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, SessionFileError> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| outside::json(&text).into_owned() + "\n")
            .map_err(|e| SessionFileError::Damaged(e.to_string()))
    }
}

/// The path of the first field that is in the file and was not taken over; one that is null says nothing. Types of many
/// modules stand in a file: asking each to refuse unknown fields would bind them all to this one use.
fn unknown_field(file: &Value, taken: &Value) -> Option<String> {
    match (file, taken) {
        (Value::Object(all), Value::Object(known)) => all.iter().find_map(|(name, value)| {
            let inner = match known.get(name) {
                Some(taken) => unknown_field(value, taken)?,
                None if value.is_null() || is_empty(value) => return None,
                None => String::new(),
            };
            Some(joined(name, &inner))
        }),
        (Value::Array(all), Value::Array(known)) => {
            (0..).zip(all.iter().zip(known)).find_map(|(place, (value, taken)): (usize, _)| {
                unknown_field(value, taken).map(|inner| joined(&format!("[{place}]"), &inner))
            })
        }
        _ => None,
    }
}

/// Types leave their empty lists out.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

fn joined(name: &str, inner: &str) -> String {
    match inner {
        "" => name.to_owned(),
        inner if inner.starts_with('[') => format!("{name}{inner}"),
        inner => format!("{name}.{inner}"),
    }
}

#[cfg(test)]
mod tests;
