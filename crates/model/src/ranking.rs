//! Cards in order: for a job, or by one test. The document of `rank`.

use crate::card::CardPrice;
use crate::comparison::{ComparedEntry, Spread};
use crate::finding::Finding;
use crate::job::{Figures, JobScore};
use crate::test_name::TestName;
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

/// Place of a card in an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Placement {
    /// From 1, by value; equal values share one.
    pub place: u32,
    /// From 1, of at most eight cards: cards of one tier differ by less than is notable, or not for sure.
    pub tier: u32,
    /// Chance that it is the best of all, 0 to 1.
    pub probability_best: f64,
}

/// One card in the order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankedCard {
    #[serde(flatten)]
    pub placement: Placement,
    /// The card.
    pub entry: ComparedEntry,
    /// What is ordered: a score of 0 to 100 for a job, MB/s for a test.
    pub value: f64,
    /// Its 95 % interval, the spread between units of a model included.
    pub ci95: Option<[f64; 2]>,
    /// What the job makes of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<JobScore>,
    /// The test over its runs, before any host caps it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spread: Option<Spread>,
    /// What it costs, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub price: Option<CardPrice>,
    /// When it cost that: `YYYY`, `YYYY-MM` or `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub priced: Option<String>,
    /// What one unit of currency delivers: points of the score, or MB/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub per_price: Option<f64>,
    /// GB (10^9 bytes) that one unit of currency delivers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gb_per_price: Option<f64>,
    /// MB/s (10^6) and I/Os a second of 4 KiB, one at a time, that one unit of currency delivers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub figures_per_price: Option<Figures>,
    /// What the host takes from it: the figures that it caps.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub capped: Vec<String>,
    /// What to know before one buys it: writes in flight that stop it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caveat: Option<String>,
    /// What is doubtful or different here, as sentences.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub doubts: Vec<String>,
}

/// A card that is not ranked, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedCard {
    /// Its name.
    pub name: String,
    /// Why, as the end of a sentence: `fake`, `a simulated card`.
    pub reason: String,
    /// Whether it must not be bought: fake, damaged or dead.
    pub avoid: bool,
}

/// What a reviewer would advise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankingDecision {
    /// The card to buy; with a second one where the choice between both is open.
    pub buy: Vec<String>,
    /// Chance that the first is the best of all, 0 to 1.
    pub probability: f64,
    /// Further runs of each of the two that would probably settle it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub more_runs: Option<u32>,
    /// The next best, and the price below which it is the better value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instead: Option<AlternativeCard>,
    /// Cards to avoid, each with the reason.
    pub avoid: Vec<(String, String)>,
}

/// A card that is worth buying at the right price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlternativeCard {
    /// Its name.
    pub name: String,
    /// The price below which it gives more for the money than the first.
    pub below: CardPrice,
    /// What it is known to cost, where that is below.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub costs: Option<CardPrice>,
}

/// Cards of one mark, maker, year or capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValueGroup {
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
pub struct GroupDivision {
    /// `mark`, `maker`, `year`, `capacity`.
    pub by: String,
    /// The groups, by median, best first.
    pub groups: Vec<ValueGroup>,
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
    /// Cards that are not ranked, whatever was measured of them.
    #[serde(default)]
    pub excluded: Vec<ExcludedCard>,
    /// What to buy; `None` where no card could be placed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub decision: Option<RankingDecision>,
    /// The cards in groups, by each word that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub groups: Vec<GroupDivision>,
    /// Conclusions and doubts.
    pub findings: Vec<Finding>,
}
