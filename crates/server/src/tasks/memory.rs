//! What has not ended, kept on disk: a server that comes after one that was killed shows it as interrupted, with its session.

use crate::api::{TaskResource, TaskState};
use crate::claim::ServerClaim;
use cardscope_session::state::StateFile;

/// Tasks on disk, and the claim by which other servers of this user know that they are this one's.
#[derive(Debug)]
pub(super) struct TaskStore(Option<(StateFile, ServerClaim)>);

impl TaskStore {
    /// Beside the journals; nowhere, where another server that runs has its tasks there.
    pub(super) fn new(claim: Option<ServerClaim>) -> Self {
        TaskStore(StateFile::of("server-tasks.json").ok().zip(claim))
    }

    /// Keeps these. Where that cannot be, a later server knows nothing of them; the archive has their results all the same.
    pub(super) fn keep(&self, open: &[TaskResource]) {
        if let (Some((file, _)), Ok(text)) = (&self.0, serde_json::to_vec(open)) {
            let _ = file.keep(&text);
        }
    }

    /// What an earlier server left: each was interrupted.
    pub(super) fn left(&self) -> Vec<TaskResource> {
        let text = self.0.as_ref().and_then(|(file, _)| file.load()).unwrap_or_default();
        let mut tasks: Vec<TaskResource> = serde_json::from_slice(&text).unwrap_or_default();
        for task in &mut tasks {
            let why = match (&task.started_at, &task.session) {
                (None, _) => "the server ended before it began",
                (_, None) => "the server ended while it ran",
                _ => "the server ended while it ran; what was measured is in the archive",
            };
            task.error = Some(why.to_owned());
            task.state = TaskState::Interrupted;
            task.ended_at = task.ended_at.take().or_else(|| task.started_at.clone());
        }
        tasks
    }
}
