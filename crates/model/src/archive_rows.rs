//! Rows that the archive keeps of cards and sessions, for lists, comparisons and rankings.

use crate::card::{CardFacts, CardPrice};
use crate::report::NewsTone;
use crate::setting::Setting;
use crate::test_name::TestName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Card model in the archive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredCard {
    pub id: String,
    pub title: String,
    #[serde(rename = "specimens")]
    pub units: u32,
    pub sessions: u32,
    pub runs: u32,
    pub measured: Option<[String; 2]>,
    /// Facts without serial numbers, which belong to single units.
    pub facts: CardFacts,
    #[serde(skip)]
    pub price: Option<CardPrice>,
    #[serde(skip)]
    pub priced: Option<String>,
}

impl StoredCard {
    pub fn new(id: String, title: String, facts: CardFacts) -> Self {
        StoredCard { id, title, facts, units: 1, ..StoredCard::default() }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CardOverview {
    pub id: String,
    pub title: String,
    pub brand: Option<String>,
    /// Model according to the card itself.
    pub model: Option<String>,
    pub capacity_bytes: Option<u64>,
    /// Capacity in three digits, e.g. `256 GB`; empty if unknown.
    pub capacity: String,
    pub marks: Vec<String>,
    pub verdict: Option<NewestVerdict>,
    pub price: Option<CardPrice>,
    pub per_gb: Option<f64>,
    pub units: u32,
    pub sessions: u32,
    pub runs: u32,
    pub first: Option<String>,
    pub last: Option<String>,
    pub published: bool,
    /// True for a simulated card or a device that is not a card.
    pub simulated: bool,
    /// Kind of a target that is not a card: `simulated`, `loop device`.
    pub not_card: Option<String>,
    /// Mean speed in MB/s by test, over all counted runs with any setting.
    pub speeds: BTreeMap<String, f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NewestVerdict {
    pub text: String,
    pub word: String,
    pub tone: NewsTone,
    pub session: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionOverview {
    pub session: String,
    pub started_at: String,
    pub target: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// Verb that measured, e.g. `bench`; `import` for a log of another tool.
    pub kind: String,
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running`, or `crashed` if the process died.
    pub state: String,
    pub tone: NewsTone,
    /// Session of the `check` that this session is a part of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_of: Option<String>,
}

/// Statistics of a test of a card with one setting, over its counted runs, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    pub card_id: String,
    pub setting: Arc<Setting>,
    pub test: TestName,
    /// Step of the recipe, if it has the same test twice.
    pub step: Option<String>,
    pub n: u32,
    pub mean: f64,
    /// Standard deviation of the runs; None for one run.
    pub sd: Option<f64>,
    pub median: f64,
    pub best: f64,
    pub worst: f64,
    pub max_latency_us: Option<f64>,
    pub last: Option<String>,
}
