//! Paths that lead elsewhere or are exchanged by others: nothing but the archive may be opened, created or given away, even
//! as root.

use crate::sessions::{run, sample, start};
use cardscope_store::Archive;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

fn folder() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    (dir, top)
}

fn rights(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

fn fill(archive: &mut Archive) {
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    archive.add_sample(session, 1, &sample(0)).unwrap();
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

#[track_caller]
fn refused(path: &Path, word: &str) {
    let error = Archive::open(path).unwrap_err().to_string();
    assert!(error.contains(word) && error.contains("give another --archive FILE"), "{error}");
}

#[test]
fn new_archive_files_are_private() {
    let (_dir, top) = folder();
    let path = top.join("a/b/archive.sqlite");
    let mut archive = Archive::open(&path).unwrap();
    fill(&mut archive);
    assert_eq!((rights(&top.join("a")), rights(&top.join("a/b"))), (0o700, 0o700));
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(rights(&beside(&path, suffix)), 0o600, "{suffix}");
    }
}

#[test]
fn readable_archive_becomes_private_when_opened() {
    let (_dir, top) = folder();
    let path = top.join("archive.sqlite");
    fill(&mut Archive::open(&path).unwrap());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.sessions().unwrap().len(), 1);
    fill(&mut archive);
    assert_eq!((rights(&path), rights(&beside(&path, "-wal"))), (0o600, 0o600));
    // Other files keep their mode.
    let other = top.join("other");
    fs::write(&other, "a letter").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
    Archive::open(&other).unwrap_err();
    assert_eq!(rights(&other), 0o644);
}

#[test]
fn special_and_foreign_files_are_refused_unchanged() {
    let (_dir, top) = folder();
    let own = top.join("own.sqlite");
    fill(&mut Archive::open(&own).unwrap());
    for (link, to) in [("dangling", "nowhere"), ("link", "own.sqlite")] {
        symlink(to, top.join(link)).unwrap();
        refused(&top.join(link), "that is a link");
    }
    assert!(Command::new("mkfifo").arg(top.join("pipe")).status().unwrap().success());
    refused(&top.join("pipe"), "that is a pipe");
    refused(Path::new("/dev/null"), "that is a device");
    refused(&top, "that is a folder");
    let theirs = top.join("theirs.sqlite");
    fs::copy(&own, &theirs).unwrap();
    chown(&theirs, Some(NOBODY), None).expect("this test needs root");
    let before = fs::read(&theirs).unwrap();
    refused(&theirs, "65534");
    assert_eq!((fs::read(&theirs).unwrap(), theirs.metadata().unwrap().uid()), (before, NOBODY));
    let mut names: Vec<_> = fs::read_dir(&top).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["dangling", "link", "own.sqlite", "pipe", "theirs.sqlite"]);
}

#[test]
fn folder_writable_by_others_is_refused() {
    let (_dir, top) = folder();
    let path = top.join("a/b/archive.sqlite");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    chown(top.join("a"), Some(NOBODY), None).expect("this test needs root");
    refused(&path, "user 65534 can replace files in");
    chown(top.join("a"), Some(0), None).unwrap();
    fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&path, "chmod go-w");
    assert!(!path.exists());
    // As in /tmp, where nobody can touch the files of others.
    fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o1777)).unwrap();
    Archive::open(&path).unwrap();
    symlink("a/b", top.join("link")).unwrap();
    Archive::open(top.join("link/archive.sqlite")).unwrap();
    lchown(top.join("link"), Some(NOBODY), None).unwrap();
    refused(&top.join("link/archive.sqlite"), "owned by user 65534");
}

#[test]
fn foreign_neighbour_files_are_not_written() {
    let (_dir, top) = folder();
    let path = top.join("archive.sqlite");
    let secret = top.join("secret");
    fs::write(&secret, "root's own").unwrap();
    for made in [false, true] {
        if made {
            fill(&mut Archive::open(&path).unwrap());
        }
        for suffix in ["-wal", "-shm", "-journal"] {
            let planted = beside(&path, suffix);
            let plants: [&dyn Fn(); 4] = [
                &|| symlink(&secret, &planted).unwrap(),
                &|| fs::hard_link(&secret, &planted).unwrap(),
                &|| fs::write(&planted, "").and_then(|()| chown(&planted, Some(NOBODY), None)).unwrap(),
                &|| assert!(Command::new("mkfifo").arg(&planted).status().unwrap().success()),
            ];
            for plant in plants {
                plant();
                refused(&path, &format!("archive.sqlite{suffix} is not an SQLite file"));
                fs::remove_file(&planted).unwrap();
                assert_eq!(fs::read_to_string(&secret).unwrap(), "root's own");
            }
        }
    }
    Archive::open(&path).unwrap();
}

/// Closing any descriptor of a file drops all locks of the process on it, including the one that keeps others from
/// removing SQLite's log.
#[test]
fn closing_one_of_two_handles_keeps_locks() {
    let (_dir, top) = folder();
    let path = top.join("archive.sqlite");
    let mut first = Archive::open(&path).unwrap();
    fill(&mut first);
    let locked = || {
        let inode = format!(":{} ", path.metadata().unwrap().ino());
        fs::read_to_string("/proc/locks").unwrap().lines().filter(|line| line.contains(&inode)).count()
    };
    assert!(locked() > 0);
    drop(Archive::open(&path).unwrap());
    assert!(locked() > 0, "the other one is still open");
    drop(first);
    assert_eq!(locked(), 0);
    fill(&mut Archive::open(&path).unwrap());
}

/// Stops a background thread, even if the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Another user swaps a folder for a link to ours as fast as possible. 200 rounds with `CARDSCOPE_LONG=1`.
#[test]
fn folder_swapped_for_link_is_not_followed() {
    let (_dir, top) = folder();
    let (theirs, ours) = (top.join("theirs"), top.join("ours"));
    fs::create_dir_all(theirs.join("folder")).unwrap();
    fill(&mut Archive::open(ours.join("archive.sqlite")).unwrap());
    symlink(&ours, theirs.join("link")).unwrap();
    for path in [&theirs, &theirs.join("folder"), &theirs.join("link")] {
        lchown(path, Some(NOBODY), None).expect("this test needs root");
    }
    let look = || {
        let about = ours.join("archive.sqlite").metadata().unwrap();
        (fs::read_dir(&ours).unwrap().count(), about.ino(), about.mtime_nsec(), about.mode())
    };
    let (before, done) = (look(), AtomicBool::new(false));
    let long = std::env::var_os("CARDSCOPE_LONG").is_some_and(|v| !v.is_empty());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (one, other) = (theirs.join("folder"), theirs.join("link"));
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let _stop = Stop(&done);
        for _ in 0..if long { 200 } else { 20 } {
            let error = Archive::open(theirs.join("folder/archive.sqlite")).unwrap_err().to_string();
            assert!(error.contains("user 65534"), "{error}");
        }
    });
    assert_eq!(look(), before);
}
