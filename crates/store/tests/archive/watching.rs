//! Watching an archive reports writes of all other clients, and nothing else.

use crate::engines::on_both;
use crate::server::Server;
use crate::sessions::start;
use cardscope_model::card::CardFacts;
use cardscope_store::{Archive, ArchiveChanges, ArchiveError};
use std::path::Path;
use std::time::{Duration, Instant};

/// Longer than the polling interval.
const SOON: Duration = Duration::from_secs(20);

/// Time in which no change may be reported.
const QUIET: Duration = Duration::from_millis(1200);

/// Waits until no more changes are reported: a polled file also reports writes shortly before.
#[track_caller]
fn settled(changes: &mut ArchiveChanges) {
    let start = Instant::now();
    while changes.wait(QUIET).unwrap() {
        assert!(start.elapsed() < SOON, "changes without end");
    }
}

#[test]
fn watch_reports_foreign_writes_once_and_no_reads() {
    on_both(|place| {
        let mut archive = Archive::open(place).unwrap();
        let mut changes = ArchiveChanges::watch(place).unwrap();
        settled(&mut changes);
        let session = archive.begin_session(&start()).unwrap();
        assert!(changes.wait(SOON).unwrap(), "a session began");
        settled(&mut changes);
        archive.sessions().unwrap();
        let cards = archive.cards().unwrap();
        settled(&mut changes);
        archive.sessions().unwrap();
        archive.cards().unwrap();
        assert!(!changes.wait(QUIET).unwrap(), "a list was read");
        archive
            .edit_card(&cards[0].id, |facts: &mut CardFacts| facts.note = Some("blue".into()), &[], &[])
            .unwrap();
        assert!(changes.wait(SOON).unwrap(), "a card was changed");
        settled(&mut changes);
        archive.remove_session(session).unwrap();
        assert!(changes.wait(SOON).unwrap(), "a session was removed");
        settled(&mut changes);
    });
}

#[test]
fn watch_times_out_and_can_move_to_a_thread() {
    on_both(|place| {
        let _archive = Archive::open(place).unwrap();
        let mut changes = ArchiveChanges::watch(place).unwrap();
        settled(&mut changes);
        let waited = std::thread::spawn(move || {
            let start = Instant::now();
            assert!(!changes.wait(Duration::from_millis(300)).unwrap());
            start.elapsed()
        });
        let waited = waited.join().unwrap();
        assert!((0.3..5.0).contains(&waited.as_secs_f64()), "{waited:?}");
    });
}

#[test]
fn watch_reports_creation_of_missing_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("archive.sqlite");
    let mut changes = ArchiveChanges::watch(&place).unwrap();
    assert!(!changes.wait(Duration::ZERO).unwrap());
    assert!(!place.exists());
    drop(Archive::open(&place).unwrap());
    assert!(changes.wait(SOON).unwrap());
    settled(&mut changes);
    // Another file replaces it.
    let other = folder.path().join("other.sqlite");
    let mut archive = Archive::open(&other).unwrap();
    archive.begin_session(&start()).unwrap();
    drop(archive);
    std::fs::remove_file(&place).unwrap();
    let _ = std::fs::remove_file(folder.path().join("archive.sqlite-wal"));
    let _ = std::fs::remove_file(folder.path().join("archive.sqlite-shm"));
    assert!(changes.wait(SOON).unwrap(), "it is gone");
    std::fs::rename(&other, &place).unwrap();
    assert!(changes.wait(SOON).unwrap(), "another one is there");
    settled(&mut changes);
    Archive::open(&place).unwrap().begin_session(&start()).unwrap();
    assert!(changes.wait(SOON).unwrap());
}

#[test]
fn watch_refuses_other_files() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("holiday.jpg");
    std::fs::write(&place, vec![7; 4096]).unwrap();
    assert!(matches!(ArchiveChanges::watch(&place), Err(ArchiveError::NotAnArchive(..))));
    let nowhere = "postgres:///cards?host=/nowhere&user=me&password=hunter2";
    let refused = ArchiveChanges::watch(nowhere).unwrap_err().to_string();
    assert!(refused.contains("cannot be reached") && !refused.contains("hunter2"), "{refused}");
}

#[test]
fn watch_reports_restarted_server_as_one_change() {
    let server = Server::new();
    let address = server.database();
    let mut archive = Archive::open(&address).unwrap();
    let mut changes = ArchiveChanges::watch(&address).unwrap();
    archive.begin_session(&start()).unwrap();
    assert!(changes.wait(SOON).unwrap());
    settled(&mut changes);

    server.kill();
    let while_away = changes.wait(Duration::from_secs(1)).unwrap_err();
    assert!(matches!(while_away, ArchiveError::Unreachable(..)), "{while_away}");
    server.start();
    // Another client writes while the watch is disconnected.
    Archive::open(&address).unwrap().begin_session(&start()).unwrap();
    assert!(changes.wait(SOON).unwrap(), "something may have been missed");
    settled(&mut changes);
    Archive::open(&address).unwrap().begin_session(&start()).unwrap();
    assert!(changes.wait(SOON).unwrap(), "it listens again");
    settled(&mut changes);

    // The server restarts between two waits; earlier writes must not be missed.
    server.kill();
    server.start();
    Archive::open(&address).unwrap().begin_session(&start()).unwrap();
    assert!(changes.wait(SOON).unwrap());
}

#[test]
fn watch_coalesces_changes_of_two_writers() {
    let server = Server::shared();
    let address = server.database();
    let mut first = Archive::open(&address).unwrap();
    let mut second = Archive::open(&address).unwrap();
    let mut changes = ArchiveChanges::watch(Path::new(&address)).unwrap();
    for _ in 0..20 {
        first.begin_session(&start()).unwrap();
        second.begin_session(&start()).unwrap();
    }
    let mut told = 0;
    while changes.wait(QUIET).unwrap() {
        told += 1;
    }
    assert!((1..=40).contains(&told), "{told}");
}
