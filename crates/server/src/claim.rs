//! The one server of a user that keeps its tasks on disk. It holds a lock for as long as it lives, and stores beside it where it
//! listens and its token: so another one, or a script, learns of it without showing the token to whoever has the port.

use crate::token::AccessToken;
use cardscope_files::{FileError, FileUse, ResolvedFolder};
use cardscope_session::frame::Failure;
use cardscope_session::state::StateFile;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;

/// File whose lock the server holds.
const LOCK: &str = "server-lock";
const ADDRESS: &str = "server-address";

/// The claim of the server that runs; what it stored goes with it.
#[derive(Debug)]
pub(crate) struct ServerClaim {
    _lock: File,
}

impl ServerClaim {
    /// Takes the lock, unless another server has it; then tells where this one listens.
    ///
    /// # Errors
    /// If nothing can be stored for programs of this user.
    pub(crate) fn take(address: SocketAddr, token: &AccessToken) -> Result<Option<Self>, Failure> {
        let lock = lock_file(true)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        // What is stored before an error, such as a full disk, goes with it.
        let claim = ServerClaim { _lock: lock };
        token.store()?;
        StateFile::of(ADDRESS)?.keep(address.to_string().as_bytes())?;
        Ok(Some(claim))
    }
}

impl Drop for ServerClaim {
    fn drop(&mut self) {
        AccessToken::remove_stored();
        if let Ok(file) = StateFile::of(ADDRESS) {
            file.remove();
        }
    }
}

/// Returns true where the server that has the lock listens at this address.
pub(crate) fn is_at(address: SocketAddr) -> bool {
    let held = lock_file(false).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    let stored = StateFile::of(ADDRESS).ok().and_then(|file| file.load());
    held && stored.is_some_and(|stored| stored == address.to_string().as_bytes())
}

fn lock_file(make: bool) -> Result<File, Failure> {
    let path = StateFile::of(LOCK)?.path();
    let opened = || -> Result<File, FileError> {
        let (folder, name) =
            if make { ResolvedFolder::make_for_file(&path) } else { ResolvedFolder::of_file(&path) }?;
        let open = || folder.open_file(&name, FileUse::Write);
        match open() {
            // Another server may make it at this moment.
            Err(error) if make && error.is_absent() => folder.create(&name, 0o600).or_else(|_| open()),
            opened => opened,
        }
    };
    opened().map_err(|e| Failure::io_for(format!("{} cannot be used: {e}", path.display()), e))
}
