//! Cards in order: for a job, or by one test. The document of `rank`.

use crate::card::Price;
use crate::comparison::{Entry, Spread};
use crate::finding::Finding;
use crate::job::JobScore;
use crate::test_name::TestName;
use crate::verify::Verdict;
use serde::{Deserialize, Serialize};

/// What the cards are ordered by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    /// A job, by its name.
    Job(String),
    /// One test.
    Test(TestName),
}

/// One card in the order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedCard {
    /// Its place from 1; cards that cannot be told apart, or differ by less than anybody notices, share one.
    pub place: u32,
    /// How many share it.
    pub shared_by: u32,
    /// The card.
    pub entry: Entry,
    /// What is ordered: a score of 0 to 100 for a job, MB/s for a test.
    pub value: f64,
    /// Its 95 % interval, where there are runs enough.
    pub ci95: Option<[f64; 2]>,
    /// What the job makes of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<JobScore>,
    /// The test over its runs, before any host caps it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread: Option<Spread>,
    /// What it costs, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price: Option<Price>,
    /// What one unit of currency delivers: points of the score, or MB/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub per_price: Option<f64>,
    /// What the host takes from it: the figures that it caps.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub capped: Vec<String>,
    /// What a test of its capacity found against it: it stands behind all others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<Verdict>,
    /// What is doubtful or different here, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

/// Cards of one mark, maker, year or capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// `A2`, `SanDisk`, `2019`, `64GB`; `unknown` for cards of which nobody knows.
    pub name: String,
    /// Cards in it.
    pub cards: u32,
    /// Mean over its cards.
    pub mean: f64,
    /// Median.
    pub median: f64,
    /// Slowest card.
    pub worst: f64,
    /// Fastest card.
    pub best: f64,
}

/// What a division into groups says about the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Groups {
    /// `mark`, `maker`, `year`, `capacity`.
    pub by: String,
    /// The groups, by median, best first.
    pub groups: Vec<Group>,
    /// Share of the spread between all cards that lies between the groups, 0 to 1.
    pub explained: Option<f64>,
    /// Probability of such a share by chance alone.
    pub p: Option<f64>,
    /// The same as a sentence.
    pub verdict: String,
}

/// The whole order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// What the cards are ordered by.
    pub by: RankedBy,
    /// The host that caps them, by its name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub on: Option<String>,
    /// The cards, best first.
    pub places: Vec<RankedCard>,
    /// Cards that could not be placed, with the reason.
    pub not_placed: Vec<(String, String)>,
    /// The groups, where asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<Groups>,
    /// Conclusions and doubts.
    pub findings: Vec<Finding>,
}
