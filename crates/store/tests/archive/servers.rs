//! Servers that stop, restart, freeze, fill up, are newer or belong to other programs.

use crate::logs::{card, import, log, source};
use crate::server::Server;
use crate::sessions::{results, run, sample, start};
use cardscope_store::{Archive, ArchiveError, NewAttachment, NewSource};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Actions on a server from outside of Cardscope.
impl Server {
    /// Dump of a database.
    pub(crate) fn dump(&self, database: &str) -> String {
        let mut dump = self.program("pg_dump");
        let said = dump.args(["-U", "postgres", "-d", database, "-h"]).arg(self.folder()).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        // Newer versions of pg_dump print a random word at both ends.
        let text = String::from_utf8(said.stdout).unwrap();
        text.lines().filter(|line| !line.contains("restrict ")).collect::<Vec<_>>().join("\n")
    }

    /// Other client that runs a slow statement.
    pub(crate) fn sleeper(&self, database: &str, text: &str) -> Child {
        let mut psql = self.program("psql");
        psql.args(["-X", "-U", "postgres", "-d", database, "-c", text, "-h"]).arg(self.folder());
        psql.stdout(Stdio::null()).spawn().unwrap()
    }

    /// Stops or continues the server's processes for Cardscope, as a suspended machine does.
    pub(crate) fn signal(&self, signal: &str, database: &str) {
        let asked = format!(
            "SELECT pid FROM pg_stat_activity WHERE datname = '{database}' AND application_name = 'cardscope'"
        );
        let pids = self.sql("postgres", &asked);
        assert!(!pids.is_empty(), "somebody is connected");
        assert!(Command::new("kill").arg(signal).args(pids.lines()).status().unwrap().success());
    }

    /// Disk of this many MiB that the server can use; `None` without the right to mount.
    pub(crate) fn small_disk(&self, mib: u32) -> Option<PathBuf> {
        let path = self.folder().join("small");
        fs::create_dir(&path).unwrap();
        let owner = fs::metadata(self.folder()).unwrap();
        let options = format!("size={mib}M,mode=700,uid={},gid={}", owner.uid(), owner.gid());
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&path).status();
        mounted.is_ok_and(|status| status.success()).then_some(path)
    }
}

/// Files in a batch of the endless import.
const BATCH: usize = 400;

/// Child process: imports for ever, and prints each stored batch and the final error.
pub(crate) fn import_for_ever(place: &Path) {
    let mut archive = Archive::open(place).unwrap();
    for batch in 0.. {
        let logs: Vec<_> =
            (0..BATCH).map(|n| log(card("B", &format!("{batch} {n}"), "8GB"), &[1.0, 2.0])).collect();
        let names: Vec<_> = (0..BATCH).map(|n| format!("{batch} {n}")).collect();
        let sources: Vec<_> = names.iter().zip(&logs).map(|(name, log)| source(name, log)).collect();
        println!("begun: {batch}");
        match archive.import(sources) {
            Ok(_) => println!("stored: {batch}"),
            Err(error) => return println!("said: {error}"),
        }
    }
}

#[test]
fn killed_server_leaves_complete_batches_and_clear_error() {
    let server = Server::new();
    let address = server.database();
    for delay_ms in [0, 40, 120] {
        let mut child = crate::child("import for ever", Path::new(&address));
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let begun = said.by_ref().filter(|line| line.starts_with("begun: ")).take(2).count();
        assert_eq!(begun, 2);
        std::thread::sleep(Duration::from_millis(delay_ms));
        server.kill();
        let rest: Vec<String> = said.collect();
        child.wait().unwrap();
        let error = rest.iter().find_map(|line| line.strip_prefix("said: ")).expect("the server went away");
        assert!(
            error.contains("cannot be reached") && error.contains("earlier results are stored"),
            "{error}"
        );

        server.start();
        let mut archive = Archive::open(&address).unwrap();
        let files = archive.sources().unwrap();
        assert_eq!(files.len() % BATCH, 0, "batches are whole");
        assert!(files.len() >= BATCH && files.iter().all(|file| file.sessions == 1));
        let sessions = archive.sessions().unwrap();
        assert!(sessions.len() == files.len() && sessions.iter().all(|session| session.runs == 2));
        assert_eq!(
            archive.cards().unwrap().iter().map(|card| card.runs as usize).sum::<usize>(),
            2 * files.len()
        );
        drop(archive);
        server.sql("postgres", "DROP DATABASE archive_0");
        server.sql("postgres", "CREATE DATABASE archive_0");
    }
}

#[test]
fn session_continues_after_server_restart() {
    let server = Server::new();
    let mut archive = Archive::open(server.database()).unwrap();
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    archive.add_sample(session, 1, &sample(0)).unwrap();
    server.kill();
    for _ in 0..2 {
        let error = archive.add_sample(session, 1, &sample(1)).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreachable { .. }), "{error}");
    }
    server.start();
    archive.add_sample(session, 1, &sample(1)).unwrap();
    let stored = archive.session(session).unwrap();
    assert_eq!(stored.file.runs[0].samples, [sample(0), sample(1)], "what was acknowledged is there, once");
}

#[test]
fn unreachable_server_is_reported_without_password() {
    let refused = Archive::open("postgres://me:secret@127.0.0.1:1/cards").unwrap_err();
    assert!(matches!(refused, ArchiveError::Unreachable { .. }), "{refused}");
    assert!(refused.to_string().contains("postgres://me@127.0.0.1:1/cards"), "{refused}");
    assert!(!refused.to_string().contains("secret"));

    let server = Server::shared();
    let missing = Archive::open(server.address("nowhere")).unwrap_err();
    assert!(matches!(missing, ArchiveError::Open { .. }), "{missing}");
    let stranger = server.database().replace("user=postgres", "user=stranger");
    let stranger = Archive::open(stranger).unwrap_err();
    assert!(matches!(stranger, ArchiveError::Permission { .. }), "{stranger}");
    let nonsense = Archive::open("postgres://me@host:port/x").unwrap_err();
    assert!(matches!(nonsense, ArchiveError::Open { .. }), "{nonsense}");
}

#[test]
fn newer_or_foreign_database_is_refused_unchanged() {
    let server = Server::shared();
    let newer = server.database();
    drop(Archive::open(&newer).unwrap());
    let name = |address: &str| address.split(['/', '?']).nth(3).unwrap().to_owned();
    server.sql(&name(&newer), "INSERT INTO _sqlx_migrations VALUES (99, 'later', now(), true, 'x', 0)");
    let other = server.database();
    server.sql(&name(&other), "CREATE TABLE accounts (balance NUMERIC)");
    let theirs = server.database();
    server.sql(
        &name(&theirs),
        "CREATE TABLE _sqlx_migrations (version BIGINT, description TEXT, checksum BYTEA); \
         INSERT INTO _sqlx_migrations VALUES (1, 'sessions', 'another sum')",
    );
    let refused = |address: &str| {
        let before = server.dump(&name(address));
        let error = Archive::open(address).unwrap_err();
        assert_eq!(server.dump(&name(address)), before);
        error
    };
    assert!(matches!(refused(&newer), ArchiveError::Newer { found: 99, .. }));
    assert!(matches!(refused(&other), ArchiveError::NotAnArchive { .. }));
    assert!(matches!(refused(&theirs), ArchiveError::NotAnArchive { .. }));
}

#[test]
fn full_disk_of_server_is_reported_and_rolls_back() {
    let server = Server::new();
    let Some(folder) = server.small_disk(24) else {
        return println!("not tested: mounting a small disk needs root");
    };
    server.sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()));
    server.sql("postgres", "CREATE DATABASE small TABLESPACE small");
    let mut archive = Archive::open(server.address("small")).unwrap();
    import(&mut archive, "first", &log(card("A", "B", "8GB"), &[1.0]));
    let logs: Vec<_> = (0..300).map(|n| log(card("B", &n.to_string(), "8GB"), &[1.0, 2.0])).collect();
    let files: Vec<Vec<u8>> = (0..300).map(noise).collect();
    let sources: Vec<_> = files
        .iter()
        .zip(&logs)
        .map(|(bytes, log)| NewSource { bytes: bytes.into(), ..source("noise", log) })
        .collect();
    let error = archive.import(sources).unwrap_err();
    assert!(matches!(error, ArchiveError::Full { .. }), "{error}");
    assert_eq!((archive.sources().unwrap().len(), archive.sessions().unwrap().len()), (1, 1));
    assert_eq!(archive.cards().unwrap().len(), 1);
}

/// 100 kB that no compression shortens.
fn noise(seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let next = move || {
        // Marsaglia's xorshift, 32 bits.
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        Some(state as u8)
    };
    std::iter::from_fn(next).take(100_000).collect()
}

#[test]
fn long_lock_is_reported_as_busy() {
    let server = Server::shared();
    let address = server.database();
    let mut archive = Archive::open(&address).unwrap();
    let database = address.split(['/', '?']).nth(3).unwrap();
    let mut holder = server.sleeper(database, "BEGIN; LOCK TABLE session; SELECT pg_sleep(120)");
    let began = Instant::now();
    while server.sql(
        database,
        "SELECT COUNT(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'session'::regclass",
    ) == "0"
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    let error = archive.begin_session(&start()).unwrap_err();
    assert!(matches!(error, ArchiveError::Busy { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(60));
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn frozen_server_times_out() {
    let server = Server::shared();
    let address = server.database();
    let database = address.split(['/', '?']).nth(3).unwrap();
    let mut archive = Archive::open(&address).unwrap();
    import(&mut archive, "first", &log(card("A", "B", "8GB"), &[1.0]));
    archive.set_answer_timeout(Duration::from_millis(400));
    server.signal("-STOP", database);
    let began = Instant::now();
    let read = archive.sessions().unwrap_err();
    assert!(matches!(read, ArchiveError::Unreachable { .. }), "{read}");
    assert!(read.to_string().contains("no answer within 0.4 s"), "{read}");
    assert!(began.elapsed() < Duration::from_secs(10), "nor is it asked to roll back");
    server.signal("-CONT", database);
    archive.set_answer_timeout(Duration::from_secs(20));
    assert_eq!(archive.sessions().unwrap().len(), 1, "the next call asks again");
}

#[test]
fn finishing_run_waits_for_card_merge() {
    let server = Server::shared();
    let address = server.database();
    let database = address.split(['/', '?']).nth(3).unwrap();
    let mut archive = Archive::open(&address).unwrap();
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    // The lock of writers, which merging cards holds.
    let mut holder =
        server.sleeper(database, "BEGIN; SELECT pg_advisory_xact_lock(1129538353); SELECT pg_sleep(3)");
    let held = "SELECT COUNT(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
        WHERE locktype = 'advisory' AND datname = current_database()";
    while server.sql(database, held) == "0" {
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    archive.finish_run(session, &results(1)).unwrap();
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
    holder.wait().unwrap();
}

#[test]
fn failed_card_edit_changes_nothing() {
    let server = Server::shared();
    let address = server.database();
    let mut archive = Archive::open(&address).unwrap();
    import(&mut archive, "a.log", &log(card("Acme", "Swift", "64GB"), &[20.0]));
    let before = archive.cards().unwrap().remove(0);
    server.sql(address.split(['/', '?']).nth(3).unwrap(), "DROP TABLE attached");
    let receipt = NewAttachment { name: "receipt", media_type: "text/plain", note: None, bytes: b"12 EUR" };
    let error =
        archive.edit_card(&before.id, |facts| facts.note = Some("blue".into()), &[], &[receipt]).unwrap_err();
    assert!(matches!(error, ArchiveError::Failed { .. }), "{error}");
    assert_eq!(archive.cards().unwrap(), [before]);
}
