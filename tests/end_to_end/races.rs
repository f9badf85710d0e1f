//! Races: during the question and during a test, other programs swap links, extend files, and attach loop devices.
//! Then nothing more is written, and the message has the cause. A few rounds each, two hundred with
//! `CARDSCOPE_LONG=1`.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{LoopDevice, MIB, image, names_in, run_tool, with_data};
use crate::common::served::Served;
use crate::common::{number, text};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

fn rounds() -> u32 {
    if std::env::var_os("CARDSCOPE_LONG").is_some() { 200 } else { 3 }
}

/// Answers the question on a terminal with the target's name, after running `meanwhile`.
const TERMINAL: &str = "import os, pty, subprocess, sys\n\
    pid, fd = pty.fork()\n\
    if pid == 0: os.execv(sys.argv[3], sys.argv[3:])\n\
    said = b''\n\
    while b'to go on: ' not in said: said += os.read(fd, 4096)\n\
    subprocess.run(['sh', '-ec', sys.argv[1]], check=True, stdout=subprocess.DEVNULL)\n\
    os.write(fd, sys.argv[2].encode() + b'\\n')\n\
    try:\n    while True: said += os.read(fd, 65536)\nexcept OSError: pass\n\
    sys.stdout.write(said.decode(errors='replace'))\n\
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";

/// Full verification of a target, with a command that runs during the question.
fn asked(home: &Home, target: &Path, meanwhile: &str) -> Outcome {
    let name = target.to_str().unwrap();
    let mut command = home.command("python3");
    command.args(["-c", TERMINAL, meanwhile, name, CARDSCOPE, "verify", "--full", name]);
    Running::of(command).finish()
}

/// Asserts a refusal with these words.
#[track_caller]
fn refused(outcome: Outcome, words: &[&str]) {
    let outcome = outcome.expect(2);
    for word in words.iter().chain(&["nothing was written"]) {
        assert!(outcome.stdout.contains(word), "{word:?} was expected\n{outcome}");
    }
}

/// Two images of 1 MiB, and a link to the first.
struct Place {
    first: PathBuf,
    second: PathBuf,
    link: PathBuf,
    content: Vec<u8>,
    _dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let first = image(dir.path(), 1);
        let (second, link) = (dir.path().join("second.img"), dir.path().join("tgt.img"));
        std::fs::copy(&first, &second).unwrap();
        symlink(&first, &link).unwrap();
        Place { content: std::fs::read(&first).unwrap(), first, second, link, _dir: dir }
    }

    fn untouched(&self) -> bool {
        [&self.first, &self.second].iter().all(|file| std::fs::read(file).unwrap() == self.content)
    }
}

#[test]
fn a_link_swapped_while_the_question_waits_leads_to_no_write() {
    let home = Home::new();
    for _ in 0..rounds() {
        let place = Place::new();
        let swap = format!("ln -sfn {} {}", place.second.display(), place.link.display());
        let shown = format!("{} ({})", place.link.display(), place.first.display());
        refused(asked(&home, &place.link, &swap), &[&shown, "another file or device"]);
        assert!(place.untouched(), "neither the one that was shown nor the other");
    }
}

#[test]
fn a_file_that_grew_while_the_question_waits_is_not_written_to() {
    let home = Home::new();
    for _ in 0..rounds() {
        let place = Place::new();
        let grow = format!("truncate -s 5M {}", place.first.display());
        refused(asked(&home, &place.link, &grow), &["the capacity changed from 1048576 to 5242880 bytes"]);
        let content = std::fs::read(&place.first).unwrap();
        assert!(content[..MIB as usize] == place.content && content[MIB as usize..].iter().all(|b| *b == 0));
    }
}

#[test]
fn a_file_that_became_a_loop_device_while_the_question_waits_is_not_written_to() {
    let home = Home::new();
    for _ in 0..rounds() {
        let place = Place::new();
        let outcome = asked(&home, &place.link, &format!("losetup -f {}", place.first.display()));
        let first = place.first.to_str().unwrap();
        let devices = run_tool("losetup", &["-n", "-O", "NAME", "-j", first]);
        run_tool("losetup", &["-d", devices.trim()]);
        refused(outcome, &["is in use", devices.trim(), "losetup -d"]);
        assert!(place.untouched());
    }
}

#[test]
fn a_file_that_was_replaced_or_removed_while_the_question_waits_is_not_written_to() {
    let home = Home::new();
    let place = Place::new();
    let replace = format!("mv {} {}", place.second.display(), place.first.display());
    refused(asked(&home, &place.first, &replace), &["another file or device"]);
    assert!(std::fs::read(&place.first).unwrap() == place.content);
    let remove = format!("rm {}", place.first.display());
    refused(asked(&home, &place.first, &remove), &["was moved or removed"]);
}

#[test]
fn replaced_directory_gets_no_test_files() {
    let home = Home::new();
    let place = tempfile::tempdir().unwrap();
    let name = place.path().join("card");
    let mut written = 0;
    for round in 0..rounds().min(20) {
        std::fs::create_dir(&name).unwrap();
        let visited = name.to_str().unwrap();
        let mut running = home.start(&["check", visited, "--budget", "5s", "--max-write", "256M"]);
        running.wait_for("writes files of its own");
        std::thread::sleep(Duration::from_millis(20 * u64::from(round % 10)));
        let moved = place.path().join(format!("moved {round}"));
        std::fs::rename(&name, &moved).unwrap();
        std::fs::create_dir(&name).unwrap();
        // Even a temporary file changes a folder's time.
        let time = |folder: &Path| std::fs::metadata(folder).unwrap().modified().unwrap();
        let before = [&name, &moved].map(|folder| time(folder));
        let outcome = running.finish();
        assert!(!outcome.stderr.contains("panicked"), "{outcome}");
        assert_eq!(time(&name), before[0], "{outcome}");
        written += u32::from(time(&moved) > before[1]);
        assert!(names_in(&moved).is_empty(), "{outcome}");
        std::fs::remove_dir(&name).unwrap();
    }
    assert!(written > 0, "no file was made after the directory was replaced: this tests nothing");
}

#[test]
fn device_stays_open_during_the_question() {
    let home = Home::new();
    let card = with_data(16, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let before = card.content();
    let point = home.path("point");
    std::fs::create_dir(&point).unwrap();
    // The kernel refuses another claim; a loop device claims nothing, and is detected.
    let meanwhile = format!("! mount {0} {1} && losetup -f {0}", card.path, point.display());
    let outcome = asked(&home, Path::new(&card.path), &meanwhile);
    let above = run_tool("losetup", &["-n", "-O", "NAME", "-j", &card.path]);
    run_tool("losetup", &["-d", above.trim()]);
    refused(outcome, &["is in use", above.trim().trim_start_matches("/dev/")]);
    assert!(before == card.content());
}

/// While the link is swapped constantly, one of the files is tested completely, or none.
#[test]
fn swapped_link_never_mixes_two_files() {
    let home = Home::new();
    let place = Place::new();
    let long = place.content.repeat(2);
    std::fs::write(&place.second, &long).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let fresh = place.link.with_file_name("fresh");
            for target in [&place.second, &place.first].into_iter().cycle() {
                symlink(target, &fresh).unwrap();
                std::fs::rename(&fresh, &place.link).unwrap();
                if over.load(Ordering::Relaxed) {
                    break;
                }
                std::thread::sleep(Duration::from_micros(100));
            }
        });
        for _ in 0..rounds() {
            std::fs::write(&place.first, &place.content).unwrap();
            std::fs::write(&place.second, &long).unwrap();
            let name = place.link.to_str().unwrap();
            let outcome = home.run(&["verify", "--full", name, "--yes-destroy", name, "--json", "--quiet"]);
            let written = [
                std::fs::read(&place.first).unwrap() != place.content,
                std::fs::read(&place.second).unwrap() != long,
            ];
            let of =
                |n: usize| number(&outcome.json(), "/announced_bytes") == ((n + 1) * MIB as usize) as f64;
            match (outcome.status.code(), written) {
                (Some(2), [false, false]) => {}
                (Some(0 | 3), [true, false]) if of(0) => {}
                (Some(0 | 3), [false, true]) if of(1) => {}
                (Some(3), [false, false]) => {}
                other => {
                    over.store(true, Ordering::Relaxed);
                    panic!("{other:?}\n{outcome}");
                }
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// Card slow enough to be changed during a run: 2 ms a command.
const SLOW: &str = "constant?command_s=0.002&mb_s=20&announced_bytes=64MiB";

fn first_writes(served: &Served) {
    crate::common::until("the first writes", || {
        number(&served.document("counters.json"), "/written_bytes") > 0.0
    });
}

#[test]
fn a_file_that_becomes_a_loop_device_in_mid_run_is_left_alone_within_a_second() {
    let home = Home::new();
    let served = Served::start(&home, SLOW, &[]);
    let card = served.card();
    let name = card.to_str().unwrap();
    let run = home.start(&["verify", "--full", name, "--yes-destroy", name, "--json"]);
    first_writes(&served);
    let device = LoopDevice::over_file(&card, &[]);
    let outcome = run.finish().expect(3);
    let document = outcome.json();
    let error = text(&document, "/error");
    assert!(error.contains("is in use") && error.contains(&device.path), "{outcome}");
    assert_eq!(text(&document, "/verdict"), "inconclusive", "{outcome}");
}

/// Shrinks a loop device (`LOOP_SET_STATUS64`, the fifth number of `struct loop_info64`).
fn shrink(device: &str, bytes: u64) {
    let script = "import fcntl, struct, sys\n\
        device = open(sys.argv[1], 'rb')\n\
        info = bytearray(232)\n\
        fcntl.ioctl(device, 0x4c05, info)\n\
        struct.pack_into('Q', info, 32, int(sys.argv[2]))\n\
        fcntl.ioctl(device, 0x4c04, bytes(info))";
    run_tool("python3", &["-c", script, device, &bytes.to_string()]);
}

#[test]
fn a_device_that_shrinks_in_mid_run_is_not_called_damaged() {
    let home = Home::new();
    for way in [&["--full"][..], &["--erase"], &[]] {
        let served = Served::start(&home, SLOW, &[]);
        let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
        let options = ["verify", &card.path, "--yes-destroy", &card.path, "--json"];
        let run = home.start(&[&options[..], way].concat());
        first_writes(&served);
        shrink(&card.path, 8 * MIB);
        let outcome = run.finish().expect(3);
        let document = outcome.json();
        let error = text(&document, "/error");
        assert!(error.contains("the capacity changed from 67108864 to 8388608 bytes"), "{outcome}");
        assert_eq!(text(&document, "/verdict"), "inconclusive", "{outcome}");
    }
}
