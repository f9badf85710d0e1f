//! Unusable archives (damaged, of a newer version, unwritable) are refused unchanged by every verb that opens one; and
//! one archive is used by ten processes at once.

use crate::common::binary::Home;
use crate::common::list;
use crate::common::logs::{CONSTANT, archive, log, taken_in, titles, told, write};
use crate::common::machine::{TestMount, names_in, run_tool};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Asserts that every verb that opens an archive refuses this one and leaves it unchanged.
#[track_caller]
fn refused(home: &Home, archive: &Path, status: i32, words: &[&str]) {
    let page = home.path("page.html");
    let reading: [&[&str]; 5] = [
        &["archive", "list"],
        &["archive", "cards"],
        &["compare", "a"],
        &["rank", "--for", "game-load"],
        &["report", "-o", page.to_str().unwrap()],
    ];
    refused_to(&reading, home, archive, status, words);
    assert!(!page.exists());
    refused_to_add(home, archive, status, words);
}

/// Asserts that every verb that adds to an archive refuses this one and leaves it unchanged.
#[track_caller]
fn refused_to_add(home: &Home, archive: &Path, status: i32, words: &[&str]) {
    let log = write(home, "new.log", log(&[400]));
    let adding: [&[&str]; 3] = [
        &["archive", "edit", "a", "--set", "note=x"],
        &["import", &log],
        &["bench", CONSTANT, "--only", "SEQ1M Q8T1 read", "-q"],
    ];
    refused_to(&adding, home, archive, status, words);
}

#[track_caller]
fn refused_to(asked: &[&[&str]], home: &Home, archive: &Path, status: i32, words: &[&str]) {
    let before = fs::read(archive).unwrap();
    let place = archive.to_str().unwrap();
    for arguments in asked {
        let outcome = home.run(&[*arguments, &["--archive", place]].concat()).expect(status).says(words);
        assert!(outcome.stderr.contains(place) && !outcome.stderr.contains("panicked"), "{outcome}");
        assert!(fs::read(archive).unwrap() == before, "{outcome}");
    }
    let beside = names_in(archive.parent().unwrap());
    assert!(!beside.iter().any(|name| name.contains("-wal") || name.contains("-shm")), "{beside:?}");
}

#[test]
fn reading_verbs_refuse_and_do_not_create_a_missing_archive() {
    let home = Home::new();
    let page = home.path("page.html");
    let place = home.path("typo/archive.sqlite");
    let place = place.to_str().unwrap();
    let asked: &[&[&str]] = &[
        &["archive", "list"],
        &["archive", "cards"],
        &["archive", "show", "a"],
        &["archive", "edit", "a", "--set", "note=x"],
        &["archive", "export", "-o", "out"],
        &["compare", "SDSQXFN", "ADATA"],
        &["rank", "--for", "game-load"],
        &["report", "-o", page.to_str().unwrap()],
    ];
    for arguments in asked {
        let refused = home.run(&[*arguments, &["--archive", place]].concat()).expect(2);
        refused.says(&[place, "no archive is there", "--archive"]);
    }
    assert!(!home.path("typo").exists() && !page.exists());
    // The user's own archive may be missing.
    home.run(&["compare", "SDSQXFN", "ADATA"]).expect(0);
    assert!(home.run(&["archive", "list"]).expect(0).stdout.contains("no sessions yet"));
    assert!(!home.archive().exists());
}

/// Archive with one log, in its own folder.
fn small(home: &Home) -> PathBuf {
    let place = home.path("kept/archive.sqlite");
    taken_in(home, "a.log", &[700], &["--archive", place.to_str().unwrap()]);
    place
}

#[test]
fn newer_archives_are_refused_untouched_by_every_verb() {
    let home = Home::new();
    let place = small(&home);
    let newer = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('PRAGMA user_version = 99'); c.commit(); c.close()";
    run_tool("python3", &["-c", newer, place.to_str().unwrap()]);
    refused(&home, &place, 3, &["newer Cardscope"]);
}

#[test]
fn damaged_archives_are_refused_untouched_by_every_verb() {
    let home = Home::new();
    let place = small(&home);
    let whole = fs::read(&place).unwrap();
    let garbage: Vec<u8> = (0..20_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(&place, &garbage).unwrap();
    refused(&home, &place, 3, &["not a Cardscope archive"]);
    fs::write(&place, "bought in May\n").unwrap();
    refused(&home, &place, 3, &["not a Cardscope archive"]);
    fs::write(&place, &whole[..whole.len() / 2]).unwrap();
    refused(&home, &place, 3, &["damaged"]);
    fs::write(&place, &whole[..60]).unwrap();
    refused(&home, &place, 3, &[]);
    // The header is intact, but the page that it points to is not.
    let mut holed = whole.clone();
    holed[4096..].fill(0x5a);
    fs::write(&place, &holed).unwrap();
    let outcome = archive(&home, &["list", "--archive", place.to_str().unwrap()]).expect(3);
    assert!(outcome.stderr.contains("damaged") && !outcome.stderr.contains("panicked"), "{outcome}");
    // With its original bytes it is readable again.
    fs::write(&place, &whole).unwrap();
    assert_eq!(list(&told(&home, &["list", "--archive", place.to_str().unwrap()]), "/sessions").len(), 1);
}

#[test]
fn unwritable_archive_is_refused_with_the_reason() {
    let home = Home::new();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=4m"], "tmpfs");
    let place = disk.point.join("archive.sqlite");
    taken_in(&home, "a.log", &[700], &["--archive", place.to_str().unwrap()]);
    run_tool("mount", &["-o", "remount,ro", disk.path()]);
    // Existing data is readable, nothing can be added, and no card is tested in vain.
    let at = ["--archive", place.to_str().unwrap()];
    assert_eq!(list(&told(&home, &["list", at[0], at[1]]), "/sessions").len(), 1);
    assert_eq!(list(&told(&home, &["cards", at[0], at[1]]), "/cards").len(), 1);
    for reading in [["compare", "a"].as_slice(), &["rank", "--for", "game-load"], &["archive", "show", "a"]] {
        home.run(&[reading, &at].concat()).expect(0);
    }
    refused_to_add(&home, &place, 3, &["is not writable", "--archive FILE"]);
    let log = write(&home, "b.log", log(&[701]));
    let missing = disk.point.join("new/archive.sqlite");
    home.run(&["import", "--archive", missing.to_str().unwrap(), &log])
        .expect(3)
        .says(&["Read-only file system"]);
    assert_eq!(names_in(&disk.point), ["archive.sqlite"]);
    // Neither a folder nor a path below a file can be an archive.
    home.run(&["import", "--archive", home.path("").to_str().unwrap(), &log]).expect(2);
    let below = PathBuf::from(&log).join("archive.sqlite");
    for (place, status, word) in [(disk.point.clone(), 2, "that is a folder"), (below, 3, "cannot be opened")]
    {
        home.run(&["import", "--archive", place.to_str().unwrap(), &log]).expect(status).says(&[word]);
    }
}

#[test]
fn links_pipes_devices_and_foreign_files_are_no_archives() {
    let home = Home::new();
    let place = small(&home);
    let theirs = home.path("theirs.sqlite");
    fs::copy(&place, &theirs).unwrap();
    std::os::unix::fs::chown(&theirs, Some(65_534), None).expect("this test needs root");
    std::os::unix::fs::symlink("made", home.path("dangling")).unwrap();
    std::os::unix::fs::symlink(&place, home.path("link")).unwrap();
    run_tool("mkfifo", &[home.path("pipe").to_str().unwrap()]);
    let before = home.names();
    for (name, word) in [
        ("dangling", "that is a link"),
        ("link", "that is a link"),
        ("pipe", "that is a pipe"),
        ("theirs.sqlite", "65534"),
        ("/dev/null", "that is a device"),
    ] {
        let name = home.path(name);
        for verb in [&["archive", "list"][..], &["bench", CONSTANT, "--only", "SEQ1M Q8T1 read", "-q"]] {
            home.run(&[verb, &["--archive", name.to_str().unwrap()]].concat()).expect(2).says(&[word]);
        }
    }
    assert_eq!(home.names(), before, "nothing is made");
}

#[test]
fn concurrent_imports_lose_nothing_and_deduplicate() {
    let home = Home::new();
    let different: Vec<String> =
        (0..10).map(|n| write(&home, &format!("card{n}.log"), log(&[500 + n, 520 + n]))).collect();
    let same: Vec<String> =
        (0..10).map(|n| write(&home, &format!("copies/{n}/same.log"), log(&[333]))).collect();
    // The archive does not exist yet, so all processes create it at once.
    let running: Vec<_> =
        different.iter().zip(&same).map(|(a, b)| home.start(&["import", "--json", a, b])).collect();
    let kept: Vec<Value> = running.into_iter().map(|r| r.finish().expect(0).json()).collect();
    let of = |what: &str| kept.iter().map(|k| k["totals"][what].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(of("new").iter().sum::<u64>(), 11, "{kept:#?}");
    assert_eq!(of("known").iter().sum::<u64>(), 9, "{kept:#?}");
    let mut titles = titles(&home);
    titles.sort();
    let expected: Vec<String> = (0..10).map(|n| format!("card{n}")).chain(["same".to_owned()]).collect();
    assert_eq!(titles, expected);
    let compared = home.run(&["compare", "--own", "--json"]).expect(0).json();
    let runs: u64 = list(&compared, "/entries").iter().map(|e| e["runs"].as_u64().unwrap()).sum();
    assert_eq!(runs, 21);
    // SQLite's own integrity check.
    let check = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchone()[0])";
    assert_eq!(run_tool("python3", &["-c", check, home.archive().to_str().unwrap()]), "ok");
}
