//! Another thread exchanges names as fast as it can while files are created, replaced and removed. Nothing outside may
//! change. 200 rounds each with `CARDSCOPE_LONG=1`, a few otherwise.

use cardscope_files::{DraftFile, FileError, FileIdentity, FileUse, ResolvedFolder};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const NOBODY: u32 = 65_534;
const SECRET: &str = "root's own";

fn rounds() -> u32 {
    if std::env::var_os("CARDSCOPE_LONG").is_some_and(|v| !v.is_empty()) { 200 } else { 10 }
}

/// Folder of another user, and a private one that this user wants to be changed.
struct Place {
    _dir: TempDir,
    theirs: PathBuf,
    ours: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (theirs, ours) = (top.join("theirs"), top.join("ours"));
        fs::create_dir(&theirs).unwrap();
        fs::create_dir(&ours).unwrap();
        fs::write(ours.join("page"), SECRET).unwrap();
        chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("this test needs root");
        Place { _dir: dir, theirs, ours }
    }

    /// Asserts that the private file has its content and owner.
    fn untouched(&self) {
        let names: Vec<_> = fs::read_dir(&self.ours).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["page"]);
        assert_eq!(fs::read_to_string(self.ours.join("page")).unwrap(), SECRET);
        let about = self.ours.join("page").metadata().unwrap();
        assert_eq!((about.uid(), about.mode() & 0o777), (0, 0o644));
    }
}

/// Stops the exchanging thread, even if the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges two names constantly while `work` runs.
fn while_exchanging(one: &Path, other: &Path, mut work: impl FnMut()) {
    let (done, begun) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let exchanging = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                begun.store(true, Ordering::Relaxed);
            }
        });
        while !begun.load(Ordering::Relaxed) && !exchanging.is_finished() {
            std::thread::yield_now();
        }
        let _stop = Stop(&done);
        for _ in 0..rounds() {
            work();
        }
    });
}

#[test]
fn folder_exchanged_for_a_link_is_not_followed() {
    let place = Place::new();
    let (folder, link) = (place.theirs.join("folder"), place.theirs.join("link"));
    fs::create_dir(&folder).unwrap();
    symlink(&place.ours, &link).unwrap();
    chown(&folder, Some(NOBODY), None).unwrap();
    lchown(&link, Some(NOBODY), None).unwrap();
    let (mut made, mut refused) = (0, 0);
    while_exchanging(&folder, &link, || {
        match ResolvedFolder::create_parent_of(&folder.join("new")) {
            Err(error) => {
                assert!(matches!(error, FileError::ForeignLink { .. }), "{error}");
                refused += 1;
            }
            Ok((held, name)) => {
                let file = held.create(&name, 0o600).unwrap();
                DraftFile::new(&held, Some(file), 0o600).unwrap().place(&name).unwrap();
                let now = held.stat(&name).unwrap().unwrap();
                assert!(held.remove(&name, FileIdentity::from(&now)).unwrap());
                made += 1;
            }
        }
        place.untouched();
    });
    assert_eq!(made + refused, rounds());
}

#[test]
fn exchanged_file_is_not_replaced_chowned_or_removed() {
    for hard in [false, true] {
        let place = Place::new();
        let (page, other) = (place.theirs.join("page"), place.theirs.join("other"));
        fs::write(&page, "theirs").unwrap();
        chown(&page, Some(NOBODY), None).unwrap();
        match hard {
            true => fs::hard_link(place.ours.join("page"), &other).unwrap(),
            false => symlink(place.ours.join("page"), &other).unwrap(),
        }
        let held = ResolvedFolder::open(&place.theirs).unwrap();
        while_exchanging(&page, &other, || {
            let Ok(old) = held.open_file(OsStr::new("page"), FileUse::Read) else { return };
            let theirs = old.metadata().unwrap().uid() == NOBODY;
            let draft = DraftFile::new(&held, Some(old), 0o600).unwrap();
            draft.file().write_all(b"new").unwrap();
            match draft.place(OsStr::new("page")) {
                // A hard link to the private file was replaced in the foreign folder; the file itself was not.
                Ok(()) => assert!(theirs || hard),
                Err(error) => assert!(matches!(error, FileError::Changed | FileError::Io(_)), "{error}"),
            }
            place.untouched();
        });
        place.untouched();
    }
}
