//! Host, devices, simulated cards, recipes, and the tests that are run; refused requests.

use cardscope_model::device::DeviceInfo;
use cardscope_model::progress::{FindingSummary, PlannedStage, ProgressSample, SpeedFigure};
use cardscope_model::report::NewsTone;
use cardscope_model::restore::WaitingJournal;
use cardscope_verbs::description::VerbDescription;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Reason why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiProblem {
    /// Sentence with the failure, its cause and the remedy.
    pub error: String,
    /// True if the request loses data and lacks its `confirm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_consent: bool,
}

/// Computer that runs the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostInfo {
    pub version: String,
    pub hostname: String,
    /// Path of the archive, or address of its database without the password.
    pub archive: String,
    /// Reason why the archive cannot be written; null if it can.
    pub archive_problem: Option<String>,
    pub root: bool,
}

/// Random number of a client, for one use.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClientNonce {
    /// 32 to 128 hex digits.
    pub nonce: String,
}

/// Proof that the server knows the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenProof {
    /// HMAC-SHA-256 in hex.
    pub proof: String,
}

/// Journals with unrestored data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JournalList {
    /// Oldest first.
    pub journals: Vec<Journal>,
}

/// Saved data of an interrupted test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Journal {
    /// Name for a request to restore it.
    pub name: String,
    #[serde(flatten)]
    pub waiting: WaitingJournal,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DeviceList {
    /// Sentence with the number of devices and of those that are safe to test.
    pub answer: String,
    /// Sorted by name.
    pub devices: Vec<Device>,
    /// Simulated cards to try without a real one.
    pub examples: Vec<SimulatedLine>,
}

/// Card, stick or reader. Its `reason` comes without the advice.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Device {
    #[serde(flatten)]
    pub info: DeviceInfo,
    /// Remedy for the reason.
    pub advice: Option<String>,
    /// Id of the task that runs or waits on it.
    pub task: Option<String>,
}

impl From<DeviceInfo> for Device {
    fn from(mut info: DeviceInfo) -> Self {
        let advice = info.advice.take();
        info.reason = info.cause.take();
        Device { info, advice, task: None }
    }
}

/// Card to unmount.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CardObject {
    /// Identity of the card from the list of devices.
    #[serde(default)]
    pub object: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCards {
    /// Sorted by name.
    pub cards: Vec<SimulatedLine>,
}

/// Simulated card in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedLine {
    /// Name as a target: `sim:lexar-16g-c10`.
    pub target: String,
    pub name: String,
    /// Real card that it models.
    pub title: String,
    /// Announced capacity in bytes.
    pub bytes: u64,
}

/// Simulated card with its editable properties.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCard {
    /// Name as a target, with the overrides.
    pub target: String,
    pub name: String,
    pub title: String,
    /// Description, one paragraph each.
    pub paragraphs: Vec<String>,
    /// True properties, which a test has to find.
    #[schema(value_type = Object)]
    pub truth: Value,
    pub knobs: Vec<CardKnob>,
}

/// Editable property of a simulated card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardKnob {
    /// Key of the override, such as `page_bytes`.
    pub key: String,
    pub label: String,
    /// Current value as the override takes it; empty if the card has none.
    pub value: String,
    /// Suggested values.
    pub choices: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeList {
    /// Sorted by name.
    pub recipes: Vec<RecipeLine>,
}

/// Recipe in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeLine {
    pub name: String,
    pub title: String,
    /// Origin of the method.
    pub source: String,
    pub writes: bool,
    /// Number of tests.
    pub tests: usize,
    /// Estimated maximum duration of a run in seconds, on a card of usual speed.
    pub seconds: f64,
    /// Size of the test area in bytes.
    pub area_bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeResource {
    pub name: String,
    pub title: String,
    /// TOML source.
    pub text: String,
    /// Explanation as an HTML fragment.
    pub html: String,
}

/// Recipe to check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// TOML source.
    pub text: String,
}

/// Errors or explanation of a checked recipe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecipeCheck {
    /// True if it can be run.
    pub ok: bool,
    pub error: Option<String>,
    /// Line of the error, from 1.
    pub line: Option<usize>,
    /// Column of the error, from 1.
    pub column: Option<usize>,
    /// Summary in one line.
    pub answer: Option<String>,
    pub html: Option<String>,
    pub writes: bool,
}

/// Verbs that can be ordered, in the order of a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Verbs {
    pub verbs: Vec<VerbDescription>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
    /// Waits for another test on the same device.
    #[default]
    Queued,
    Running,
    /// Stops, and restores the card's data first.
    Stopping,
    Complete,
    /// Refused, or ended by an error.
    Failed,
    /// Stopped; results so far are in the archive.
    Interrupted,
}

impl TaskState {
    pub fn has_ended(self) -> bool {
        matches!(self, TaskState::Complete | TaskState::Failed | TaskState::Interrupted)
    }
}

/// A test started through the API.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskResource {
    pub id: String,
    /// `check`, `verify` …
    pub verb: String,
    /// Device file or simulated card.
    pub target: String,
    /// Name of the target for people.
    pub title: String,
    pub state: TaskState,
    /// Time of the request, UTC.
    pub queued_at: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub plan: Vec<PlannedStage>,
    /// Line about what it writes and whether it restores the card's data.
    pub says: String,
    /// Newest sample.
    pub moment: Option<ProgressSample>,
    pub findings: Vec<FindingSummary>,
    pub figures: Vec<SpeedFigure>,
    /// Messages of the verb.
    pub notes: Vec<String>,
    /// Answer of its page, once it has ended.
    pub answer: Option<String>,
    /// Severity of the answer.
    pub tone: Option<NewsTone>,
    pub session: Option<String>,
    /// Error that ended it early.
    pub error: Option<String>,
    /// True if the card's data are lost.
    pub loses_data: bool,
    /// True if overwritten data is saved first and restored at the end.
    #[serde(default)]
    pub restores: bool,
    /// Samples over time, thinned to at most 600; only in the answer for a single task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<ProgressSample>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskList {
    /// Newest first.
    pub tasks: Vec<TaskResource>,
}

/// Sample of a task, as an event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = TaskMoment)]
pub struct TaskSample {
    pub task: String,
    #[serde(flatten)]
    pub moment: ProgressSample,
}
