//! Test file in a directory: created, locked, grown and removed, together with leftovers of crashed runs.
//!
//! The kernel drops flock(2) locks with the process, however that ends, so a free lock marks a leftover. Leftovers are
//! recognized by name and owner, and removed only while the name leads to the file that was examined.

use super::hanging_call::{self, HangingCall};
use crate::interrupt::InterruptFlag;
use crate::pending::{PendingGuard, PendingWait, register_cleanup};
use crate::target::{TargetError, TargetResult};
use cardscope_files::{FileIdentity, FileUse, ResolvedFolder};
use cardscope_model::units::MIB;
use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock, fstat, fstatvfs, fsync, ftruncate};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Space that stays free: a full system disk stops the machine, and cards slow down when full.
const LEAST_RESERVE: u64 = 16 * MIB;

/// Growing in steps lets an interrupt end it where it writes zeros (FAT).
const GROWTH: u64 = 64 * MIB;

const PREFIX: &str = ".cardscope-test-";

pub(super) struct TestFile {
    file: File,
    /// Announces the removal to a user who stops the program.
    _owing: PendingGuard,
    name: OsString,
    directory: ResolvedFolder,
    /// Lock of the directory, where supported: of two programs that start at once, one fails.
    _lock: OwnedFd,
}

impl TestFile {
    pub(super) fn create(directory: ResolvedFolder) -> TargetResult<Self> {
        let lock = directory.reopen_readable().map_err(|errno| setup_error(directory.path(), errno))?;
        if !hanging_call::try_lock_file(&lock) {
            return Err(in_use_error(directory.path()));
        }
        remove_leftovers(&directory)?;
        let name = OsString::from(fresh_name());
        let file = directory.create(&name, 0o600).map_err(|e| io_setup_error(directory.path(), &e.into()))?;
        let shown = directory.path().join(&name);
        let shown = shown.display();
        let leftover = format!("the test file {shown} stays until the next test there");
        let owing = register_cleanup(format!("the test file {shown} is removed"), leftover);
        let made = Self { file, _owing: owing, name, directory, _lock: lock };
        // Without lock support two runs may meet; testing is still possible.
        let _ = flock(&made.file, FlockOperation::NonBlockingLockExclusive);
        Ok(made)
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join(&self.name)
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn free_space(&self) -> u64 {
        free_space_below(self.fd())
    }

    /// Extends the file to `wanted` bytes, with all blocks allocated if the file system supports it.
    pub(super) fn grow(&self, wanted: u64, interrupt: &InterruptFlag) -> TargetResult {
        let current = fstat(&self.file).map_err(|e| setup_error(&self.path(), e))?.st_size as u64;
        let what = || format!("the test file {}", self.path().display());
        let no_space = |needed, available| TargetError::NoSpace { what: what(), needed, available };
        let (needed, available) = (wanted.saturating_sub(current), self.free_space());
        if needed > available {
            return Err(no_space(needed, available));
        }
        let mut at = current;
        while at < wanted {
            if interrupt.is_raised() {
                return Err(TargetError::Interrupted);
            }
            let step = GROWTH.min(wanted - at);
            match extend_file(self.fd(), at, step) {
                Ok(()) => at += step,
                Err(Errno::INTR) => {}
                Err(Errno::NOSPC | Errno::DQUOT) => return Err(no_space(wanted - at, self.free_space())),
                Err(errno) => return Err(setup_error(&self.path(), errno)),
            }
        }
        // Data written by growing must not be flushed during the first measurement.
        let file = self.file.try_clone().map_err(|e| io_setup_error(&self.path(), &e))?;
        let what = PendingWait::Call(format!("a flush of {}", self.path().display()).into());
        let call = HangingCall { what, operation: "flush", interrupt, limit: None };
        call.run_limited(move || fsync(file))?.map_err(|e| setup_error(&self.path(), e))
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        if let Ok(made) = FileIdentity::of_file(&self.file) {
            let _ = self.directory.remove(&self.name, made);
        }
    }
}

/// Free bytes of the file system less the reserve; the largest file size if it does not report any (ramfs, some FUSE
/// servers).
pub(super) fn free_space_below(fd: BorrowedFd<'_>) -> u64 {
    let Ok(found) = fstatvfs(fd) else { return 0 };
    if found.f_blocks == 0 {
        return i64::MAX as u64;
    }
    let reserve = (found.f_blocks * found.f_frsize / 100).max(LEAST_RESERVE);
    (found.f_bavail * found.f_frsize).saturating_sub(reserve)
}

fn extend_file(file: BorrowedFd<'_>, at: u64, step: u64) -> Result<(), Errno> {
    match fallocate(file, FallocateFlags::empty(), at, step) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => ftruncate(file, at + step),
        outcome => outcome,
    }
}

fn fresh_name() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}{:08x}-{:016x}", PREFIX, std::process::id(), since_epoch.as_nanos() as u64)
}

pub(super) fn setup_error(path: &Path, errno: Errno) -> TargetError {
    let advice = match errno {
        Errno::ACCESS | Errno::PERM => "choose a writable one, or ask its owner",
        Errno::ROFS => "the file system is read-only: check the card's lock switch, or mount it for writing",
        Errno::NOENT | Errno::NOTDIR => "check the name, and that the card is mounted",
        Errno::NOSPC | Errno::DQUOT => "the file system is full: free some space",
        _ => "choose another place, or test the bare device",
    };
    TargetError::setup(format!("opening {} for a test", path.display()), format!("{errno}; {advice}"))
}

fn io_setup_error(path: &Path, error: &std::io::Error) -> TargetError {
    setup_error(path, Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// Removes leftovers. Returns an error if one is in use: another Cardscope is testing there.
fn remove_leftovers(directory: &ResolvedFolder) -> TargetResult {
    let Ok(names) = directory.names() else { return Ok(()) };
    for name in names.iter().filter(|name| name.to_str().is_some_and(is_our_name)) {
        // Links, other kinds of files and files that cannot be opened are not ours to remove.
        let Ok(file) = directory.open_file(name, FileUse::Write) else { continue };
        if !is_ours(directory, &file) {
            continue;
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(in_use_error(directory.path())),
            Ok(()) => drop(FileIdentity::of_file(&file).map(|left| directory.remove(name, left))),
            Err(_) => {}
        }
    }
    Ok(())
}

fn in_use_error(directory: &Path) -> TargetError {
    let reason = "another Cardscope is testing there; wait for it to end, or stop it";
    TargetError::setup(format!("opening {} for a test", directory.display()), reason)
}

/// Matches test file names exactly: prefix, eight hexadecimal digits, `-`, sixteen.
fn is_our_name(name: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    rest.is_some_and(|(process, time)| hex(process, 8) && hex(time, 16))
}

/// True for a file of this user, or of the directory's owner (root may test where a user tested before), that has no
/// other name: a second hard link means that someone keeps the file.
fn is_ours(directory: &ResolvedFolder, file: &File) -> bool {
    let (Ok(found), Ok(backing)) = (fstat(file), fstat(directory)) else { return false };
    let owner = found.st_uid == geteuid().as_raw() || found.st_uid == backing.st_uid;
    owner && found.st_nlink <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = ".cardscope-test-0000abcd-0123456789abcdef";

    #[test]
    fn only_test_file_names_match() {
        assert!(is_our_name(NAME));
        for name in
            [".cardscope-test-", ".cardscope-test-notes.txt", "holiday.jpg", ".cardscope-test-0000abcd-0123"]
        {
            assert!(!is_our_name(name), "{name}");
        }
    }

    #[test]
    fn links_are_kept_and_leftovers_removed() {
        let backing = tempfile::tempdir().unwrap();
        let (photo, there) = (backing.path().join("photo.jpg"), backing.path().join(NAME));
        let left = || {
            remove_leftovers(&ResolvedFolder::open(backing.path()).unwrap()).unwrap();
            there.symlink_metadata().is_ok()
        };
        std::fs::write(&photo, "a picture").unwrap();
        std::os::unix::fs::symlink(&photo, &there).unwrap();
        assert!(left(), "a link");
        std::fs::remove_file(&there).unwrap();
        std::fs::hard_link(&photo, &there).unwrap();
        assert!(left(), "it has another name");
        std::fs::remove_file(&there).unwrap();
        std::fs::write(&there, "left behind").unwrap();
        assert!(!left());
        assert_eq!(std::fs::read_to_string(&photo).unwrap(), "a picture");
    }
}
