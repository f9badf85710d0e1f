//! A log of another tool, as it was understood: which card, under what, and what it says, in true units.
//!
//! Crate `import` makes them, the archive keeps them as sessions. `mb_s` is MB/s (10^6) whatever the tool printed;
//! what it printed stands beside it.

use crate::card::{CardEvent, CardFacts};
use crate::condition::Condition;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The word in [`Log::other`] that says what figures were typed from: a photograph, a page.
pub const TYPED_FROM: &str = "typed_from";

/// The tool that wrote a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogTool {
    /// Its name: `CrystalDiskMark`.
    pub name: String,
    /// Its version, where the log says it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
}

/// One card's part of a file; most files hold one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardLog {
    /// The importer that read it: `cdm_fio`.
    pub format: String,
    /// Who wrote it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<LogTool>,
    /// Which part of the file, where it holds several: the heading it stands under.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// When it was measured, `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ss`, local time of the tool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub date: Option<String>,
    /// The card, as far as the log tells.
    pub card: CardFacts,
    /// What is told of its life.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<CardEvent>,
    /// What was true of card and rig in all runs.
    pub condition: Condition,
    /// The runs, in the order of the log.
    pub runs: Vec<Run>,
    /// What is no speed: registers, NVMe logs, capacity probes, flashbench tables; in the words of DESIGN's JSON fields.
    pub other: Map<String, Value>,
    /// What is doubtful about it, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

impl CardLog {
    /// A log in which nothing was found yet.
    pub fn new(format: &str) -> Self {
        CardLog { format: format.to_owned(), ..CardLog::default() }
    }

    /// True where neither a figure nor anything else was found.
    pub fn is_empty(&self) -> bool {
        self.other.is_empty() && self.card.is_empty() && self.runs.iter().all(|run| run.results.is_empty())
    }
}
