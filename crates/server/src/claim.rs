//! Lock of the one server per user that stores its tasks. The holder publishes its address and token in files of this
//! user, so that a second server and scripts find it without sending the token to an unknown program on the port.

use crate::api::{TaskResource, TaskState};
use crate::token::AccessToken;
use cardscope_files::{FileError, FileUse, ResolvedFolder};
use cardscope_session::frame::Failure;
use cardscope_session::state_file::StateFile;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;

/// File that the server keeps locked.
const LOCK: &str = "server-lock";
const ADDRESS: &str = "server-address";

/// Lock and published files of the running server, removed when dropped.
#[derive(Debug)]
pub(crate) struct ServerClaim {
    _lock: File,
}

impl ServerClaim {
    /// Takes the lock and publishes the address and the token; `None` if another server has the lock. Fails if the files
    /// cannot be written.
    pub(crate) fn try_claim(address: SocketAddr, token: &AccessToken) -> Result<Option<Self>, Failure> {
        let lock = open_lock_file(true)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        // Created before the writes, so that an error such as a full disk removes partial files.
        let claim = ServerClaim { _lock: lock };
        token.publish()?;
        StateFile::with_name(ADDRESS)?.store(address.to_string().as_bytes())?;
        Ok(Some(claim))
    }
}

impl Drop for ServerClaim {
    fn drop(&mut self) {
        AccessToken::unpublish();
        if let Ok(file) = StateFile::with_name(ADDRESS) {
            file.remove();
        }
    }
}

/// True if the server that holds the lock listens at this address.
pub(crate) fn is_served_at(address: SocketAddr) -> bool {
    let is_locked = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    let held = open_lock_file(false).is_ok_and(is_locked);
    let stored = StateFile::with_name(ADDRESS).ok().and_then(|file| file.load());
    held && stored.is_some_and(|stored| stored == address.to_string().as_bytes())
}

fn open_lock_file(make: bool) -> Result<File, Failure> {
    let path = StateFile::with_name(LOCK)?.path();
    let opened = || -> Result<File, FileError> {
        let parent_of = if make { ResolvedFolder::create_parent_of } else { ResolvedFolder::parent_of };
        let (folder, name) = parent_of(&path)?;
        let open = || folder.open_file(&name, FileUse::Write);
        match open() {
            // Another server may create it at the same time.
            Err(error) if make && error.is_absent() => folder.create(&name, 0o600).or_else(|_| open()),
            opened => opened,
        }
    };
    opened().map_err(|e| Failure::io_for(format!("{} cannot be used: {e}", path.display()), e))
}

/// File of the unfinished tasks, which the next server shows as interrupted if this one is killed, with the claim that permits to use it; `None` if another server holds the claim.
#[derive(Debug)]
pub(crate) struct TaskStore(Option<(StateFile, ServerClaim)>);

impl TaskStore {
    pub(crate) fn new(claim: Option<ServerClaim>) -> Self {
        TaskStore(StateFile::with_name("server-tasks.json").ok().zip(claim))
    }

    /// Writes unfinished tasks. An error is ignored: the archive has the results anyway.
    pub(crate) fn save(&self, open: &[TaskResource]) {
        if let (Some((file, _)), Ok(text)) = (&self.0, serde_json::to_vec(open)) {
            let _ = file.store(&text);
        }
    }

    /// Loads the tasks of an earlier server, all as interrupted.
    pub(crate) fn load_interrupted(&self) -> Vec<TaskResource> {
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
