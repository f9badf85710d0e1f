//! Mount directories: clears the mount of a killed server, refuses directories in use, and explains refusals of the
//! kernel. A separate thread accesses a directory, since that hangs with the server that is mounted there.

use super::ServeError;
use crate::target_spec::SIM_PREFIX;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Error of a mount whose server is gone.
const DEAD_ERRNO: i32 = libc::ENOTCONN;

/// Time after which a server that does not answer counts as hung.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

const FUSE_DEVICE: &str = "/dev/fuse";

pub(super) fn prepare_directory(directory: &Path) -> Result<(), ServeError> {
    let unreadable = |error: io::Error| directory_error(directory, &io_reason(&error));
    let wrong = match probe_state(directory) {
        MountState::Dead if !is_cardscope_mount(directory) => {
            "another program's mount there is dead; unmount it (fusermount3 -u), or give another directory"
        }
        MountState::Dead if !unmount_lazily(directory) => {
            "a killed server left its mount there; try fusermount3 -u on it"
        }
        MountState::Hung => {
            "the mount there does not answer; end its server (or umount -l it), or give another directory"
        }
        _ if !std::fs::metadata(directory).map_err(unreadable)?.is_dir() => {
            "it is not a directory; give an empty one"
        }
        _ if directory.join(super::CARD_FILE).exists() => {
            "a file named \"card\" exists there; give an empty directory"
        }
        _ if std::fs::read_dir(directory).map_err(unreadable)?.next().is_some() => {
            "it is not empty; give an empty directory"
        }
        MountState::Dead | MountState::Responsive => return Ok(()),
    };
    Err(directory_error(directory, wrong))
}

/// Checks that directories of cards can be created in `directory`, and that it is not the mount of another server.
pub(super) fn prepare_parent(directory: &Path) -> Result<(), ServeError> {
    let usable = matches!(probe_state(directory), MountState::Responsive) && {
        let found = std::fs::metadata(directory).map_err(|e| directory_error(directory, &io_reason(&e)))?;
        found.is_dir() && !directory.join(super::CARD_FILE).exists()
    };
    if usable { Ok(()) } else { prepare_directory(directory) }
}

/// Creates a card's directory; returns false if it exists already.
pub(super) fn make_directory(directory: &Path) -> Result<bool, ServeError> {
    match std::fs::create_dir(directory) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(directory_error(directory, &format!("it cannot be made: {error}"))),
    }
}

/// Unmounts lazily: programs keep the files that they have open, but the path is free.
pub(super) fn unmount_lazily(directory: &Path) -> bool {
    let tried = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).arg(directory);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    // Ordinary users can only unmount with fusermount, which may be missing where root mounts.
    tried("fusermount3", &["-u", "-z"]) || tried("fusermount", &["-u", "-z"]) || tried("umount", &["-l"])
}

/// Kernel's number of the mount on a directory; None if nothing is mounted.
pub(super) fn mount_id(directory: &Path) -> Option<String> {
    let line = mountinfo_line(directory)?;
    line.split(' ').next().map(str::to_owned)
}

fn is_cardscope_mount(directory: &Path) -> bool {
    let line = mountinfo_line(directory).unwrap_or_default();
    let (_, kind) = line.split_once(" - ").unwrap_or_default();
    // Mounts made by root have no subtype; their source is the name of the card.
    kind.starts_with("fuse.cardscope ") || kind.starts_with(&format!("fuse {SIM_PREFIX}"))
}

/// Line of a mount in the kernel's table (proc_pid_mountinfo(5)); the last one is the topmost mount.
fn mountinfo_line(directory: &Path) -> Option<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    // The path is resolved by the parent, since the server of the directory itself may be gone.
    let whole = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
    let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
    let place = parent.zip(whole.file_name()).map_or(whole.clone(), |(parent, name)| parent.join(name));
    let escapes = [('\\', "\\134"), (' ', "\\040"), ('\t', "\\011"), ('\n', "\\012")];
    let plain = place.display().to_string();
    let escaped = escapes.iter().fold(plain, |text, (from, to)| text.replace(*from, to));
    table.lines().rfind(|line| line.split(' ').nth(4) == Some(&escaped)).map(str::to_owned)
}

/// Error with the reason why the kernel refused a mount, and what to do.
pub(super) fn mount_error(directory: &Path, error: &io::Error) -> ServeError {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(FUSE_DEVICE);
    let reason = match opened.map_err(|e| e.kind()) {
        Err(io::ErrorKind::NotFound) => format!(
            "{FUSE_DEVICE} is missing; load the kernel module (modprobe fuse), or pass the device into the container"
        ),
        Err(io::ErrorKind::PermissionDenied) => {
            format!("no permission for {FUSE_DEVICE}; run as root, or use chmod 666 {FUSE_DEVICE}")
        }
        _ if error.kind() == io::ErrorKind::PermissionDenied || error.to_string().contains("fusermount") => {
            format!("{error}; run as root, or install fusermount3 (package fuse3)")
        }
        _ => format!("{error}; use --nbd to serve cards without FUSE"),
    };
    ServeError::Mount(directory.to_owned(), reason)
}

enum MountState {
    /// The directory answers, or does not exist.
    Responsive,
    /// The server of its mount is gone.
    Dead,
    /// The server of its mount hangs.
    Hung,
}

fn probe_state(directory: &Path) -> MountState {
    let (sender, receiver) = mpsc::channel();
    let path = directory.to_owned();
    // The kernel may still know names and attributes after a server died, so the directory is listed. A thread that
    // hangs ends with the server.
    let list = move || std::fs::read_dir(path).and_then(|mut all| all.next().transpose());
    std::thread::spawn(move || sender.send(list()));
    match receiver.recv_timeout(ANSWER_TIMEOUT) {
        Ok(Err(error)) if error.raw_os_error() == Some(DEAD_ERRNO) => MountState::Dead,
        Ok(_) => MountState::Responsive,
        Err(_) => MountState::Hung,
    }
}

fn directory_error(directory: &Path, reason: &str) -> ServeError {
    ServeError::Directory(directory.to_owned(), reason.to_owned())
}

fn io_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "it does not exist; create it first".to_owned(),
        _ => error.to_string(),
    }
}
