//! Cards: in a list, and one with all that is known of it.

use super::sessions::SessionLine;
use cardscope_model::archived::CardOverview;
use cardscope_model::card::{Attachment, CardEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Which cards are asked for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct CardQuery {
    /// Words that title, brand, model or marks must have.
    pub q: Option<String>,
    /// At least so many bytes.
    #[param(format = "uint64")]
    pub min_bytes: Option<u64>,
    /// At most so many bytes.
    #[param(format = "uint64")]
    pub max_bytes: Option<u64>,
    /// A mark: `A2`.
    pub mark: Option<String>,
    /// A brand.
    pub brand: Option<String>,
    /// First word of the verdict, as `FAKE`; `none` for cards without one.
    pub verdict: Option<String>,
    /// Price at most, in whatever currency it was paid.
    pub max_price: Option<f64>,
    /// Whether simulated cards are shown: true unless said otherwise.
    pub simulated: Option<bool>,
    /// Only cards of the archive, without those that come with the program.
    pub own: Option<bool>,
    /// `title`, `capacity`, `price`, `per-gb`, `last`, `runs`, `verdict`, or a test: `SEQ1M Q8T1 read`.
    pub sort: Option<String>,
    /// Largest first.
    pub descending: Option<bool>,
    /// How many to pass over.
    pub offset: Option<usize>,
    /// How many to give, 100 unless said otherwise, 1000 at most.
    pub limit: Option<usize>,
}

/// A window of the cards that match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardWindow {
    /// Cards that match.
    pub total: usize,
    /// Cards that there are.
    pub all: usize,
    /// The first of the window.
    pub offset: usize,
    /// The window.
    pub cards: Vec<CardOverview>,
    /// Brands that there are.
    pub brands: Vec<String>,
    /// Marks that there are.
    pub marks: Vec<String>,
    /// Tests that cards were measured by, the most common first.
    pub tests: Vec<String>,
    /// First words of the verdicts that there are.
    pub verdicts: Vec<String>,
    /// Whether of any card it is known what was paid.
    pub priced: bool,
}

/// A card with all that is known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardResource {
    /// Its row in the list.
    pub card: CardOverview,
    /// Facts by their words, with those that are not known.
    pub facts: Vec<CardFact>,
    /// What happened to it.
    pub events: Vec<CardEvent>,
    /// What is attached to it.
    pub attachments: Vec<Attachment>,
    /// Its sessions, newest first.
    pub sessions: Vec<SessionLine>,
    /// What was measured of it, as a fragment of HTML.
    pub html: String,
    /// Its registers, decoded field by field, as a fragment of HTML.
    pub identity_html: Option<String>,
}

/// A fact of a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CardFact {
    /// Its word: `brand`, `model` …
    pub word: String,
    /// Its value.
    pub value: Option<String>,
}

/// What is changed of a card; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CardChange {
    /// Facts by their words; an empty value removes one.
    pub set: BTreeMap<String, String>,
    /// All its marks.
    pub marks: Option<Vec<String>>,
    /// Something that happened to it.
    pub event: Option<NewEvent>,
}

/// Something that happened to a card, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewEvent {
    /// `bought`, `in-use`, `failed`, `warranty`, `gone` or `note`.
    pub kind: String,
    /// `2024`, `2024-03` or `2024-03-12`.
    pub date: Option<String>,
    /// `12.99EUR`.
    pub price: Option<String>,
    /// More about it.
    pub about: Option<String>,
}
