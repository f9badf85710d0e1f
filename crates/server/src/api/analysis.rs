//! Comparison and ranking of cards.

use cardscope_model::card::CardPrice;
use cardscope_model::ranking::Placement;
use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Rendered page with its document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RenderedPage {
    /// First line of the page.
    pub answer: String,
    /// Severity of the answer.
    pub tone: NewsTone,
    /// Page as an HTML fragment.
    pub html: String,
    #[schema(value_type = Object)]
    pub document: Value,
}

/// Jobs and hosts to choose from for a ranking.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobList {
    pub jobs: Vec<JobInfo>,
    /// Computers that limit a card's speed.
    pub hosts: Vec<NamedTitle>,
}

/// Use of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobInfo {
    /// Such as `pi-boot`.
    pub name: String,
    pub title: String,
    pub workloads: Vec<JobWorkload>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobWorkload {
    pub name: String,
    /// Share of the score, 0 to 1.
    pub weight: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NamedTitle {
    pub name: String,
    pub title: String,
}

/// Request for a ranking.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankOrder {
    pub job: String,
    /// Weights by workload, instead of the job's own.
    pub weights: BTreeMap<String, f64>,
    /// Name of the host that limits the cards.
    pub host: Option<String>,
    /// True to leave out the cards that come with the program.
    pub own: bool,
    /// Only these cards, by id.
    pub cards: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankedCards {
    /// Recommendation in a sentence.
    pub answer: String,
    pub places: Vec<RankedPlace>,
    pub excluded: Vec<Excluded>,
    pub html: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankedPlace {
    #[serde(flatten)]
    pub placement: Placement,
    /// Id of the card.
    pub card: String,
    pub title: String,
    /// 0 to 100.
    pub score: f64,
    /// 95 % interval of the score.
    pub ci95: Option<[f64; 2]>,
    /// Last price paid.
    pub price: Option<CardPrice>,
    /// Points of the score for each unit of currency.
    pub per_price: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Excluded {
    pub name: String,
    pub reason: String,
}
