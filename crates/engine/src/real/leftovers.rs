//! Test files that crashed runs left behind: found by name, known as left behind by their free lock, removed.

use crate::target::TargetError;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, open};
use rustix::io::Errno;
use std::path::Path;

/// How the names of test files begin.
pub(super) const PREFIX: &str = ".cardscope-test-";

/// Removes leftovers from `directory`.
///
/// # Errors
/// If one of them is in use: another Cardscope is testing there.
pub(super) fn remove(directory: &Path) -> Result<(), TargetError> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(()) };
    for entry in entries.flatten() {
        if is_ours(&entry.file_name().to_string_lossy()) && !remove_if_free(&entry.path()) {
            return Err(in_use(directory));
        }
    }
    Ok(())
}

/// Two tests at once would measure each other.
pub(super) fn in_use(directory: &Path) -> TargetError {
    TargetError::Setup {
        what: format!("opening {} for a test", directory.display()),
        reason: "another Cardscope is testing there now; wait for it to end, or stop it".into(),
    }
}

/// Exactly the names that we give: prefix, eight hexadecimal digits, `-`, sixteen.
fn is_ours(name: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(process, time)| hex(process, 8) && hex(time, 16))
}

/// False where the file is locked by a live run. What cannot be opened or is no plain file is left alone.
fn remove_if_free(path: &Path) -> bool {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = open(path, flags, Mode::empty()) else { return true };
    let plain =
        fstat(&file).is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => false,
        Ok(()) if plain => {
            let _ = std::fs::remove_file(path);
            true
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_our_own_names_are_ever_removed() {
        assert!(is_ours(".cardscope-test-0000abcd-0123456789abcdef"));
        for name in
            [".cardscope-test-", ".cardscope-test-notes.txt", "holiday.jpg", ".cardscope-test-0000abcd-0123"]
        {
            assert!(!is_ours(name), "{name}");
        }
    }
}
