//! Ctrl-C in every phase, kill -9, and two processes at once: finished samples are kept, and nothing is left behind.

use crate::common::binary::{Home, Outcome, Running};
use crate::common::machine::{LoopDevice, TestMount, names_in, run_tool, with_data};
use crate::common::served::Served;
use crate::common::{list, text, until};
use rustix::process::Signal;
use std::time::Duration;
use tempfile::TempDir;

/// Short test, long rest, then a test that does not end by itself.
const PHASES: &str = "[defaults]\nseconds = 300\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\nseconds = 0.3\nrest_s = 300\n\
                      [[test]]\ntest = \"RND4K Q8T2 read\"\n";
const RESTING: &str = "waiting 300 s";
const ENDLESS: &str = "[[test]]\ntest = \"RND4K Q8T2 read\"\nseconds = 300\n";

/// Session in a directory, interrupted when stderr contains `phase`.
fn interrupted_in(home: &Home, dir: &str, arguments: &[&str], phase: &str, signal: Signal) -> Outcome {
    let mut bench = home.start(&[&["bench", dir, "--json"], arguments].concat());
    bench.wait_for(phase);
    std::thread::sleep(Duration::from_millis(200));
    bench.signal(signal);
    bench.finish_within(Duration::from_secs(30))
}

/// Asserts exit status 130, and a document with the error and so many results, also in the archive.
#[track_caller]
fn kept(home: &Home, outcome: Outcome, results: usize) {
    let outcome = outcome.expect(130).says(&["interrupted"]);
    let document = outcome.json();
    assert!(text(&document, "/error").contains("interrupted"), "{outcome}");
    let found: usize = list(&document, "/runs").iter().map(|run| list(run, "/results").len()).sum();
    assert_eq!(found, results, "{outcome}");
    let sessions = home.sessions();
    assert_eq!(sessions[0].summary.ended.map(|how| how.as_str()), Some("interrupted"));
    assert_eq!(sessions[0].summary.samples as usize, results);
}

#[test]
fn ctrl_c_in_a_loop_keeps_the_tests_before_it_and_removes_the_test_file() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
        let recipe = home.recipe("", &PHASES.replace("rest_s = 300\n", ""));
        let dir_name = dir.path().to_str().unwrap();
        let outcome = interrupted_in(&home, dir_name, &["--recipe", &recipe], "RND4K Q8T2 read", signal);
        kept(&home, outcome, 1);
        assert!(names_in(dir.path()).is_empty());
    }
}

#[test]
fn ctrl_c_while_resting_keeps_the_tests_before_it_and_removes_the_test_file() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let recipe = home.recipe("", PHASES);
    let dir_name = dir.path().to_str().unwrap();
    let outcome = interrupted_in(&home, dir_name, &["--recipe", &recipe], RESTING, Signal::INT);
    kept(&home, outcome, 1);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn ctrl_c_in_a_later_run_keeps_the_runs_before_it() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let tests = "[[test]]\ntest = \"SEQ1M Q1T1 read\"\nseconds = 0.2\n[[test]]\ntest = \"RND4K Q1T1 read\"\nseconds = 2\n";
    let recipe = home.recipe("", tests);
    let dir_name = dir.path().to_str().unwrap();
    let arguments = ["--recipe", &recipe, "--runs", "3"];
    let outcome = interrupted_in(&home, dir_name, &arguments, "RND4K Q1T1 read, run 2 of 3", Signal::INT);
    kept(&home, outcome, 3);
    assert!(names_in(dir.path()).is_empty());
}

/// Directory on a slow card of 10 MB/s, so that preparing takes a while.
struct SlowCard {
    mounted: Option<TestMount>,
    _device: LoopDevice,
    _served: Served,
}

impl SlowCard {
    fn new(home: &Home) -> Self {
        let served = Served::start(home, "constant?command_s=0.0005&mb_s=10&announced_bytes=256MiB", &[]);
        let device = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
        run_tool("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", &device.path]);
        SlowCard { mounted: Some(TestMount::new(&[], &device.path)), _device: device, _served: served }
    }

    fn mounted(&self) -> &TestMount {
        self.mounted.as_ref().unwrap()
    }
}

impl Drop for SlowCard {
    fn drop(&mut self) {
        self.mounted = None;
    }
}

#[test]
fn ctrl_c_while_preparing_leaves_no_result_and_no_test_file() {
    let home = Home::new();
    let card = SlowCard::new(&home);
    let recipe = home.recipe("size = \"128MiB\"", ENDLESS);
    let place = card.mounted();
    let outcome =
        interrupted_in(&home, place.path(), &["--recipe", &recipe], "writing the test area", Signal::INT);
    kept(&home, outcome, 0);
    assert!(names_in(&place.point).is_empty());
}

#[test]
fn ctrl_c_on_a_device_and_on_a_simulated_card_gives_the_document_too() {
    let home = Home::new();
    let card = with_data(32, &[]);
    let recipe = home.recipe("", &PHASES.replace("rest_s = 300\n", ""));
    let arguments = ["--recipe", &recipe, "--yes-destroy", &card.path];
    kept(&home, interrupted_in(&home, &card.path, &arguments, "RND4K Q8T2 read", Signal::INT), 1);
    let home = Home::new();
    let tests = "[defaults]\npasses = 10000\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\n[[test]]\ntest = \"RND4K Q8T2 read\"\n";
    let recipe = home.recipe("", tests);
    kept(
        &home,
        interrupted_in(&home, "sim:constant", &["--recipe", &recipe], "RND4K Q8T2 read", Signal::INT),
        1,
    );
}

#[test]
fn ctrl_c_at_the_question_ends_it_and_nothing_is_written() {
    let home = Home::new();
    let card = with_data(32, &[]);
    let before = card.content();
    let recipe = home.recipe("", ENDLESS);
    // Byte 3 is Ctrl-C on a terminal.
    let script = "import os, pty, sys\npid, fd = pty.fork()\n\
        if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n\
        said = b''\n\
        while b'to go on: ' not in said: said += os.read(fd, 1)\n\
        os.write(fd, b'\\x03')\n\
        try:\n    while True: said += os.read(fd, 4096)\nexcept OSError: pass\n\
        sys.stdout.write(said.decode(errors='replace'))\n\
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";
    let recipe_writes = recipe.clone();
    std::fs::write(&recipe_writes, std::fs::read_to_string(&recipe).unwrap().replace("read", "write"))
        .unwrap();
    let mut command = home.command("python3");
    command.args(["-c", script, crate::common::binary::CARDSCOPE, "bench", &card.path, "--recipe", &recipe]);
    let told = Running::of(command).finish_within(Duration::from_secs(30)).expect(130);
    assert!(told.stdout.contains("interrupted"), "{told}");
    assert!(before == card.content());
}

/// Running session in its own directory.
fn under_way(home: &Home) -> (TempDir, Running) {
    let dir = tempfile::tempdir().unwrap();
    let recipe = home.recipe("", PHASES);
    let mut bench = home.start(&["bench", dir.path().to_str().unwrap(), "--recipe", &recipe, "--json"]);
    bench.wait_for(RESTING);
    (dir, bench)
}

#[test]
fn next_run_cleans_up_after_a_killed_one() {
    let home = Home::new();
    let (dir, bench) = under_way(&home);
    bench.signal(Signal::KILL);
    bench.finish();
    let left = names_in(dir.path());
    assert_eq!(left.len(), 1, "a leftover, or this tests nothing: {left:?}");
    std::fs::write(dir.path().join(".cardscope-test-notes.txt"), "not ours").unwrap();
    let quick = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1\n");
    home.run(&["bench", dir.path().to_str().unwrap(), "--recipe", &quick, "-q"]).expect(0);
    assert_eq!(names_in(dir.path()), [".cardscope-test-notes.txt"], "only what is ours is removed");
    let sessions = home.sessions();
    let killed =
        sessions.iter().find(|s| s.summary.ended.is_none()).expect("the killed session is in the archive");
    assert_eq!((killed.file.runs[0].samples.len(), killed.summary.running), (1, false));
}

#[test]
fn the_second_cardscope_in_a_directory_is_refused_and_does_not_disturb_the_first() {
    let home = Home::new();
    let (dir, bench) = under_way(&home);
    let other = Home::new();
    let recipe = other.recipe("", ENDLESS);
    let second = other.run(&["bench", dir.path().to_str().unwrap(), "--recipe", &recipe]).expect(2);
    second.says(&["another Cardscope"]);
    assert_eq!(names_in(dir.path()).len(), 1, "the first one's file is still there");
    bench.signal(Signal::INT);
    kept(&home, bench.finish(), 1);
    assert!(names_in(dir.path()).is_empty());
}

#[test]
fn the_second_cardscope_on_a_card_is_refused_and_does_not_disturb_the_first() {
    let home = Home::new();
    let card = with_data(32, &[]);
    let recipe = home.recipe("", PHASES);
    let arguments = ["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path, "--json"];
    let mut first = home.start(&arguments);
    first.wait_for(RESTING);
    Home::new().run(&arguments).expect(2).says(&["exclusively", "cardscope"]);
    first.signal(Signal::INT);
    kept(&home, first.finish(), 1);
    until("the card is free again", || {
        Home::new().start(&["list", "--all", "--json"]).finish().json()["devices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|d| d["path"] == card.path && d["safe"] == true)
    });
}

#[test]
fn the_second_cardscope_on_a_file_is_refused() {
    let home = Home::new();
    let dir = tempfile::tempdir().unwrap();
    let file = crate::common::machine::image(dir.path(), 32);
    let file = file.to_str().unwrap();
    let recipe = home.recipe("", PHASES);
    let arguments = ["bench", file, "--recipe", &recipe, "--yes-destroy", file, "--json"];
    let mut first = home.start(&arguments);
    first.wait_for(RESTING);
    Home::new().run(&arguments).expect(2).says(&["locked"]);
    first.signal(Signal::INT);
    kept(&home, first.finish(), 1);
}

#[test]
fn two_sessions_on_two_cards_share_an_archive() {
    let home = Home::new();
    let recipe = home.recipe("", "[[test]]\ntest = \"RND4K Q1T1 read\"\nseconds = 0.1\nloops = 10\n");
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let running: Vec<Running> = dirs
        .iter()
        .map(|d| home.start(&["bench", d.path().to_str().unwrap(), "--recipe", &recipe, "-q"]))
        .collect();
    running.into_iter().for_each(|r| drop(r.finish().expect(0)));
    assert_eq!(home.sessions().iter().map(|s| s.file.runs[0].samples.len()).collect::<Vec<_>>(), [10, 10]);
}
