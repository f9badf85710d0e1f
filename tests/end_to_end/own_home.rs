//! Tests do not read or write the home of their user: `scripts/own-home`, through which cargo and `./check` run every
//! test program, gives them another one.

use crate::common::binary::{CARDSCOPE, Home};
use std::env::var_os;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/own-home");

/// Home in which reading the archive fails, and with a journal that blocks tests.
fn forbidden() -> Home {
    let home = Home::new();
    let write = |file: &str, text: &str| {
        let path = home.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("state/cardscope/journal-1", "cardscope journal 9\nof a later version\n");
    write("data/cardscope/archive.sqlite", "no archive\n");
    home
}

/// Verifies a simulated card with a program started this way in this home; returns its exit status.
fn verified(home: &Home, program: &str, before: &[&str]) -> Option<i32> {
    let mut command: Command = home.command(program);
    command
        .args(before)
        .args(["verify", "sim:constant?announced_bytes=64MiB"])
        .output()
        .unwrap()
        .status
        .code()
}

/// Files and folders with size and times; files also with access time.
fn state_of(folder: &Path) -> Vec<(PathBuf, u64, i64, i64)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let about = path.metadata().unwrap();
        let read = if about.is_file() { about.atime_nsec() } else { 0 };
        all.push((path.clone(), about.len(), about.mtime_nsec(), read));
        if about.is_dir() {
            all.extend(state_of(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn test_has_its_own_home() {
    let home = PathBuf::from(var_os("HOME").expect("a test has a home"));
    assert!(home.starts_with(std::env::temp_dir()), "{} is nobody's", home.display());
    for name in ["XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"] {
        let folder = PathBuf::from(var_os(name).unwrap_or_else(|| panic!("{name} is set")));
        assert!(folder.starts_with(&home), "{name} is {}", folder.display());
    }
}

#[test]
fn tests_do_not_touch_the_user_s_journal_and_archive() {
    let home = forbidden();
    // The program itself finds both.
    assert_eq!(verified(&home, CARDSCOPE, &[]), Some(2), "a journal waits");
    let all = || ["", "data", "state"].map(|folder| state_of(&home.path(folder)));
    let before = all();
    assert_eq!(verified(&home, SCRIPT, &[CARDSCOPE]), Some(0));
    // As cargo runs a test program.
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deps")).unwrap();
    let test = folder.path().join("deps/verify-0123");
    std::os::unix::fs::symlink(CARDSCOPE, &test).unwrap();
    assert_eq!(verified(&home, SCRIPT, &["--tests", test.to_str().unwrap()]), Some(0));
    assert_eq!(all(), before);
    // `cargo run` is no test.
    assert_eq!(verified(&home, SCRIPT, &["--tests", CARDSCOPE]), Some(2), "a journal waits");
}
