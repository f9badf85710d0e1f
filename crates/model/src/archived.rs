//! What an archive keeps ready of its cards, before their runs are read: lists, comparisons and rankings begin with it.

use crate::card::{CardFacts, CardPrice};
use crate::report::NewsTone;
use crate::setting::Setting;
use crate::test_name::TestName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A card: a model as one buys it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StoredCard {
    /// Its name in the archive: 64 hex digits.
    pub id: String,
    /// How it is called.
    pub title: String,
    /// Units that could be told apart.
    #[serde(rename = "specimens")]
    pub units: u32,
    /// Sessions.
    pub sessions: u32,
    /// Finished runs.
    pub runs: u32,
    /// When it was first and last measured, where known.
    pub measured: Option<[String; 2]>,
    /// What is known of it, without serial numbers: those are its units'.
    pub facts: CardFacts,
    /// What was last paid for it.
    #[serde(skip)]
    pub price: Option<CardPrice>,
    /// When: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
    #[serde(skip)]
    pub priced: Option<String>,
}

impl StoredCard {
    /// A card of which no session is known yet.
    pub fn new(id: String, title: String, facts: CardFacts) -> Self {
        StoredCard { id, title, facts, units: 1, ..StoredCard::default() }
    }
}

/// A card in a list that is searched and sorted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CardOverview {
    /// Name in the archive.
    pub id: String,
    /// What people call it.
    pub title: String,
    /// The name on it.
    pub brand: Option<String>,
    /// How it names itself.
    pub model: Option<String>,
    /// Bytes that it announces.
    pub capacity_bytes: Option<u64>,
    /// Capacity in three digits: `256 GB`; empty where unknown.
    pub capacity: String,
    /// Marks printed on it.
    pub marks: Vec<String>,
    /// Its newest verdict.
    pub verdict: Option<NewestVerdict>,
    /// What was last paid for it.
    pub price: Option<CardPrice>,
    /// That for a GB (10^9 bytes).
    pub per_gb: Option<f64>,
    /// Units that were tested.
    pub units: u32,
    /// Sessions.
    pub sessions: u32,
    /// Finished runs.
    pub runs: u32,
    /// When it was first measured.
    pub first: Option<String>,
    /// When it was last measured.
    pub last: Option<String>,
    /// True for a card of a published report, which comes with the program.
    pub published: bool,
    /// True for a simulated card, or a device that is none.
    pub simulated: bool,
    /// What it is where it is not a card: `simulated`, `loop device`.
    pub not_card: Option<String>,
    /// Mean speed in MB/s by test, over all counted runs under all settings.
    pub speeds: BTreeMap<String, f64>,
}

/// The newest verdict on a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NewestVerdict {
    /// The answer of its page.
    pub text: String,
    /// The word in capitals that it begins with.
    pub word: String,
    /// How good it is.
    pub tone: NewsTone,
    /// The session.
    pub session: String,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SessionOverview {
    /// Name in the archive.
    pub session: String,
    /// When it began, UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card as the archive calls it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// `bench` or another verb that measured it, `import` for a log of another tool.
    pub kind: String,
    /// The recipe of a benchmark.
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running`, or `crashed` where its process ended without a word.
    pub state: String,
    /// How good its answer is.
    pub tone: NewsTone,
    /// The session of the check that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_of: Option<String>,
}

/// One test of one card under one setting, over its counted runs, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRow {
    /// The card.
    pub card_id: String,
    /// How it was measured.
    pub setting: Arc<Setting>,
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    pub step: Option<String>,
    /// Counted runs.
    pub n: u32,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the runs; `None` for one run.
    pub sd: Option<f64>,
    /// Median.
    pub median: f64,
    /// Fastest run.
    pub best: f64,
    /// Slowest run.
    pub worst: f64,
    /// Longest latency of all runs in microseconds, where known.
    pub max_latency_us: Option<f64>,
    /// When it was last measured.
    pub last: Option<String>,
}
