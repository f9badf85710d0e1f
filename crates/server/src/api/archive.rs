//! Cards, sessions, comparisons and imports.

use cardscope_archive as archive;
use cardscope_model::archive_rows::{CardOverview, SessionOverview};
use cardscope_model::card::{Attachment, CardEvent, CardPrice};
use cardscope_model::ranking::Placement;
use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionWindow {
    /// Number of all sessions.
    pub total: usize,
    pub sessions: Vec<SessionLine>,
}

/// Page of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ListWindow {
    pub offset: Option<usize>,
    /// Number of entries, 50 by default, at most 1000.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionLine {
    #[serde(flatten)]
    pub session: SessionOverview,
    /// Answer of the session's page, or its number of runs.
    pub answer: String,
}

impl From<archive::SessionLine> for SessionLine {
    fn from(line: archive::SessionLine) -> Self {
        SessionLine { session: line.session, answer: line.result }
    }
}

/// Session with its page and its document (see docs/results.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionResource {
    pub session: String,
    /// Verb, or `import`.
    pub kind: String,
    #[serde(flatten)]
    pub made: RenderedPage,
    /// Page as a tree of blocks.
    #[schema(value_type = Object)]
    pub page: Value,
}

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

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UploadedFile {
    /// Id for an import.
    pub upload: String,
    pub name: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileName {
    pub name: String,
}

/// Request to import or preview files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportOrder {
    /// Ids of uploaded files.
    pub uploads: Vec<String>,
    /// True to store the results; false for a preview.
    pub keep: bool,
    /// Brand of the card, for logs that do not name it.
    pub brand: Option<String>,
    /// Product name of the card.
    pub card: Option<String>,
    /// Size on the label, such as `64GB`.
    pub capacity: Option<String>,
    /// Marks on the label.
    pub marks: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ImportedLogs {
    /// First line of the page.
    pub answer: String,
    pub tone: NewsTone,
    pub files: Vec<ImportedFile>,
    pub html: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFile {
    /// File name; inside an archive `logs.zip/name`.
    pub file: String,
    /// Detected format.
    pub format: Option<String>,
    pub card: Option<String>,
    pub runs: usize,
    pub results: usize,
    /// Reason why it was not parsed or stored.
    pub error: Option<String>,
    /// Ids of its sessions in the archive.
    pub sessions: Vec<String>,
}
