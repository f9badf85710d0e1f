//! Tests started through the API.

use cardscope_model::progress::{FindingSummary, PlannedStage, ProgressSample, SpeedFigure};
use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
