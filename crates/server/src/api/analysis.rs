//! Cards beside each other and in order.

use cardscope_model::card::CardPrice;
use cardscope_model::ranking::Placement;
use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// A page that was made for this request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RenderedPage {
    /// The first line of the page.
    pub answer: String,
    /// How good that is.
    pub tone: NewsTone,
    /// The page as a fragment of HTML.
    pub html: String,
    /// The document that it was made of.
    #[schema(value_type = Object)]
    pub document: Value,
}

/// What cards can be ranked for, and on what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobList {
    /// Uses of a card.
    pub jobs: Vec<JobInfo>,
    /// Computers that limit its speed.
    pub hosts: Vec<NamedTitle>,
}

/// A use of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobInfo {
    /// Its name: `pi-boot`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it consists of.
    pub workloads: Vec<JobWorkload>,
}

/// A part of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobWorkload {
    /// Its name.
    pub name: String,
    /// Its share of the score, 0 to 1.
    pub weight: f64,
}

/// Something with a name and a title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NamedTitle {
    /// The name.
    pub name: String,
    /// The title.
    pub title: String,
}

/// What cards are ranked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankOrder {
    /// A job's name.
    pub job: String,
    /// Weights of its workloads by their names, in place of the job's own.
    pub weights: BTreeMap<String, f64>,
    /// The host that limits them.
    pub host: Option<String>,
    /// Without the cards that come with the program.
    pub own: bool,
    /// Only these cards, by their ids.
    pub cards: Vec<String>,
}

/// Cards in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankedCards {
    /// What to buy.
    pub answer: String,
    /// The order.
    pub places: Vec<RankedPlace>,
    /// Cards that are not ranked.
    pub excluded: Vec<Excluded>,
    /// The page as a fragment of HTML.
    pub html: String,
}

/// A card's place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RankedPlace {
    #[serde(flatten)]
    pub placement: Placement,
    /// The card's id.
    pub card: String,
    /// The card's title.
    pub title: String,
    /// Score, 0 to 100.
    pub score: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// What it costs.
    pub price: Option<CardPrice>,
    /// Points of the score for one unit of currency.
    pub per_price: Option<f64>,
}

/// A card that is not ranked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Excluded {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}
