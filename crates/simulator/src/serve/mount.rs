//! The directory to mount on: clears what a killed server left there, refuses what is in use.

use super::ServeError;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The kernel's answer for a mount whose server is gone.
const DEAD: i32 = libc::ENOTCONN;

/// Makes sure that a directory can be mounted on.
pub(super) fn prepare(directory: &Path) -> Result<(), ServeError> {
    if is_dead(directory) && !detach(directory) {
        return Err(refuse(
            directory,
            "a server that was killed left its mount there and it cannot be cleared; try fusermount3 -u on it",
        ));
    }
    let found = std::fs::metadata(directory).map_err(|e| refuse(directory, &reason(&e)))?;
    if !found.is_dir() {
        return Err(refuse(directory, "it is no directory; give an empty one"));
    }
    if directory.join(super::FILE).exists() {
        return Err(refuse(
            directory,
            "there is a file named \"card\" already: another card is served there, or give an empty directory",
        ));
    }
    Ok(())
}

/// Unmounts lazily: whoever still has the file open keeps it, nobody finds it any more.
pub(super) fn detach(directory: &Path) -> bool {
    let tried = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    tried("fusermount3", &["-u", "-z"]) || tried("fusermount", &["-u", "-z"]) || tried("umount", &["-l"])
}

fn is_dead(directory: &Path) -> bool {
    std::fs::metadata(directory).is_err_and(|e| e.raw_os_error() == Some(DEAD))
}

fn refuse(directory: &Path, reason: &str) -> ServeError {
    ServeError::Directory { path: directory.to_owned(), reason: reason.to_owned() }
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist; make it first".to_owned(),
        _ => error.to_string(),
    }
}
