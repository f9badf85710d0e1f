//! What an archive keeps ready of its cards, before their runs are read: lists, comparisons and rankings begin with it.

use crate::card::{CardFacts, Price};
use crate::setting::Setting;
use crate::test_name::TestName;
use std::sync::Arc;

/// A card: a model as one buys it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredCard {
    /// Its name in the archive: 64 hex digits.
    pub id: String,
    /// How it is called.
    pub title: String,
    /// What is known of it, without serial numbers: those are its units'.
    pub facts: CardFacts,
    /// Units that could be told apart.
    pub units: u32,
    /// Sessions.
    pub sessions: u32,
    /// Finished runs.
    pub runs: u32,
    /// When it was first measured, where known.
    pub first: Option<String>,
    /// When it was last measured, where known.
    pub last: Option<String>,
    /// What was last paid for it.
    pub price: Option<Price>,
    /// When: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
    pub priced: Option<String>,
}

impl StoredCard {
    /// A card of which no session is known yet.
    pub fn new(id: String, title: String, facts: CardFacts) -> Self {
        StoredCard { id, title, facts, units: 1, ..StoredCard::default() }
    }
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
