//! What goes over the wire: one type each, from which the OpenAPI document and the app's TypeScript types are made.
//!
//! Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C, chances 0 to 1.

use cardscope_model::live::{Figure, Found, Moment, Stage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What failed, on what, why, and what to do; a sentence.
    pub error: String,
}

/// How good the news is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tone {
    /// Green.
    Good,
    /// No colour.
    #[default]
    Plain,
    /// Yellow.
    Warning,
    /// Red.
    Bad,
}

/// The computer that the server runs on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Host {
    /// Version of Cardscope.
    pub version: String,
    /// The computer's name.
    pub hostname: String,
    /// Where the archive lies; a database without its password.
    pub archive: String,
    /// Why nothing can be stored in it, where that is so.
    pub archive_problem: Option<String>,
    /// Whether the server runs as root.
    pub root: bool,
}

/// Devices that are present.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Devices {
    /// Number of devices, and how many are safe to test; a sentence.
    pub answer: String,
    /// The devices, by name.
    pub devices: Vec<Device>,
    /// Simulated cards to try without one.
    pub examples: Vec<SimulatedLine>,
}

/// A card, stick or reader.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Device {
    /// Kernel name: `sdb`.
    pub name: String,
    /// Device file; also the target to order a test with, and the name to type back.
    pub path: String,
    /// Bytes that it announces; 0 for an empty slot.
    pub bytes: Option<u64>,
    /// How it is attached: `mmc`, `usb`, `nvme` …
    pub bus: String,
    /// What it says it is.
    pub model: Option<String>,
    /// Whether it can be taken out.
    pub removable: bool,
    /// Whether it takes no writes.
    pub read_only: bool,
    /// Whether it is a reader without a card.
    pub empty: bool,
    /// Its partitions, in order.
    pub partitions: Vec<Partition>,
    /// File system over the whole of it.
    pub filesystem: Option<String>,
    /// Where the whole of it is mounted.
    pub mounted_at: Vec<String>,
    /// Whether it or a partition is mounted.
    pub mounted: bool,
    /// Whether it may be tested.
    pub safe: bool,
    /// Why it may not.
    pub reason: Option<String>,
    /// What to do about that.
    pub advice: Option<String>,
    /// Whether it can be unmounted from here.
    pub can_unmount: bool,
    /// The task that runs or waits on it.
    pub task: Option<String>,
}

/// A partition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Partition {
    /// Kernel name: `sdb1`.
    pub name: String,
    /// Bytes.
    pub bytes: Option<u64>,
    /// What is in it.
    pub filesystem: Option<String>,
    /// Where it is mounted.
    pub mounted_at: Vec<String>,
}

/// What a task came to, or how far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It waits for another one on the same device.
    #[default]
    Queued,
    /// It runs.
    Running,
    /// It was asked to stop and puts the card's data back.
    Stopping,
    /// It ended as planned.
    Complete,
    /// It was refused, or an error ended it.
    Failed,
    /// It was stopped; what was measured is in the archive.
    Interrupted,
}

/// A test that was ordered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// The verb: `check`, `verify` …
    pub verb: String,
    /// Device file or simulated card.
    pub target: String,
    /// What the target is called.
    pub title: String,
    /// How far it is.
    pub state: State,
    /// When it was ordered, UTC.
    pub queued_at: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// The stages that are planned.
    pub plan: Vec<Stage>,
    /// What it writes and what becomes of the card's data, in a line.
    pub says: String,
    /// Where it is now.
    pub moment: Option<Moment>,
    /// Conclusions so far.
    pub findings: Vec<Found>,
    /// Speeds so far.
    pub figures: Vec<Figure>,
    /// What was said.
    pub notes: Vec<String>,
    /// The answer, once it ended.
    pub answer: Option<String>,
    /// How good that is.
    pub tone: Option<Tone>,
    /// Its session in the archive.
    pub session: Option<String>,
    /// What ended it early.
    pub error: Option<String>,
    /// Whether the card's data are lost by it.
    pub loses_data: bool,
    /// Where it was over time, thinned to at most 600 moments; only where one task is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
}

/// Tasks, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tasks {
    /// The tasks.
    pub tasks: Vec<Task>,
}

/// A moment of a task, as an event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskMoment {
    /// The task.
    pub task: String,
    /// Where it is.
    #[serde(flatten)]
    pub moment: Moment,
}

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
pub struct Cards {
    /// Cards that match.
    pub total: usize,
    /// Cards that there are.
    pub all: usize,
    /// The first of the window.
    pub offset: usize,
    /// The window.
    pub cards: Vec<CardRow>,
    /// Brands that there are.
    pub brands: Vec<String>,
    /// Marks that there are.
    pub marks: Vec<String>,
    /// Tests that cards were measured by, the most common first.
    pub tests: Vec<String>,
    /// First words of the verdicts that there are.
    pub verdicts: Vec<String>,
}

/// A card in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardRow {
    /// Its name in the archive.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The name on it.
    pub brand: Option<String>,
    /// How it names itself.
    pub model: Option<String>,
    /// Bytes that it announces.
    pub capacity_bytes: Option<u64>,
    /// Its capacity in three digits: `256 GB`; empty where unknown.
    pub capacity: String,
    /// Marks printed on it.
    pub marks: Vec<String>,
    /// Its newest verdict.
    pub verdict: Option<Verdict>,
    /// What was last paid for it.
    pub price: Option<Price>,
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
    /// Whether it comes with the program: a card of a published report.
    pub published: bool,
    /// Whether it is a simulated card.
    pub simulated: bool,
    /// Mean speed by test over all counted runs, MB/s.
    pub speeds: BTreeMap<String, f64>,
}

/// The newest verdict on a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verdict {
    /// The answer of its page.
    pub text: String,
    /// How good it is.
    pub tone: Tone,
    /// The session.
    pub session: String,
}

/// A price.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// `EUR`, `USD` …
    pub currency: String,
}

/// A card with all that is known of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    /// Its row in the list.
    pub card: CardRow,
    /// Facts by their words, with those that are not known.
    pub facts: Vec<Fact>,
    /// What happened to it.
    pub events: Vec<Event>,
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
pub struct Fact {
    /// Its word: `brand`, `model` …
    pub word: String,
    /// Its value.
    pub value: Option<String>,
}

/// Something that happened to a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// When: `2024`, `2024-03` or `2024-03-12`.
    pub date: Option<String>,
    /// `bought`, `in-use`, `failed`, `warranty`, `gone` or `note`.
    pub kind: String,
    /// What was paid.
    pub price: Option<Price>,
    /// More about it.
    pub note: Option<String>,
    /// Where that is known from.
    pub source: Option<String>,
}

/// Something attached to a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attachment {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// Hash of its bytes, by which it is fetched.
    pub hash: String,
    /// More about it.
    pub note: Option<String>,
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

/// A window of the sessions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sessions {
    /// Sessions that there are.
    pub total: usize,
    /// The window.
    pub sessions: Vec<SessionLine>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Window {
    /// How many to pass over.
    pub offset: Option<usize>,
    /// How many to give, 50 unless said otherwise, 1000 at most.
    pub limit: Option<usize>,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionLine {
    /// Its name.
    pub session: String,
    /// When it began, UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card's title, where it has one.
    pub title: Option<String>,
    /// `bench`, `check`, `import` …
    pub kind: String,
    /// The recipe of a benchmark.
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running` or `crashed`.
    pub state: String,
    /// What came of it.
    pub answer: String,
    /// The check that it is a part of.
    pub part_of: Option<String>,
}

/// A session with its page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its name.
    pub session: String,
    /// The verb, or `import`.
    pub kind: String,
    /// The first line of its page.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// Its page as a fragment of HTML.
    pub html: String,
    /// Its page as a tree of blocks.
    #[schema(value_type = Object)]
    pub page: Value,
    /// Its document, in the words of docs/results.md.
    #[schema(value_type = Object)]
    pub document: Value,
}

/// Which cards are compared or published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardChoice {
    /// Ids or names of cards.
    pub cards: Vec<String>,
    /// The format of a file.
    pub format: Option<String>,
}

/// A page that was made for this request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Made {
    /// The first line of the page.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// The page as a fragment of HTML.
    pub html: String,
    /// The document that it was made of.
    #[schema(value_type = Object)]
    pub document: Value,
}

/// What cards can be ranked for, and on what.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Jobs {
    /// Uses of a card.
    pub jobs: Vec<Job>,
    /// Computers that limit its speed.
    pub hosts: Vec<Named>,
}

/// A use of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// Its name: `pi-boot`.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it consists of.
    pub workloads: Vec<Workload>,
}

/// A part of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// Its share of the score, 0 to 1.
    pub weight: f64,
}

/// Something with a name and a title.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Named {
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
pub struct Ranked {
    /// What to buy.
    pub answer: String,
    /// The order.
    pub places: Vec<Place>,
    /// Cards that are not ranked.
    pub excluded: Vec<Excluded>,
    /// The page as a fragment of HTML.
    pub html: String,
}

/// A card's place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Place {
    /// From 1; equal scores share one.
    pub place: u32,
    /// From 1; within one no card is notably worse than its first, or not for sure.
    pub tier: u32,
    /// The card's id.
    pub card: String,
    /// The card's title.
    pub title: String,
    /// Score, 0 to 100.
    pub score: f64,
    /// Its 95 % interval.
    pub ci95: Option<[f64; 2]>,
    /// Chance that it is the best of all.
    pub probability_best: f64,
    /// What it costs.
    pub price: Option<Price>,
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

/// A file that was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Upload {
    /// Its name for an import.
    pub upload: String,
    /// Its file name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}

/// The name of a file that is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FileName {
    /// The name: `run1.log`.
    pub name: String,
}

/// What is imported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImportOrder {
    /// Files that were sent.
    pub uploads: Vec<String>,
    /// Whether it is stored; otherwise it is only shown.
    pub keep: bool,
    /// Brand of the card, where the logs do not name it.
    pub brand: Option<String>,
    /// Its product name.
    pub card: Option<String>,
    /// The size on its label: `64GB`.
    pub capacity: Option<String>,
    /// Marks on its label.
    pub marks: Vec<String>,
}

/// What was understood.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// The first line of the page.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// File by file.
    pub files: Vec<ImportedFile>,
    /// The page as a fragment of HTML.
    pub html: String,
}

/// What was understood of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedFile {
    /// Its name; one in an archive as `logs.zip/name`.
    pub file: String,
    /// Its format.
    pub format: Option<String>,
    /// The card that it is about.
    pub card: Option<String>,
    /// Runs in it.
    pub runs: usize,
    /// Results in it.
    pub results: usize,
    /// Why it was not understood or stored.
    pub error: Option<String>,
    /// Its sessions in the archive.
    pub sessions: Vec<String>,
}

/// Recipes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Recipes {
    /// The recipes, by name.
    pub recipes: Vec<RecipeLine>,
}

/// A recipe in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeLine {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Where the method is known from.
    pub source: String,
    /// Whether it writes.
    pub writes: bool,
    /// Number of its tests.
    pub tests: usize,
    /// Seconds that a run takes at most, on a card of usual speed.
    pub seconds: f64,
    /// Bytes of its test area.
    pub area_bytes: u64,
}

/// A recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Recipe {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Its file.
    pub text: String,
    /// Its explanation as a fragment of HTML.
    pub html: String,
}

/// A recipe's text, to be checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// The text, in TOML.
    pub text: String,
}

/// What is wrong with a recipe, or what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecipeCheck {
    /// Whether it can be run.
    pub ok: bool,
    /// What is wrong.
    pub error: Option<String>,
    /// The line that is to blame, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// What it does, in a line.
    pub answer: Option<String>,
    /// Its explanation as a fragment of HTML.
    pub html: Option<String>,
    /// Whether it writes.
    pub writes: bool,
}

/// Simulated cards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCards {
    /// The cards, by name.
    pub cards: Vec<SimulatedLine>,
}

/// A simulated card in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedLine {
    /// Its name as a target: `sim:lexar-16g-c10`.
    pub target: String,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// Bytes that it announces.
    pub bytes: u64,
}

/// A simulated card with what can be changed of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCard {
    /// Its name as a target, with what was changed.
    pub target: String,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// What it is like, a paragraph each.
    pub paragraphs: Vec<String>,
    /// What is true of it, which a test has to find out.
    #[schema(value_type = Object)]
    pub truth: Value,
    /// What can be changed.
    pub knobs: Vec<Knob>,
}

/// Something that can be changed of a simulated card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Knob {
    /// The key of its override: `page_bytes`.
    pub key: String,
    /// What it is.
    pub label: String,
    /// Its value now, as the override takes it; empty where the card has none.
    pub value: String,
    /// Values to choose from.
    pub choices: Vec<String>,
}

/// Journals that wait for their cards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Journals {
    /// The journals, oldest first.
    pub journals: Vec<Journal>,
}

/// What a test saved before it overwrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Journal {
    /// Its name for an order to restore.
    pub name: String,
    /// The target of the test.
    pub target: String,
    /// The card, where it was known.
    pub card: Option<String>,
    /// When the test began.
    pub began: String,
    /// Bytes saved.
    pub saved_bytes: u64,
    /// `waits`, `running`, `restored`, or what is wrong with it.
    pub state: String,
    /// What to type at a terminal.
    pub command: Option<String>,
}
