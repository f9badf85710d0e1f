//! Parsed log of another tool: card, condition and figures in true units.
//!
//! Crate `import` builds logs, and the archive stores them as sessions. `mb_s` is MB/s (10^6) whatever the tool
//! printed; the printed figure is kept with it.

use crate::card::{CardEvent, CardFacts};
use crate::condition::Condition;
use crate::run::Run;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Key in [`CardLog::other`] for the source of manually entered figures: a photograph, a page.
pub const TYPED_FROM: &str = "typed_from";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogTool {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
}

/// Part of a file about one card; most files have one part.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardLog {
    pub format: String,
    pub tool: Option<LogTool>,
    pub part: Option<String>,
    pub date: Option<String>,
    pub card: CardFacts,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<CardEvent>,
    pub condition: Condition,
    pub runs: Vec<Run>,
    /// Data other than speeds: registers, NVMe logs, capacity probes, flashbench tables; keys as in Cardscope's own
    /// JSON.
    pub other: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

impl CardLog {
    pub fn new(format: &str) -> Self {
        CardLog { format: format.to_owned(), ..CardLog::default() }
    }

    /// True if the log has neither figures nor other data.
    pub fn is_empty(&self) -> bool {
        self.other.is_empty() && self.card.is_empty() && self.runs.iter().all(|run| run.results.is_empty())
    }
}
