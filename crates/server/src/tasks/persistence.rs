//! Stores unfinished tasks on disk, so that the next server shows those of a killed one as interrupted.

use crate::api::{TaskResource, TaskState};
use crate::claim::ServerClaim;
use cardscope_session::state_file::StateFile;

/// File of the tasks with the claim that permits to use it; `None` if another server holds the claim.
#[derive(Debug)]
pub(super) struct TaskStore(Option<(StateFile, ServerClaim)>);

impl TaskStore {
    pub(super) fn new(claim: Option<ServerClaim>) -> Self {
        TaskStore(StateFile::with_name("server-tasks.json").ok().zip(claim))
    }

    /// Writes unfinished tasks. An error is ignored: the archive has the results anyway.
    pub(super) fn save(&self, open: &[TaskResource]) {
        if let (Some((file, _)), Ok(text)) = (&self.0, serde_json::to_vec(open)) {
            let _ = file.store(&text);
        }
    }

    /// Loads the tasks of an earlier server, all as interrupted.
    pub(super) fn load_interrupted(&self) -> Vec<TaskResource> {
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
