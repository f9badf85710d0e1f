//! Document of `rank`: cards ordered for a job or by one test.

use crate::card::CardPrice;
use crate::comparison::{ComparedEntry, Spread};
use crate::finding::Finding;
use crate::job::{Figures, JobScore};
use crate::test_name::TestName;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    Job(String),
    Test(TestName),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Placement {
    /// Place from 1, by value; equal values share one.
    pub place: u32,
    /// Tier from 1, of at most eight cards whose differences are small or uncertain.
    pub tier: u32,
    pub probability_best: f64,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedCard {
    #[serde(flatten)]
    pub placement: Placement,
    pub entry: ComparedEntry,
    /// Ranked value: a score of 0 to 100 for a job, MB/s for a test.
    pub value: f64,
    /// 95 % interval of the value, including the spread between units of a model.
    #[serialize_always]
    pub ci95: Option<[f64; 2]>,
    pub job: Option<JobScore>,
    /// Statistics of the test, without the host's limits.
    pub spread: Option<Spread>,
    pub price: Option<CardPrice>,
    pub priced: Option<String>,
    /// Points or MB/s per unit of currency.
    pub per_price: Option<f64>,
    pub gb_per_price: Option<f64>,
    pub figures_per_price: Option<Figures>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub capped: Vec<String>,
    pub caveat: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedCard {
    pub name: String,
    pub reason: String,
    /// True for cards that must not be bought: fake, damaged or dead.
    pub avoid: bool,
}

/// Recommendation from a ranking.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankingDecision {
    pub buy: Vec<String>,
    pub probability: f64,
    pub more_runs: Option<u32>,
    pub instead: Option<AlternativeCard>,
    pub avoid: Vec<(String, String)>,
}

/// Card that is worth buying below a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlternativeCard {
    pub name: String,
    pub below: CardPrice,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub costs: Option<CardPrice>,
}

/// Statistics of the cards of one mark, maker, year or capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueGroup {
    pub name: String,
    pub cards: u32,
    pub mean: f64,
    pub median: f64,
    pub worst: f64,
    pub best: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupDivision {
    pub by: String,
    pub groups: Vec<ValueGroup>,
    /// Share of the variance between cards that lies between the groups, 0 to 1.
    pub explained: Option<f64>,
    pub p: Option<f64>,
    pub verdict: String,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    pub by: RankedBy,
    pub on: Option<String>,
    pub places: Vec<RankedCard>,
    pub not_placed: Vec<(String, String)>,
    #[serde(default)]
    pub excluded: Vec<ExcludedCard>,
    pub decision: Option<RankingDecision>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<GroupDivision>,
    pub findings: Vec<Finding>,
}
