//! Archives on a read-only mount can be read, and writes are refused with the reason.
//!
//! Uses a bind mount, which needs root; without root one line is printed.

use crate::logs::{card, import, log};
use cardscope_store::{Archive, ArchiveError};
use std::path::Path;
use std::process::Command;

/// Folder mounted read-only, unmounted when dropped.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    fn new(folder: &'a Path) -> Option<Self> {
        let mount = |options: &[&str]| {
            Command::new("mount").args(options).arg(folder).status().is_ok_and(|status| status.success())
        };
        if !mount(&["--bind", folder.to_str().unwrap()]) {
            println!("not tested: a mount needs root");
            return None;
        }
        let frozen = Frozen(folder);
        assert!(mount(&["-o", "remount,ro,bind"]));
        Some(frozen)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn read_only_archive_is_read_with_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["a.sqlite", "frozen/a.sqlite"].map(|name| folder.path().join(name));
    std::fs::create_dir(copy.parent().unwrap()).unwrap();
    let mut archive = Archive::open(&path).unwrap();
    import(&mut archive, "a.log", &log(card("Acme", "Swift", "64GB"), &[80.0, 81.0]));
    let sessions = archive.sessions().unwrap();
    // As after a power failure: the data is only in the log.
    for beside in ["", "-wal", "-shm"] {
        let name = |path: &Path| format!("{}{beside}", path.display());
        std::fs::copy(name(&path), name(&copy)).unwrap();
    }
    assert!(Path::new(&format!("{}-wal", copy.display())).metadata().unwrap().len() > 0);
    let Some(_frozen) = Frozen::new(copy.parent().unwrap()) else { return };
    let mut frozen = Archive::open(&copy).unwrap();
    assert_eq!(frozen.sessions().unwrap(), sessions);
    assert_eq!(frozen.cards().unwrap().len(), 1);
}

#[test]
fn read_only_archive_is_read_and_changes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    import(&mut archive, "a.log", &log(card("Acme", "Swift", "64GB"), &[80.0, 81.0]));
    let cards = archive.cards().unwrap();
    drop(archive);
    let Some(frozen) = Frozen::new(folder.path()) else { return };
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.cards().unwrap(), cards);
    assert_eq!(archive.sessions().unwrap().len(), 1);
    let refused = archive.edit_card(&cards[0].id, |_| {}, &[], &[]).unwrap_err();
    assert!(matches!(refused, ArchiveError::Permission(..)), "{refused}");
    drop(archive);
    drop(frozen);
    Archive::open(&path).unwrap().edit_card(&cards[0].id, |_| {}, &[], &[]).unwrap();
}
