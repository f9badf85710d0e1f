//! Tests that were ordered.

use cardscope_model::progress::{FindingSummary, PlannedStage, ProgressSample, SpeedFigure};
use cardscope_model::report::NewsTone;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a task came to, or how far it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaskState {
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
pub struct TaskResource {
    /// Its name.
    pub id: String,
    /// The verb: `check`, `verify` …
    pub verb: String,
    /// Device file or simulated card.
    pub target: String,
    /// What the target is called.
    pub title: String,
    /// How far it is.
    pub state: TaskState,
    /// When it was ordered, UTC.
    pub queued_at: String,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// The stages that are planned.
    pub plan: Vec<PlannedStage>,
    /// What it writes and what becomes of the card's data, in a line.
    pub says: String,
    /// Where it is now.
    pub moment: Option<ProgressSample>,
    /// Conclusions so far.
    pub findings: Vec<FindingSummary>,
    /// Speeds so far.
    pub figures: Vec<SpeedFigure>,
    /// What was said.
    pub notes: Vec<String>,
    /// The answer, once it ended.
    pub answer: Option<String>,
    /// How good that is.
    pub tone: Option<NewsTone>,
    /// Its session in the archive.
    pub session: Option<String>,
    /// What ended it early.
    pub error: Option<String>,
    /// Whether the card's data are lost by it.
    pub loses_data: bool,
    /// Whether what it overwrites on the card is saved before, and restored at its end.
    #[serde(default)]
    pub restores: bool,
    /// Where it was over time, thinned to at most 600 moments; only where one task is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<ProgressSample>,
}

/// Tasks, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<TaskResource>,
}

/// A moment of a task, as an event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = TaskMoment)]
pub struct TaskSample {
    /// The task.
    pub task: String,
    /// Where it is.
    #[serde(flatten)]
    pub moment: ProgressSample,
}
