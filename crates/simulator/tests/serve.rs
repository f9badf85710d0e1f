//! Served cards through the kernel, as other tools use them. Needs FUSE.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

use cardscope_simulator::SimTarget;
use cardscope_simulator::serve::{CardServer, ServeError, ServeJob, ServingOptions};
use cardscope_simulator::target_spec;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn serve_job(names: &[&str], directory: &Path, timing: bool) -> ServeJob {
    let cards = names.iter().map(|name| target_spec::parse(name).unwrap()).collect();
    let options = if timing {
        ServingOptions::default()
    } else {
        ServingOptions { timing: false, ..ServingOptions::default() }
    };
    ServeJob { cards, mount: Some(directory.to_owned()), nbd: None, options }
}

fn try_start_server(name: &str, directory: &Path, timing: bool) -> Result<CardServer, ServeError> {
    CardServer::start(&serve_job(&[name], directory, timing))
}

fn start_server(name: &str, directory: &Path, timing: bool) -> CardServer {
    try_start_server(name, directory, timing).unwrap()
}

fn open_card_file(server: &CardServer, write: bool) -> File {
    OpenOptions::new().read(true).write(write).open(&server.card_files()[0]).unwrap()
}

fn read_json(path: PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn file_has_announced_size_and_keeps_data() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:constant", directory.path(), false);
    let file = open_card_file(&served, true);
    assert_eq!(file.metadata().unwrap().len(), 8_000_634_880);
    let text: Vec<u8> = (0..100_000u32).map(|i| (i * 7 % 253) as u8).collect();
    file.write_all_at(&text, 12_345).unwrap();
    file.sync_all().unwrap();
    let mut back = vec![0; text.len()];
    file.read_exact_at(&mut back, 12_345).unwrap();
    let first = back.iter().zip(&text).position(|(found, written)| found != written);
    assert_eq!(first, None, "the first byte that differs");
    assert!(file.write_at(&text, 8_000_634_880).is_err(), "no room beyond the end");
    assert_eq!(file.read_at(&mut back, 8_000_634_880 - 100).unwrap(), 100);
    drop(file);
    served.stop().unwrap();
    assert!(!directory.path().join("card").exists(), "unmounted");
}

#[test]
fn partial_sectors_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:constant", directory.path(), false);
    let file = open_card_file(&served, true);
    let mut expected = [0x11; 2048];
    file.write_all_at(&expected, 0).unwrap();
    for (at, len) in [(1, 1), (511, 2), (700, 900), (1024, 100), (1900, 148)] {
        file.write_all_at(&vec![at as u8; len], at as u64).unwrap();
        expected[at..at + len].fill(at as u8);
        let mut back = [0; 2048];
        file.read_exact_at(&mut back, 0).unwrap();
        assert!(back == expected, "{len} bytes at {at}");
    }
    let mut part = [0; 77];
    file.read_exact_at(&mut part, 1871).unwrap();
    assert!(part == expected[1871..1948]);
}

#[test]
fn served_fake_reads_zeros_beyond_real_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:constant?fake=limbo&fake_bytes=1M", directory.path(), false);
    let file = open_card_file(&served, true);
    file.write_all_at(&[9; 8192], (1 << 20) - 4096).unwrap();
    let mut back = [1; 8192];
    file.read_exact_at(&mut back, (1 << 20) - 4096).unwrap();
    assert_eq!((&back[..4096], &back[4096..]), (&[9; 4096][..], &[0; 4096][..]));
}

#[test]
fn requests_take_card_time_and_overlap_in_queue() {
    let directory = tempfile::tempdir().unwrap();
    let name = "sim:constant?command_s=0.02&mb_s=1000&depth=8";
    let served = start_server(name, directory.path(), true);
    let file = open_card_file(&served, false);
    let read = |i: u64| file.read_exact_at(&mut [0; 4096], i * 4096).unwrap();
    let began = Instant::now();
    (0..5).for_each(read);
    let alone = began.elapsed();
    // The host's round trip is subtracted as measured before, so an answer may be a few microseconds early.
    assert!((Duration::from_micros(99_500)..Duration::from_millis(250)).contains(&alone), "{alone:?}");
    let began = Instant::now();
    std::thread::scope(|scope| (0..8).for_each(|i| drop(scope.spawn(move || read(i)))));
    assert!(began.elapsed() < Duration::from_millis(100), "8 at a time: {:?}", began.elapsed());
}

#[test]
fn busy_missing_and_full_directories_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let _served = start_server("sim:constant", directory.path(), false);
    let refused = |place: &Path| try_start_server("sim:constant", place, true).err().unwrap().to_string();
    let error = refused(directory.path());
    assert!(error.contains("give an empty directory"), "{error}");
    let error = refused(Path::new("/nonexistent"));
    assert!(error.contains("/nonexistent") && error.contains("create it first"), "{error}");
    let full = tempfile::tempdir().unwrap();
    std::fs::write(full.path().join("film"), "kept").unwrap();
    let error = refused(full.path());
    assert!(error.contains("not empty"), "{error}");
}

#[test]
fn truth_and_counters_are_read_only_files() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:lexar-1tb-express", directory.path(), true);
    let truth = read_json(directory.path().join("truth.json"));
    assert_eq!(truth["announced_bytes"], 1_000_865_792_000u64);
    assert_eq!(truth["tmt1_c"], 81.0);
    assert_eq!(truth["identity"]["nvme"]["identify"]["fr"].as_str().map(str::trim), Some("X0705A"));
    for name in ["truth.json", "counters.json"] {
        let path = directory.path().join(name);
        assert!(OpenOptions::new().write(true).open(&path).is_err(), "{name}");
        assert!(std::fs::remove_file(&path).is_err(), "{name}");
    }
    assert!(std::fs::write(directory.path().join("own"), "").is_err());
    let mut names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["card", "counters.json", "truth.json"]);
    served.stop().unwrap();
}

#[test]
fn counters_are_current_at_each_read() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:lexar-1tb-express", directory.path(), true);
    let counters = || read_json(directory.path().join("counters.json"));
    let before = counters();
    assert_eq!((&before["commands"], &before["lag"]["answers"]), (&Value::from(0), &Value::from(0)));
    let file = open_card_file(&served, true);
    (0..10u64).for_each(|n| file.read_exact_at(&mut [0; 8192], n * 8192).unwrap());
    file.write_all_at(&[7; 4096], 0).unwrap();
    file.sync_all().unwrap();
    let after = counters();
    assert_eq!((&after["reads"], &after["read_bytes"]), (&Value::from(10), &Value::from(81_920)));
    assert_eq!((&after["writes"], &after["written_bytes"]), (&Value::from(1), &Value::from(4096)));
    assert_eq!((&after["flushes"], &after["commands"]), (&Value::from(1), &Value::from(12)));
    assert_eq!((&after["in_flight"], &after["max_in_flight"]), (&Value::from(0), &Value::from(1)));
    assert_eq!(after["lag"]["answers"], 12);
    assert!(after["temperature_c"].as_f64().unwrap() > 15.0);
    assert!(
        after["lag"]["recent_us"]["p50"].as_f64().unwrap()
            <= after["lag"]["recent_us"]["max"].as_f64().unwrap()
    );
    // Reading in small parts gives a consistent document.
    let open = File::open(directory.path().join("counters.json")).unwrap();
    let mut text = Vec::new();
    let mut part = [0; 16];
    loop {
        let n = open.read_at(&mut part, text.len() as u64).unwrap();
        text.extend(&part[..n]);
        if n == 0 {
            break;
        }
    }
    assert!(serde_json::from_slice::<Value>(&text).is_ok());
}

#[test]
fn several_cards_get_separate_directories() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["sim:constant", "sim:lexar-16g-c10", "sim:constant?announced_bytes=1MiB"];
    std::fs::create_dir(directory.path().join("lexar-16g-c10")).unwrap();
    let served = CardServer::start(&serve_job(&names, directory.path(), false)).unwrap();
    let found: Vec<_> =
        ["constant", "lexar-16g-c10", "constant-2"].map(|n| directory.path().join(n).join("card")).into();
    assert_eq!(served.card_files(), found);
    let sizes: Vec<_> = found.iter().map(|f| std::fs::metadata(f).unwrap().len()).collect();
    assert_eq!(sizes, [8_000_634_880, 16_012_804_096, 1 << 20]);
    OpenOptions::new().write(true).open(&found[0]).unwrap().write_all_at(&[5; 4096], 0).unwrap();
    let mut back = [9; 4096];
    File::open(&found[2]).unwrap().read_exact_at(&mut back, 0).unwrap();
    assert_eq!(back, [0; 4096]);
    let reports = served.stop().unwrap();
    assert_eq!(reports.iter().map(|r| r.commands).collect::<Vec<_>>(), [1, 0, 1]);
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["lexar-16g-c10"], "what was made is removed, what was there stays");
}

#[test]
fn one_refused_directory_serves_no_card() {
    let directory = tempfile::tempdir().unwrap();
    let busy = directory.path().join("lexar-16g-c10");
    std::fs::create_dir(&busy).unwrap();
    std::fs::write(busy.join("film"), "kept").unwrap();
    let error =
        CardServer::start(&serve_job(&["sim:constant", "sim:lexar-16g-c10"], directory.path(), false))
            .err()
            .unwrap();
    assert!(error.is_refusal() && error.to_string().contains("not empty"), "{error}");
    assert!(!directory.path().join("constant").exists());
}

#[test]
fn vanished_card_gives_enodev_and_failing_one_eio() {
    let directory = tempfile::tempdir().unwrap();
    let served = start_server("sim:constant?faults.vanish_after_ios=3", directory.path(), false);
    let file = open_card_file(&served, true);
    let results: Vec<_> =
        (0..5).map(|_| file.read_at(&mut [0; 4096], 0).map_err(|e| e.raw_os_error())).collect();
    assert!(results[..2].iter().all(Result::is_ok), "{results:?}");
    assert_eq!(results[4], Err(Some(libc::ENODEV)), "{results:?}");
    assert_eq!(file.sync_all().map_err(|e| e.raw_os_error()), Err(Some(libc::ENODEV)));
    drop(file);
    served.stop().unwrap();
    let served = start_server("sim:constant?faults.write_error_p=1", directory.path(), false);
    let error = open_card_file(&served, true).write_at(&[0; 4096], 0).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EIO));
    served.stop().unwrap();
}

/// Runs as a separate process in the next test: serves until it is killed.
#[test]
fn serves_until_killed() {
    let Ok(directory) = std::env::var("CARDSCOPE_SERVE_UNTIL_KILLED") else { return };
    let _served =
        CardServer::start(&serve_job(&["sim:constant", "sim:constant"], Path::new(&directory), false))
            .unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn next_server_clears_mounts_of_killed_one() {
    let directory = tempfile::tempdir().unwrap();
    let cards = ["constant", "constant-2"].map(|name| directory.path().join(name));
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "serves_until_killed"])
        .env("CARDSCOPE_SERVE_UNTIL_KILLED", directory.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !cards[1].join("card").exists() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let up = cards[1].join("card").exists();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(up, "the cards were not there within five seconds");
    assert!(cards.iter().all(|card| std::fs::metadata(card).is_err()), "dead mounts");
    let served =
        CardServer::start(&serve_job(&["sim:constant", "sim:constant"], directory.path(), false)).unwrap();
    assert!(cards.iter().all(|card| card.join("card").exists()));
    served.stop().unwrap();
    assert!(cards.iter().all(|card| std::fs::metadata(card).is_ok()));
}

#[test]
fn refused_start_keeps_saved_state() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("kept.state");
    let name = format!("sim:constant?save={}", state.display());
    SimTarget::open_named(&name).unwrap().close().unwrap();
    let kept = std::fs::read(&state).unwrap();
    std::fs::write(folder.path().join("something"), "here").unwrap();
    let error = CardServer::start(&serve_job(&[&name], folder.path(), false)).err().unwrap().to_string();
    assert!(error.contains("not empty"), "{error}");
    assert!(std::fs::read(&state).unwrap() == kept, "the card was never used");
    let twice =
        CardServer::start(&serve_job(&[&name, &name], folder.path(), false)).err().unwrap().to_string();
    assert!(twice.contains("two cards"), "{twice}");
}

#[test]
fn open_card_is_unmounted_through_a_symlink() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let served = CardServer::start(&serve_job(&["sim:constant"], &link, false)).unwrap();
    let open = std::fs::File::open(real.join("card")).unwrap();
    served.stop().unwrap();
    assert!(std::fs::read_dir(&real).unwrap().next().is_none(), "nothing is mounted there any more");
    drop(open);
}
