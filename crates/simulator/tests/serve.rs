//! The served card through the kernel, as the tools of others see it. They need FUSE.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

use cardscope_simulator::serve::{Options, Served};
use cardscope_simulator::target_spec;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

fn start(name: &str, directory: &Path, timing: bool) -> Served {
    let spec = target_spec::parse(name).unwrap();
    Served::start(&spec, directory, Options { timing }).unwrap()
}

#[test]
fn the_file_is_as_large_as_the_card_announces_and_keeps_what_it_is_given() {
    let directory = tempfile::tempdir().unwrap();
    let served = start("sim:constant", directory.path(), false);
    let file = OpenOptions::new().read(true).write(true).open(served.file()).unwrap();
    assert_eq!(file.metadata().unwrap().len(), 8_000_634_880);
    let text: Vec<u8> = (0..100_000u32).map(|i| (i * 7 % 253) as u8).collect();
    file.write_all_at(&text, 12_345).unwrap();
    file.sync_all().unwrap();
    let mut back = vec![0; text.len()];
    file.read_exact_at(&mut back, 12_345).unwrap();
    assert_eq!(back, text);
    assert!(file.write_at(&text, 8_000_634_880).is_err(), "no room beyond the end");
    assert_eq!(file.read_at(&mut back, 8_000_634_880 - 100).unwrap(), 100);
    drop(file);
    served.stop().unwrap();
    assert!(!directory.path().join("card").exists(), "unmounted");
}

#[test]
fn beyond_its_real_bytes_a_served_fake_gives_zeros() {
    let directory = tempfile::tempdir().unwrap();
    let served = start("sim:constant?fake=limbo&fake_bytes=1M", directory.path(), false);
    let file = OpenOptions::new().read(true).write(true).open(served.file()).unwrap();
    file.write_all_at(&[9; 8192], (1 << 20) - 4096).unwrap();
    let mut back = [1; 8192];
    file.read_exact_at(&mut back, (1 << 20) - 4096).unwrap();
    assert_eq!((&back[..4096], &back[4096..]), (&[9; 4096][..], &[0; 4096][..]));
}

#[test]
fn each_request_takes_the_cards_time_and_a_queue_overlaps() {
    let directory = tempfile::tempdir().unwrap();
    let name = "sim:constant?command_s=0.02&mb_s=1000&depth=8";
    let served = start(name, directory.path(), true);
    let file = OpenOptions::new().read(true).open(served.file()).unwrap();
    let read = |i: u64| file.read_exact_at(&mut [0; 4096], i * 4096).unwrap();
    let began = Instant::now();
    (0..5).for_each(read);
    let alone = began.elapsed();
    assert!((Duration::from_millis(100)..Duration::from_millis(250)).contains(&alone), "{alone:?}");
    let began = Instant::now();
    std::thread::scope(|scope| (0..8).for_each(|i| drop(scope.spawn(move || read(i)))));
    assert!(began.elapsed() < Duration::from_millis(100), "8 at a time: {:?}", began.elapsed());
}

#[test]
fn a_directory_that_serves_already_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _served = start("sim:constant", directory.path(), false);
    let spec = target_spec::parse("sim:constant").unwrap();
    let error = Served::start(&spec, directory.path(), Options::default()).unwrap_err().to_string();
    assert!(error.contains("another card"), "{error}");
    let error = Served::start(&spec, Path::new("/nonexistent"), Options::default()).unwrap_err().to_string();
    assert!(error.contains("/nonexistent") && error.contains("make it first"), "{error}");
}

/// Runs as the server of the next test: serves until it is killed.
#[test]
fn serves_until_killed() {
    let Ok(directory) = std::env::var("CARDSCOPE_SERVE_UNTIL_KILLED") else { return };
    let _served = start("sim:constant", Path::new(&directory), false);
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn the_mount_of_a_killed_server_is_cleared_by_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let card = directory.path().join("card");
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serves_until_killed"])
        .env("CARDSCOPE_SERVE_UNTIL_KILLED", directory.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !card.exists() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let up = card.exists();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(up, "the card was not there within five seconds");
    assert!(std::fs::metadata(directory.path()).is_err(), "a dead mount");
    let served = start("sim:constant", directory.path(), false);
    assert!(card.exists());
    served.stop().unwrap();
    assert!(std::fs::metadata(directory.path()).is_ok());
}
