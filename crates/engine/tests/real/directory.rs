//! A directory means a test file, made there and removed again.

use crate::rig::{MIB, check, known, mounted, plan, root, write};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::real::{RealOptions, RealTarget};
use cardscope_engine::target::{Target, TargetError};
use cardscope_files::ResolvedFolder;
use cardscope_testkit::devices::run_tool;
use rstest::rstest;
use std::path::Path;
use tempfile::tempdir_in;

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.retain(|name| name != "lost+found");
    names
}

fn open(directory: &Path) -> Result<RealTarget, TargetError> {
    let folder = ResolvedFolder::open(directory).map_err(|e| TargetError::Setup {
        what: format!("opening {}", directory.display()),
        reason: e.to_string(),
    });
    RealTarget::create_in_directory(folder?, RealOptions::default())
}

#[test]
fn test_file_grows_and_is_removed() {
    let directory = tempdir_in("/dev/shm").unwrap();
    let mut target = open(directory.path()).unwrap();
    target.plan(&plan(1, 4096)).unwrap();
    assert!(write(&mut target, 0, 4096, IoContent::Noise).is_err(), "there is no area yet");
    assert_eq!(target.area(MIB).unwrap().len, MIB);
    assert_eq!(target.area(2 * MIB).unwrap().len, 2 * MIB);
    assert_eq!(target.area(MIB).unwrap().len, MIB, "a smaller area lies in the larger");
    let content = IoContent::Stream { seed: 1 };
    write(&mut target, 2 * MIB - 4096, 4096, content).unwrap();
    target.reopen().unwrap();
    assert_eq!(check(&mut target, 2 * MIB - 4096, 4096, content).unwrap(), ContentMatch::Same);
    let lane = target.lane().unwrap();
    drop(target);
    assert_eq!(names(directory.path()).len(), 1, "a lane still uses it");
    drop(lane);
    assert!(names(directory.path()).is_empty());
}

#[test]
fn only_leftovers_of_crashed_runs_are_removed() {
    let directory = tempdir_in("/dev/shm").unwrap();
    for name in [".cardscope-test-0000beef-0123456789abcdef", ".cardscope-test-notes", "holiday.jpg"] {
        std::fs::write(directory.path().join(name), "x").unwrap();
    }
    drop(open(directory.path()).unwrap());
    let mut left = names(directory.path());
    left.sort();
    assert_eq!(left, [".cardscope-test-notes", "holiday.jpg"]);
}

#[test]
fn only_test_file_is_written_while_directory_changes() {
    let directory = tempdir_in("/dev/shm").unwrap();
    let mut target = open(directory.path()).unwrap();
    target.plan(&plan(1, 4096)).unwrap();
    target.area(MIB).unwrap();
    let test = directory.path().join(names(directory.path()).remove(0));
    let (photo, moved) = (directory.path().join("photo.jpg"), directory.path().join("moved"));
    std::fs::write(&photo, "a picture").unwrap();
    std::fs::rename(&test, &moved).unwrap();
    std::os::unix::fs::symlink(&photo, &test).unwrap();
    target.area(2 * MIB).unwrap();
    target.reopen().unwrap();
    write(&mut target, MIB, 4096, IoContent::Noise).unwrap();
    drop(target);
    assert_eq!(std::fs::read_to_string(&photo).unwrap(), "a picture");
    assert!(test.is_symlink() && moved.exists(), "the name leads to another's file now");
}

#[test]
fn second_test_in_directory_is_refused() {
    let directory = tempdir_in("/dev/shm").unwrap();
    let first = open(directory.path()).unwrap();
    let error = open(directory.path()).unwrap_err().to_string();
    assert!(error.contains("another Cardscope is testing there"), "{error}");
    assert_eq!(names(directory.path()).len(), 1, "the first one's file is left alone");
    drop(first);
    open(directory.path()).unwrap();
}

#[test]
fn unwritable_directory_is_refused_with_advice() {
    let directory = tempdir_in("/dev/shm").unwrap();
    let path = directory.path().to_owned();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    let error = std::thread::spawn(move || {
        crate::refused::become_nobody();
        open(&path).unwrap_err().to_string()
    });
    let error = error.join().unwrap();
    assert!(error.contains("Permission denied") && error.contains("choose a writable one"), "{error}");
}

#[test]
fn read_only_file_system_is_reported() {
    if !root("read_only_file_system_is_reported") {
        return;
    }
    let card = mounted("ext4", "rw", 16);
    run_tool("mount", &["-o", "remount,ro", card.path()]);
    let error = open(&card.point).unwrap_err().to_string();
    assert!(error.contains("lock switch"), "{error}");
}

#[rstest]
fn too_large_area_is_refused_before_writing(#[values("ext4", "vfat", "exfat")] kind: &str) {
    if !root("an_area_larger_than_the_room_is_refused") || !known(kind) {
        return;
    }
    let card = mounted(kind, "rw", 64);
    let mut target = open(&card.point).unwrap();
    let room = target.info().bytes;
    assert!(room > 16 * MIB && room < 48 * MIB, "16 MiB stay free: {room}");
    match target.area(64 * MIB) {
        Err(TargetError::NoSpace { needed, available, .. }) => {
            assert_eq!(needed, 64 * MIB);
            assert!(available <= room);
        }
        other => panic!("{other:?}"),
    }
    let content = IoContent::Stream { seed: 4 };
    target.area(8 * MIB).unwrap();
    target.plan(&plan(4, 65_536)).unwrap();
    write(&mut target, 8 * MIB - 65_536, 65_536, content).unwrap();
    target.drop_caches().unwrap();
    assert_eq!(check(&mut target, 8 * MIB - 65_536, 65_536, content).unwrap(), ContentMatch::Same);
}

#[test]
fn full_disk_is_reported_with_advice() {
    if !root("a_disk_that_fills_up_in_the_middle") {
        return;
    }
    let place = mounted("tmpfs", "size=32m", 0);
    let mut target = open(&place.point).unwrap();
    target.area(8 * MIB).unwrap();
    target.plan(&plan(1, 65_536)).unwrap();
    target.discard(cardscope_engine::target::TargetRegion { start: 0, len: 8 * MIB }).unwrap();
    std::fs::write(place.point.join("others"), vec![1; 64 << 20]).unwrap_err();
    let error = write(&mut target, 65_536, 65_536, IoContent::Noise).unwrap_err();
    assert!(matches!(error, TargetError::NoSpace { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("write at 65536") && text.contains("free some space"), "{text}");
}
