//! Test files that crashed runs left behind: found by name, known as ours by their owner, as left behind by their free
//! lock, and removed while the name leads to the very file that was looked at.

use crate::target::TargetError;
use cardscope_files::{Folder, Identity, Use};
use rustix::fs::{FlockOperation, flock, fstat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::File;
use std::path::Path;

/// How the names of test files begin.
pub(super) const PREFIX: &str = ".cardscope-test-";

/// Removes leftovers from `directory`.
///
/// # Errors
/// If one of them is in use: another Cardscope is testing there.
pub(super) fn remove(directory: &Folder) -> Result<(), TargetError> {
    let Ok(names) = directory.names() else { return Ok(()) };
    for name in names.iter().filter(|name| name.to_str().is_some_and(is_our_name)) {
        // What cannot be opened, is a link or is not a plain file is left alone.
        let Ok(file) = directory.open_file(name, Use::Write) else { continue };
        if !is_ours(directory, &file) {
            continue;
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(in_use(directory.path())),
            Ok(()) => drop(Identity::of(&file).map(|left| directory.remove(name, left))),
            Err(_) => {}
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
fn is_our_name(name: &str) -> bool {
    let hex = |text: &str, digits| text.len() == digits && text.bytes().all(|b| b.is_ascii_hexdigit());
    name.strip_prefix(PREFIX)
        .and_then(|rest| rest.split_once('-'))
        .is_some_and(|(process, time)| hex(process, 8) && hex(time, 16))
}

/// Made by this user, or by the one whose directory it is (root tests where a user tested before). A test file has one
/// name only: what has another one is somebody's own.
fn is_ours(directory: &Folder, file: &File) -> bool {
    let (Ok(found), Ok(backing)) = (fstat(file), fstat(directory)) else { return false };
    let owner = found.st_uid == geteuid().as_raw() || found.st_uid == backing.st_uid;
    owner && found.st_nlink <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = ".cardscope-test-0000abcd-0123456789abcdef";

    #[test]
    fn only_our_own_names_are_ever_removed() {
        assert!(is_our_name(NAME));
        for name in
            [".cardscope-test-", ".cardscope-test-notes.txt", "holiday.jpg", ".cardscope-test-0000abcd-0123"]
        {
            assert!(!is_our_name(name), "{name}");
        }
    }

    #[test]
    fn a_link_and_a_file_with_another_name_stay_and_a_leftover_goes() {
        let backing = tempfile::tempdir().unwrap();
        let (photo, there) = (backing.path().join("photo.jpg"), backing.path().join(NAME));
        let left = || {
            remove(&Folder::open(backing.path()).unwrap()).unwrap();
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
