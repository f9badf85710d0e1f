//! Cards of the archive.

use super::sessions::SessionLine;
use cardscope_model::archive_rows::CardOverview;
use cardscope_model::card::{Attachment, CardEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Filter, order and page of a list of cards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CardQuery {
    /// Words that title, brand, model or marks must contain.
    pub q: Option<String>,
    /// Minimum capacity in bytes.
    #[param(format = "uint64")]
    pub min_bytes: Option<u64>,
    /// Maximum capacity in bytes.
    #[param(format = "uint64")]
    pub max_bytes: Option<u64>,
    /// Printed mark, such as `A2`.
    pub mark: Option<String>,
    pub brand: Option<String>,
    /// First word of the verdict, such as `FAKE`; `none` for cards without a verdict.
    pub verdict: Option<String>,
    /// Maximum price in the currency that was paid.
    pub max_price: Option<f64>,
    /// False to leave out simulated cards.
    pub simulated: Option<bool>,
    /// True to leave out the cards that come with the program.
    pub own: Option<bool>,
    /// `title`, `capacity`, `price`, `per-gb`, `last`, `runs`, `verdict`, or a test: `SEQ1M Q8T1 read`.
    pub sort: Option<String>,
    pub descending: Option<bool>,
    pub offset: Option<usize>,
    /// Number of cards, 100 by default, at most 1000.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardWindow {
    /// Number of cards that match.
    pub total: usize,
    /// Number of all cards.
    pub all: usize,
    pub offset: usize,
    pub cards: Vec<CardOverview>,
    pub brands: Vec<String>,
    pub marks: Vec<String>,
    /// Tests of all cards, most frequent first.
    pub tests: Vec<String>,
    /// First words of all verdicts.
    pub verdicts: Vec<String>,
    /// True if any card has a price.
    pub priced: bool,
}

/// Card with its details.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardResource {
    pub card: CardOverview,
    /// Facts by word, including those that are unset.
    pub facts: Vec<CardFact>,
    pub events: Vec<CardEvent>,
    pub attachments: Vec<Attachment>,
    /// Newest first.
    pub sessions: Vec<SessionLine>,
    /// Measurements as an HTML fragment; empty without any.
    pub html: String,
    /// Decoded registers as an HTML fragment.
    pub identity_html: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CardFact {
    /// `brand`, `model` …
    pub word: String,
    pub value: Option<String>,
}

/// Change of a card; absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CardChange {
    /// Facts by word; an empty value removes the fact.
    pub set: BTreeMap<String, String>,
    /// Replaces all marks.
    pub marks: Option<Vec<String>>,
    pub event: Option<NewEvent>,
}

/// Event of a card, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewEvent {
    /// `bought`, `in-use`, `failed`, `warranty`, `gone` or `note`.
    pub kind: String,
    /// `2024`, `2024-03` or `2024-03-12`.
    pub date: Option<String>,
    /// Such as `12.99EUR`.
    pub price: Option<String>,
    /// Free text.
    pub about: Option<String>,
}
