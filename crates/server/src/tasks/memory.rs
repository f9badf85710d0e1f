//! What has not ended, kept on disk: a server that comes after one that was killed shows it as interrupted, with its session.

use crate::api::{State, Task};
use cardscope_session::state::StateFile;

/// Tasks on disk.
#[derive(Debug)]
pub(super) struct Memory(Option<StateFile>);

impl Memory {
    /// Beside the journals.
    pub(super) fn open() -> Self {
        Memory(StateFile::of("server-tasks.json").ok())
    }

    /// Keeps these. Where that cannot be, a later server knows nothing of them; the archive has their results all the same.
    pub(super) fn keep(&self, open: &[Task]) {
        if let (Some(file), Ok(text)) = (&self.0, serde_json::to_vec(open)) {
            let _ = file.keep(&text);
        }
    }

    /// What an earlier server left: each was interrupted.
    pub(super) fn left(&self) -> Vec<Task> {
        let text = self.0.as_ref().and_then(StateFile::load).unwrap_or_default();
        let mut tasks: Vec<Task> = serde_json::from_slice(&text).unwrap_or_default();
        for task in &mut tasks {
            task.state = State::Interrupted;
            task.ended_at = task.ended_at.take().or_else(|| task.started_at.clone());
            task.error =
                Some("the server ended while it ran; what was measured is in the archive".to_owned());
        }
        tasks
    }
}
