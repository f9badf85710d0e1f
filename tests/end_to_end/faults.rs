//! Cards and computers that fail during a measurement: results are kept, the document has the cause, and nothing hangs.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running, copy_to};
use crate::common::machine::{LoopDevice, MIB, TestMount, image, names_in, run_tool, with_data};
use crate::common::served::{Served, is_mounted};
use crate::common::{caveats, list, number, result, text};
use rustix::process::Signal;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// Card slow enough to fail in the middle of a run: 2 ms a command.
const SLOW: &str = "constant?command_s=0.002&mb_s=200&depth=32";
/// Short test, then one that does not end by itself.
const LONG: &str = "[defaults]\nseconds = 300\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\nseconds = 0.5\n[[test]]\ntest = \"RND4K Q8T1 write\"\n";
const SHORT: &str = "[defaults]\npasses = 1\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\n";

/// Asserts a session that ended in its second test: exit status 3, the first result in document and archive.
#[track_caller]
fn ended_in_the_second_test(home: &Home, outcome: &Outcome) {
    assert_eq!(outcome.status.code(), Some(3), "{outcome}");
    let document = outcome.json();
    assert!(!text(&document, "/error").is_empty());
    assert!(result(&document, "SEQ1M Q1T1 write")["mb_s"].as_f64().unwrap() > 0.0, "{outcome}");
    assert_eq!(list(&document, "/runs/0/results").len(), 1, "{outcome}");
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].summary.ended.map(|how| how.as_str()), Some("failed"));
    assert_eq!(sessions[0].file.runs[0].samples.len(), 1, "the finished sample is kept");
}

#[test]
fn vanished_device_keeps_finished_tests() {
    for io in ["auto", "preads"] {
        let home = Home::new();
        let mut served = Served::start(&home, SLOW, &[]);
        let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
        let recipe = home.recipe("prepare = false", LONG);
        let mut command = home.command(CARDSCOPE);
        command.args(["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path, "--json"]);
        let mut bench = Running::of({
            command.env("CARDSCOPE_IO", io);
            command
        });
        bench.wait_for("RND4K Q8T1 write");
        std::thread::sleep(Duration::from_millis(300));
        served.kill();
        let outcome = bench.finish_within(Duration::from_secs(60));
        ended_in_the_second_test(&home, &outcome);
        answers_nothing(&outcome);
    }
}

/// Asserts that every I/O failed although the loop device still exists.
#[track_caller]
fn answers_nothing(outcome: &Outcome) {
    let document = outcome.json();
    let error = text(&document, "/error");
    for word in ["Input/output error", "no longer answers"] {
        assert!(error.contains(word), "{word}: {outcome}");
    }
    assert!(!error.contains("went away"), "{outcome}");
}

#[test]
fn failed_reads_are_counted_with_addresses() {
    let home = Home::new();
    let card = "constant?announced_bytes=64MiB&faults.read_error_p=0.05";
    let served = Served::start(&home, card, &["--no-timing"]);
    let recipe =
        home.recipe("prepare = false", "[defaults]\npasses = 1\n[[test]]\ntest = \"RND4K Q4T1 read\"\n");
    let outcome =
        home.run(&["bench", served.card().to_str().unwrap(), "--recipe", &recipe, "--json"]).expect(1);
    let document = outcome.json();
    assert!(number(&document, "/failed_once") > 0.0, "{outcome}");
    let first = list(&document, "/troubles").first().unwrap_or_else(|| panic!("{outcome}"));
    assert_eq!(
        (&first["operation"], &first["len"], &first["errno"]),
        (&json!("read"), &json!(4096), &json!(5))
    );
    assert!(caveats(&document).contains(&"failed-ios"), "{outcome}");
}

#[test]
fn vanished_card_still_gives_a_document() {
    let home = Home::new();
    let mut served = Served::start(&home, SLOW, &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let recipe = home.recipe("size = \"4GiB\"", SHORT);
    let mut bench =
        home.start(&["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path, "--json"]);
    bench.wait_for("writing the test area");
    served.kill();
    let outcome = bench.finish_within(Duration::from_secs(60)).expect(3);
    let document = outcome.json();
    answers_nothing(&outcome);
    assert!(list(&document, "/runs/0/results").is_empty() && list(&document, "/summary").is_empty());
}

#[test]
fn a_file_whose_server_dies_ends_the_session_too() {
    let home = Home::new();
    let mut served = Served::start(&home, SLOW, &[]);
    let (card, recipe) = (served.card(), home.recipe("prepare = false", LONG));
    let card = card.to_str().unwrap();
    let mut bench = home.start(&["bench", card, "--recipe", &recipe, "--yes-destroy", card, "--json"]);
    bench.wait_for("RND4K Q8T1 write");
    served.kill();
    ended_in_the_second_test(&home, &bench.finish_within(Duration::from_secs(60)));
}

#[test]
fn a_directory_whose_card_is_pulled_out_ends_the_session() {
    let home = Home::new();
    let mut served = Served::start(&home, &format!("{SLOW}&announced_bytes=256MiB"), &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    // Most of the file is a hole, so ext4 reads it without the card.
    let recipe = home.recipe("size = \"128MiB\"\nprepare = false", LONG);
    let mut bench = home.start(&["bench", mounted.path(), "--recipe", &recipe, "--json"]);
    bench.wait_for("RND4K Q8T1 write");
    served.kill();
    ended_in_the_second_test(&home, &bench.finish_within(Duration::from_secs(60)));
}

#[test]
fn ctrl_c_leaves_a_hung_card() {
    let home = Home::new();
    let served = Served::start(&home, SLOW, &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let recipe = home.recipe("prepare = false", LONG);
    let mut bench =
        home.start(&["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path, "--json"]);
    bench.wait_for("RND4K Q8T1 write");
    let frozen = served.freeze();
    std::thread::sleep(Duration::from_millis(300));
    bench.signal(Signal::INT);
    // The document comes at once. The process may have to wait for its I/O, which the kernel cannot cancel.
    let began = Instant::now();
    crate::common::until("the document", || bench.printed().trim_end().ends_with('}'));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    drop(frozen);
    let document = bench.finish().expect(130).json();
    assert!(text(&document, "/error").contains("interrupted"));
    assert_eq!(list(&document, "/runs/0/results").len(), 1);
}

#[test]
fn next_server_clears_a_dead_mount() {
    let home = Home::new();
    let mut served = Served::start(&home, "constant", &["--no-timing"]);
    served.kill();
    assert!(std::fs::metadata(served.directory()).is_err(), "a dead mount, or this tests nothing");
    served.serve(&home, "lexar-16g-c10", &["--no-timing"]);
    assert_eq!(std::fs::metadata(served.card()).unwrap().len(), 16_012_804_096);
    served.stop(Signal::TERM).expect(0);
    assert!(names_in(served.directory()).is_empty() && !is_mounted(served.directory()));
}

#[test]
fn a_server_that_is_asked_to_end_unmounts() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut served = Served::start(&home, "constant", &["--no-timing"]);
        let outcome = served.stop(signal).expect(0);
        assert!(!is_mounted(served.directory()), "{signal:?}\n{outcome}");
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn a_server_ends_though_its_card_is_still_in_use() {
    let home = Home::new();
    let mut served = Served::start(&home, "constant", &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &[]);
    served.stop(Signal::TERM).expect(0);
    assert!(!is_mounted(served.directory()));
    drop(card);
}

#[test]
fn unusable_mount_points_are_refused() {
    let home = Home::new();
    let (dir, served) = (tempfile::tempdir().unwrap(), Served::start(&home, "constant", &["--no-timing"]));
    let file = image(dir.path(), 1);
    for (place, word) in [
        (dir.path().join("no-such-directory").as_path(), "create it first"),
        (&file, "not a directory"),
        (served.directory(), "give an empty directory"),
    ] {
        home.run(&["sim", "serve", "constant", "--mount", place.to_str().unwrap()]).expect(2).says(&[word]);
    }
}

#[test]
fn too_small_file_system_is_refused_and_left_clean() {
    let home = Home::new();
    let recipe = home.recipe("size = \"64MiB\"", SHORT);
    let small = TestMount::ext4(48);
    let full = TestMount::ext4(96);
    std::fs::write(full.point.join("films"), vec![7; 64 << 20]).unwrap();
    let memory = TestMount::new(&["-t", "tmpfs", "-o", "size=40m"], "tmpfs");
    for (place, there) in [(&small, vec![]), (&full, vec!["films"]), (&memory, vec![])] {
        let outcome = home.run(&["bench", place.path(), "--recipe", &recipe, "--json"]).expect(2);
        let outcome = outcome.says(&["67108864", "free some space", "--size"]);
        assert_eq!(names_in(&place.point), there, "{outcome}");
    }
    home.run(&["bench", small.path(), "--recipe", &recipe, "--size", "16M", "-q"]).expect(0);
    assert!(names_in(&small.point).is_empty());
}

#[test]
fn a_directory_on_a_read_only_file_system_is_refused() {
    let home = Home::new();
    let recipe = home.recipe("", SHORT);
    let below = tempfile::tempdir().unwrap();
    let bound = TestMount::new(&["--bind", "-o", "ro"], below.path().to_str().unwrap());
    home.run(&["bench", bound.path(), "--recipe", &recipe]).expect(2).says(&[bound.path(), "read-only"]);
}

/// Runs Cardscope as an unprivileged user, from a copy that this user can execute.
fn as_nobody(home: &Home, arguments: &[&str]) -> Outcome {
    // With its own home, because an archive in a folder that others can change is refused.
    home.give_to(65534);
    let copy = home.path("cardscope");
    if !copy.exists() {
        copy_to(&copy);
    }
    let mut command = home.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(copy).args(arguments);
    Running::of(command).finish()
}

#[test]
fn unwritable_directory_is_refused_and_root_is_not_needed() {
    let home = Home::new();
    let recipe = home.recipe("", SHORT);
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().to_str().unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    as_nobody(&home, &["bench", name, "--recipe", &recipe]).expect(2).says(&[
        name,
        "Permission denied",
        "choose a writable one",
    ]);
    assert!(names_in(dir.path()).is_empty());
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    as_nobody(&home, &["bench", name, "--recipe", &recipe, "-q"]).expect(0);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn unprivileged_user_gets_advice_for_devices() {
    let home = Home::new();
    let recipe = home.recipe("", SHORT);
    let card = with_data(32, &[]);
    let before = card.content();
    let outcome = as_nobody(&home, &["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path]);
    outcome.expect(2).says(&[&card.path]);
    assert!(before == card.content());
    as_nobody(&home, &["list", "--json"]).expect(0).json();
    as_nobody(&home, &["bench", "sim:constant", "--recipe", &recipe, "--json"]).expect(0).json();
}

#[test]
fn an_archive_that_cannot_be_written_ends_the_session_before_anything_is_measured() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let mounted = TestMount::new(&["--bind", "-o", "ro"], dir.path().to_str().unwrap());
    let archive = mounted.point.join("archive.sqlite");
    let archive = archive.to_str().unwrap();
    let outcome =
        home.run(&["bench", "sim:constant", "--archive", archive, "--json"]).expect(3).says(&[archive]);
    assert!(!text(&outcome.json(), "/error").is_empty());
    assert!(!outcome.stderr.contains("measuring"), "nothing was measured that could not be kept\n{outcome}");
    let notes = home.path("notes.txt");
    std::fs::write(&notes, "not an archive, and of some length at that").unwrap();
    let name = notes.to_str().unwrap();
    let outcome = home.run(&["bench", "sim:constant", "--archive", name, "--json"]).says(&["notes.txt"]);
    assert!([Some(2), Some(3)].contains(&outcome.status.code()), "{outcome}");
    assert!(std::fs::read_to_string(notes).unwrap().starts_with("not an archive"), "and it is left as it is");
}

#[test]
fn an_archive_on_a_disk_that_fills_up_ends_the_session_and_the_document_still_comes() {
    let home = Home::new();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=1m"], "tmpfs");
    let archive = disk.point.join("archive.sqlite");
    let tests = "[defaults]\nseconds = 20\nloops = 2000\n[[test]]\ntest = \"SEQ1M Q1T1 read\"\n";
    let recipe = home.recipe("prepare = false", tests);
    let archive_name = archive.to_str().unwrap();
    let outcome =
        home.run(&["bench", "sim:constant", "--recipe", &recipe, "--archive", archive_name, "--json"]);
    let outcome = outcome.expect(3).says(&["archive"]);
    let document = outcome.json();
    let measured = list(&document, "/runs/0/results/0/loops").len();
    assert!(measured > 0 && !text(&document, "/error").is_empty(), "{outcome}");
    // A copy, because reading the archive needs space for its log.
    let copy = home.path("copy.sqlite");
    for ending in ["", "-wal"] {
        let _ = std::fs::copy(format!("{archive_name}{ending}"), format!("{}{ending}", copy.display()));
    }
    let kept = crate::common::binary::sessions_in(&copy)[0].file.runs[0].samples.len();
    assert!(kept >= measured, "{kept} of {measured} finished loops are kept");
}

#[test]
fn document_states_a_failed_archive_write() {
    let home = Home::new();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=1m"], "tmpfs");
    let archive = disk.point.join("archive.sqlite");
    let archive = archive.to_str().unwrap();
    home.run(&["verify", "sim:constant?announced_bytes=64MiB", "--archive", archive]).expect(0);
    // Space for the beginning of a record, but not for a map's curves.
    let taken = std::fs::metadata(archive).unwrap().len();
    std::fs::write(disk.point.join("films"), vec![7; ((1 << 20) - taken - (132 << 10)) as usize]).unwrap();
    let outcome =
        home.run(&["map", "sim:lexar-16g-c10", "--read-only", "--archive", archive, "--json"]).expect(3);
    let document = outcome.json();
    assert!(text(&document, "/error").contains("archive"), "{document:#}");
    assert!(crate::common::number(&document, "/page_bytes/value") > 0.0, "and what was measured is there");
}

/// Runs Cardscope where seccomp answers EPERM to io_uring_setup(2), as in containers.
fn without_io_uring(home: &Home, arguments: &[&str]) -> Outcome {
    // Classic BPF filter: load the syscall number; 425 (io_uring_setup on all machines) gets EPERM.
    let script = "import ctypes, os, struct, sys\n\
        code = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]\n\
        text = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))\n\
        class Program(ctypes.Structure): _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_void_p)]\n\
        program = Program(len(code), ctypes.addressof(text))\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        assert libc.prctl(38, 1, 0, 0, 0) == 0, 'PR_SET_NO_NEW_PRIVS'\n\
        assert libc.prctl(22, 2, ctypes.byref(program)) == 0, 'PR_SET_SECCOMP'\n\
        os.execv(sys.argv[1], sys.argv[1:])";
    let mut command = home.command("python3");
    command.args(["-c", script, CARDSCOPE]).args(arguments);
    Running::of(command).finish()
}

#[test]
fn pread_replaces_forbidden_io_uring_with_a_caveat() {
    let home = Home::new();
    let tests = "[defaults]\npasses = 1\n[[test]]\ntest = \"RND4K Q32T1 write\"\n[[test]]\ntest = \"RND4K Q4T4 read\"\n";
    let recipe = home.recipe("", tests);
    let card = with_data(32, &[]);
    let dir = tempfile::tempdir().unwrap();
    for target in [card.path.as_str(), dir.path().to_str().unwrap()] {
        let arguments = ["bench", target, "--recipe", &recipe, "--yes-destroy", target, "--json"];
        let refused = without_io_uring(&home, &arguments).expect(0);
        let document = refused.json();
        assert_eq!(text(&document, "/io_path"), "preads", "{refused}");
        assert!(caveats(&document).contains(&"no-io-uring"), "{refused}");
        for result in crate::common::results(&document) {
            assert_eq!(result["bytes"], 16 * MIB, "{refused}");
        }
        let allowed = home.run(&arguments).expect(0).json();
        assert_eq!(text(&allowed, "/io_path"), "io_uring", "this kernel allows it elsewhere");
        assert!(!caveats(&allowed).contains(&"no-io-uring"));
    }
}

#[test]
fn stacked_file_systems_are_named() {
    let home = Home::new();
    let recipe = home.recipe("", SHORT);
    let memory = TestMount::new(&["-t", "tmpfs", "-o", "size=64m"], "tmpfs");
    let document = home.run(&["bench", memory.path(), "--recipe", &recipe, "--json"]).expect(0).json();
    assert_eq!(text(&document, "/condition/file_system"), "tmpfs");
    assert!(caveats(&document).contains(&"layered"), "{document:#}");
    let served = Served::start(&home, "constant", &["--no-timing"]);
    let card = served.card();
    let card = card.to_str().unwrap();
    let outcome = home.run(&["bench", card, "--recipe", &recipe, "--yes-destroy", card, "--json"]).expect(0);
    assert!(text(&outcome.json(), "/condition/file_system").contains("fuse"), "{outcome}");
    assert!(caveats(&outcome.json()).contains(&"layered"), "{outcome}");
}
