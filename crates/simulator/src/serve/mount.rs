//! The directory to mount on: clears what a killed server left there, refuses what is in use, and says what to do
//! where the kernel takes no mount. A directory is asked by a thread of its own, since asking hangs where the server
//! that is mounted there does.

use super::ServeError;
use crate::target_spec::PREFIX;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The kernel's answer for a mount whose server is gone.
const DEAD: i32 = libc::ENOTCONN;

/// How long a server may take to answer before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(2);

const FUSE: &str = "/dev/fuse";

pub(super) fn prepare(directory: &Path) -> Result<(), ServeError> {
    let unreadable = |error: io::Error| refuse(directory, &reason(&error));
    let wrong = match state(directory) {
        MountState::Dead if !ours(directory) => {
            "another program's mount there is dead; unmount it (fusermount3 -u), or give another directory"
        }
        MountState::Dead if !detach(directory) => {
            "a killed server left its mount there; try fusermount3 -u on it"
        }
        MountState::Silent => {
            "the mount there does not answer; end its server (or umount -l it), or give another directory"
        }
        _ if !std::fs::metadata(directory).map_err(unreadable)?.is_dir() => {
            "it is not a directory; give an empty one"
        }
        _ if directory.join(super::FILE).exists() => {
            "a file named \"card\" exists there; give an empty directory"
        }
        _ if std::fs::read_dir(directory).map_err(unreadable)?.next().is_some() => {
            "it is not empty; give an empty directory"
        }
        MountState::Dead | MountState::Answers => return Ok(()),
    };
    Err(refuse(directory, wrong))
}

/// Makes sure that the cards' own directories can be made in one: it is there, and no mount of another server.
pub(super) fn prepare_parent(directory: &Path) -> Result<(), ServeError> {
    let found = match state(directory) {
        MountState::Silent | MountState::Dead => return prepare(directory),
        MountState::Answers => std::fs::metadata(directory).map_err(|e| refuse(directory, &reason(&e)))?,
    };
    if !found.is_dir() || directory.join(super::FILE).exists() {
        return prepare(directory);
    }
    Ok(())
}

/// Makes a card's own directory where it is absent; true if it did.
pub(super) fn make(directory: &Path) -> Result<bool, ServeError> {
    match std::fs::create_dir(directory) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(refuse(directory, &format!("it cannot be made: {error}"))),
    }
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

/// The kernel's number of what is mounted on a directory; `None` where nothing is.
pub(super) fn id(directory: &Path) -> Option<String> {
    let line = mounted(directory)?;
    line.split(' ').next().map(str::to_owned)
}

fn ours(directory: &Path) -> bool {
    let line = mounted(directory).unwrap_or_default();
    let (_, kind) = line.split_once(" - ").unwrap_or_default();
    // Root's mounts have no subtype, so the source tells: it is the card's name.
    kind.starts_with("fuse.cardscope ") || kind.starts_with(&format!("fuse {PREFIX}"))
}

/// The line of what is mounted on a directory in the kernel's table (proc_pid_mountinfo(5)); the last one lies on top.
fn mounted(directory: &Path) -> Option<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    // The parent is asked, and not the directory, whose server may be gone.
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
    let place = match (parent, whole.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => whole,
    };
    let plain = place.display().to_string();
    let escapes = [('\\', "\\134"), (' ', "\\040"), ('\t', "\\011"), ('\n', "\\012")];
    let escaped = escapes.iter().fold(plain, |text, (from, to)| text.replace(*from, to));
    table.lines().rfind(|line| line.split(' ').nth(4) == Some(&escaped)).map(str::to_owned)
}

/// Why the kernel took no mount, and what to do.
pub(super) fn explain(directory: &Path, error: &io::Error) -> ServeError {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(FUSE);
    let reason = match opened.map_err(|e| e.kind()) {
        Err(io::ErrorKind::NotFound) => {
            format!(
                "{FUSE} is missing; load the kernel module (modprobe fuse), or pass the device into the \
                 container"
            )
        }
        Err(io::ErrorKind::PermissionDenied) => {
            format!("no permission for {FUSE}; run as root, or use chmod 666 {FUSE}")
        }
        _ if error.kind() == io::ErrorKind::PermissionDenied || error.to_string().contains("fusermount") => {
            format!("{error}; run as root, or install fusermount3 (package fuse3)")
        }
        _ => format!("{error}; use --nbd to serve cards without FUSE"),
    };
    ServeError::Mount(directory.to_owned(), reason)
}

enum MountState {
    /// It answers, whatever it is, or is not there.
    Answers,
    /// Something whose server is gone is mounted there.
    Dead,
    /// Something whose server hangs is mounted there.
    Silent,
}

fn state(directory: &Path) -> MountState {
    let (sender, receiver) = mpsc::channel();
    let path = directory.to_owned();
    // A listing, since names and attributes may be known to the kernel long after the server died. A thread that
    // hangs on a hung server is left behind; it ends with that server.
    std::thread::spawn(move || {
        sender.send(std::fs::read_dir(path).and_then(|mut all| all.next().transpose()))
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Err(error)) if error.raw_os_error() == Some(DEAD) => MountState::Dead,
        Ok(_) => MountState::Answers,
        Err(_) => MountState::Silent,
    }
}

fn refuse(directory: &Path, reason: &str) -> ServeError {
    ServeError::Directory(directory.to_owned(), reason.to_owned())
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist; create it first".to_owned(),
        _ => error.to_string(),
    }
}
