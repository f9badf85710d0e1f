//! A Unix socket by its name: made in a folder that is held, in the place of one whose server is dead, and removed at
//! the end while it is still ours.

use super::super::ServeError;
use super::address::refused;
use cardscope_files::{FileError, Folder, Identity};
use rustix::fs::FileType;
use std::ffi::OsString;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// A socket that is listened on.
pub(super) struct Local {
    pub(super) listener: UnixListener,
    /// Its whole path, for messages.
    pub(super) path: PathBuf,
    folder: Folder,
    name: OsString,
    identity: Identity,
}

impl Local {
    pub(super) fn bind(path: &Path) -> Result<Local, ServeError> {
        let broken = |error: FileError| match error {
            e if e.is_absent() => refused(path.display(), "its directory does not exist; make it first"),
            e => refused(path.display(), &e.to_string()),
        };
        let (folder, name) = Folder::of_file(path).map_err(broken)?;
        // Longer paths than a socket's address holds fit this way, too.
        let at = folder.by_descriptor().join(&name);
        if let Some(there) = folder.look(&name).map_err(broken)? {
            if FileType::from_raw_mode(there.st_mode) != FileType::Socket {
                let why = "there is a file of that name, and it is not a socket; give another path";
                return Err(refused(path.display(), why));
            }
            let dead = UnixStream::connect(&at);
            must_be_dead(path, dead)?;
            folder.remove(&name, Identity::from(&there)).map_err(broken)?;
        }
        let listener = UnixListener::bind(&at).map_err(|e| broken(e.into()))?;
        listener.set_nonblocking(true).map_err(|e| broken(e.into()))?;
        let gone = || refused(path.display(), "somebody removed the socket as soon as it was made");
        let made = folder.look(&name).map_err(broken)?.ok_or_else(gone)?;
        let path = folder.path().join(&name);
        Ok(Local { listener, path, folder, name, identity: Identity::from(&made) })
    }

    /// Removes the socket's file, unless somebody else has put another there.
    pub(super) fn remove(&self) {
        let _ = self.folder.remove(&self.name, self.identity);
    }
}

fn must_be_dead(path: &Path, answer: io::Result<UnixStream>) -> Result<(), ServeError> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Ok(_) => Err(refused(path.display(), "another server answers there; give another path")),
        Err(error) => Err(refused(path.display(), &error.to_string())),
    }
}
