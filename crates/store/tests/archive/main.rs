//! Tests of the archive under crashes, concurrent processes, full disks, foreign files and lost servers.
#![allow(clippy::unwrap_used, reason = "all of this is test, its helpers too")]

mod cards;
mod concurrency;
mod crash;
mod engines;
mod file_safety;
mod files;
mod full_disk;
mod importing;
mod logs;
mod matching;
mod read_only;
mod records;
mod refusal;
mod round_trips;
mod server;
mod servers;
mod sessions;
mod summaries;
mod tables;
mod upgrading;
mod watching;

use cardscope_store::Archive;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Environment variable that tells a child process of these tests what to do.
const ROLE: &str = "CARDSCOPE_STORE_TEST_ROLE";
const FILE: &str = "CARDSCOPE_STORE_TEST_FILE";

/// Starts this test program in another role, on an archive.
fn child(role: &str, archive: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "other_process"])
        .env(ROLE, role)
        .env(FILE, archive)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test: entry point of the child processes.
#[test]
#[ignore = "runs only as a child of other tests"]
fn other_process() {
    let (Ok(role), Some(file)) = (std::env::var(ROLE), std::env::var_os(FILE)) else { return };
    match role.as_str() {
        "write for ever" => sessions::write(&mut Archive::open(file).unwrap(), u32::MAX),
        "write 1" => sessions::write(&mut Archive::open(file).unwrap(), 1),
        "write 40" => sessions::write(&mut Archive::open(file).unwrap(), 40),
        "import 60" => concurrency::import_sixty(&mut Archive::open(file).unwrap()),
        "import for ever" => servers::import_for_ever(Path::new(&file)),
        "open" => println!("said: {}", Archive::open(file).unwrap_err()),
        other => panic!("no such role: {other}"),
    }
}
