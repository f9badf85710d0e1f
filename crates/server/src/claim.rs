//! The one server of a user that keeps its tasks on disk. It holds a lock for as long as it lives, and says beside it where it
//! listens: so another one learns of it without showing the token to whoever has the port.

use crate::token;
use cardscope_session::state::StateFile;
use std::fs::{File, TryLockError};
use std::net::SocketAddr;

/// Its file, beside the token.
const FILE: &str = "server-address";

/// The token's file is there before any server listens.
fn file() -> Option<File> {
    File::open(StateFile::of(token::FILE).ok()?.path()).ok()
}

/// The lock, unless another server has it; says where this one listens.
pub(crate) fn claim(address: SocketAddr) -> Option<File> {
    let file = file()?;
    file.try_lock().ok()?;
    // Where that cannot be kept, the address has to be copied from where it was printed.
    let _ = StateFile::of(FILE).and_then(|said| said.keep(address.to_string().as_bytes()));
    Some(file)
}

/// Whether the server that has the lock listens there.
pub(crate) fn is_at(address: SocketAddr) -> bool {
    let held = file().is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    let said = StateFile::of(FILE).ok().and_then(|said| said.load());
    held && said.is_some_and(|said| said == address.to_string().as_bytes())
}
