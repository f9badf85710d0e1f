//! The archive under everything that happens to files: crashes, neighbours, full disks, files of others.
#![allow(clippy::unwrap_used, reason = "all of this is test, its helpers too")]

mod crash;
mod full_disk;
mod keeping;
mod neighbours;
mod records;
mod refusal;
mod sessions;

use cardscope_store::Archive;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Set for a child of these tests; its value says what the child is to do.
const ROLE: &str = "CARDSCOPE_STORE_TEST_ROLE";
const FILE: &str = "CARDSCOPE_STORE_TEST_FILE";

/// Starts this test program again in another role, on an archive.
fn child(role: &str, archive: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--nocapture", "other_process"])
        .env(ROLE, role)
        .env(FILE, archive)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Not a test: what the children of the other tests do.
#[test]
#[ignore = "runs only as a child of other tests"]
fn other_process() {
    let (Ok(role), Some(file)) = (std::env::var(ROLE), std::env::var_os(FILE)) else { return };
    match role.as_str() {
        "write for ever" => sessions::write(&mut Archive::open(file).unwrap(), u32::MAX),
        "write 40" => sessions::write(&mut Archive::open(file).unwrap(), 40),
        "open" => println!("said: {}", Archive::open(file).unwrap_err()),
        other => panic!("no such role: {other}"),
    }
}
