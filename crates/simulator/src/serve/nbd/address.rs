//! Where NBD clients connect, as a user writes it: `host:port`, or the path of a Unix socket, which is made in a folder
//! that is held, in the place of one whose server is dead, and removed at the end while it is still ours.

use super::super::ServeError;
use cardscope_files::{FileError, Folder, Identity};
use rustix::fs::FileType;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where NBD clients connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A host and a port; port 0 lets the kernel choose.
    Tcp(String),
    /// A Unix socket.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = ServeError;

    /// Whatever has a slash, or does not end in a colon and a number, is a path.
    fn from_str(text: &str) -> Result<Self, ServeError> {
        let port = text.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>()));
        match port {
            _ if text.is_empty() => Err(refused(text, "write host:port, or the path of a socket")),
            _ if text.contains('/') => Ok(Address::Unix(PathBuf::from(text))),
            Some(("", _)) => {
                Err(refused(text, "a host is missing; write 127.0.0.1:10809, or 0.0.0.0:10809 for any"))
            }
            Some((_, Ok(_))) => Ok(Address::Tcp(text.to_owned())),
            Some((_, Err(_))) => Err(refused(text, "the port must be a number up to 65535")),
            None => Ok(Address::Unix(PathBuf::from(text))),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(text) => f.write_str(text),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

pub(super) fn refused(address: impl ToString, reason: &str) -> ServeError {
    ServeError::Address(address.to_string(), reason.to_owned())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_paths_are_told_apart() {
        let address = |text: &str| text.parse::<Address>().map_err(|e| e.to_string());
        assert_eq!(address("127.0.0.1:10809"), Ok(Address::Tcp("127.0.0.1:10809".to_owned())));
        assert_eq!(address("[::1]:0"), Ok(Address::Tcp("[::1]:0".to_owned())));
        assert_eq!(address("/run/card:1"), Ok(Address::Unix("/run/card:1".into())));
        assert_eq!(address("card.sock"), Ok(Address::Unix("card.sock".into())));
        for (bad, word) in [("", "host:port"), (":10809", "host is missing"), ("host:99999", "port")] {
            assert!(address(bad).is_err_and(|e| e.contains(word)), "{bad}");
        }
    }
}
