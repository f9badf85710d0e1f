//! Progress on the terminal: one numbering that never decreases, a moving line that fits, an immediate answer to
//! Ctrl-C; and one line a stage without a terminal.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::image;
use crate::common::served::Served;
use crate::common::until;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Runs a program on a terminal of this width and prints its output in pieces. Presses Ctrl-C after output that
/// matches the second argument, unless that is blank.
const ON_A_TERMINAL: &str = "import fcntl, json, os, pty, re, struct, sys, termios, time\n\
    columns, word = int(sys.argv[1]), sys.argv[2].encode().strip()\n\
    pid, fd = pty.fork()\n\
    if pid == 0:\n\
    \x20   fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))\n\
    \x20   os.environ['TERM'] = 'xterm'\n\
    \x20   os.execv(sys.argv[3], sys.argv[3:])\n\
    said, pieces = b'', []\n\
    try:\n\
    \x20   while True:\n\
    \x20       piece = os.read(fd, 65536)\n\
    \x20       said += piece\n\
    \x20       pieces.append(piece.decode(errors='replace'))\n\
    \x20       if word and re.search(word, said):\n\
    \x20           word = b''\n\
    \x20           time.sleep(1)\n\
    \x20           pieces.append('^C')\n\
    \x20           os.write(fd, b'\\x03')\n\
    except OSError: pass\n\
    json.dump(pieces, sys.stdout)\n\
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";

/// Lines that a program drew on a terminal.
struct Drawn(Vec<String>);

impl Drawn {
    #[track_caller]
    fn of(home: &Home, columns: usize, stop_at: &str, arguments: &[&str], status: i32) -> Self {
        let mut command = home.command("python3");
        command.args(["-c", ON_A_TERMINAL, &columns.to_string(), stop_at, CARDSCOPE]).args(arguments);
        let pieces = Running::of(command).finish().expect(status).json();
        let pieces = pieces.as_array().unwrap().iter().map(|piece| piece.as_str().unwrap());
        let lines = pieces.flat_map(|piece| piece.split(['\r', '\n']).map(plain));
        Drawn(lines.filter(|line| !line.is_empty()).collect())
    }

    /// Lines that are drawn repeatedly.
    fn moving(&self) -> impl Iterator<Item = &str> {
        let turns = |line: &&str| ["| ", "/ ", "- ", "\\ "].iter().any(|sign| line.starts_with(sign));
        self.0.iter().map(String::as_str).filter(turns)
    }
}

/// Text without control sequences.
fn plain(text: &str) -> String {
    text.replace("\x1b[A", "").replace("\x1b[J", "").replace("^[", "")
}

/// `n` and `m` of a line `n/m …`.
fn number(line: &str) -> Option<(u32, u32)> {
    let (number, rest) = line.split_once('/')?;
    Some((number.parse().ok()?, rest.split(' ').next()?.parse().ok()?))
}

/// Asserts stage numbers that never decrease, with one total; returns the last.
#[track_caller]
fn one_numbering<'a>(lines: impl Iterator<Item = &'a str>) -> (u32, u32) {
    let numbers: Vec<(u32, u32)> = lines.filter_map(number).collect();
    assert!(
        numbers.is_sorted() && numbers.iter().all(|(n, of)| n <= of && *of == numbers[0].1),
        "{numbers:?}"
    );
    *numbers.last().expect("something is numbered")
}

#[test]
fn progress_has_one_numbering_and_fits_the_terminal() {
    let home = Home::new();
    for (columns, arguments) in [
        (80, &["check", "sim:lexar-16g-c10"][..]),
        (40, &["check", "sim:sandian-1tb-52g", "--budget", "60s"]),
        (60, &["verify", "sim:lexar-16g-c10"]),
    ] {
        let status = i32::from(arguments.contains(&"sim:sandian-1tb-52g"));
        let drawn = Drawn::of(&home, columns, " ", arguments, status);
        let lines: Vec<&str> = drawn.moving().collect();
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest < columns), "{lines:?}");
        let (last, of) = one_numbering(lines.iter().map(|line| &line[2..]));
        assert!(last > 1 && of == if arguments[0] == "check" { 6 } else { 3 }, "{lines:?}");
    }
}

/// Card slow enough to be interrupted at any point: 6 ms a command.
const SLOW: &str = "constant?command_s=0.006&mb_s=40&announced_bytes=64MiB";

pub(crate) fn slow_card(home: &Home) -> Served {
    let served = Served::start(home, SLOW, &[]);
    let dir = tempfile::tempdir().unwrap();
    std::fs::copy(image(dir.path(), 64), served.card()).unwrap();
    served
}

#[test]
fn progress_line_moves_in_every_phase() {
    let home = Home::new();
    let served = slow_card(&home);
    let drawn = Drawn::of(&home, 80, " ", &["verify", served.card().to_str().unwrap()], 0);
    // More than the spinner must change.
    let mut said: Vec<&str> = drawn.moving().map(|line| &line[2..]).collect();
    said.dedup();
    for stage in ["1/3 ", "2/3 ", "3/3 "] {
        let of_stage = said.iter().filter(|line| line.starts_with(stage)).count();
        assert!(of_stage > 3, "{stage}stood still: {said:?}");
    }
    assert!(said.iter().any(|line| line.contains(" MB · ") && line.contains(" MB/s")), "{said:?}");
    assert!(said.iter().any(|line| line.contains("3/3 restoring") && line.ends_with(" left")), "{said:?}");
}

#[test]
fn ctrl_c_announces_restoring_at_once() {
    let home = Home::new();
    let served = slow_card(&home);
    let before = std::fs::read(served.card()).unwrap();
    // The name of a stage is drawn before anything is written.
    let drawn =
        Drawn::of(&home, 80, "[1-9][0-9.]* of [0-9.]* MB", &["verify", served.card().to_str().unwrap()], 130);
    let at = |word: &str| drawn.0.iter().position(|line| line.contains(word));
    let (asked, answered) = (at("^C").unwrap(), at("stopping: restoring").expect("it says what it restores"));
    assert!(asked < answered, "{:?}", drawn.0);
    // The answer comes before restoring, however long that takes.
    assert!(!drawn.0[asked..answered].iter().any(|line| line.contains("3/3")), "{:?}", drawn.0);
    assert!(before == std::fs::read(served.card()).unwrap(), "the card is as it was");
}

#[test]
fn without_terminal_ctrl_c_announces_restoring_in_one_line() {
    let home = Home::new();
    let served = slow_card(&home);
    let mut verify = home.start(&["verify", served.card().to_str().unwrap()]);
    let journal = home.path("state/cardscope");
    let saved = |folder: &Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|about| about.len()).sum::<u64>()
    };
    verify.wait_for("1/3 writing test data");
    until("something is saved", || saved(&journal) > 4 << 20);
    verify.signal(Signal::INT);
    let outcome = verify.finish_within(Duration::from_secs(60)).expect(130);
    let stopping: Vec<&str> = outcome.stderr.lines().filter(|line| line.starts_with("stopping")).collect();
    assert_eq!(stopping.len(), 1, "{outcome}");
    assert!(stopping[0].starts_with("stopping: restoring ") && stopping[0].ends_with(" s"), "{outcome}");
}

#[test]
fn without_terminal_each_stage_is_one_line() {
    let home = Home::new();
    let (card, fast) = ("sim:constant?announced_bytes=256MiB", "sim:sdsc-2g");
    let recipe = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\nloops = 5\n");
    for arguments in [
        &["check", fast, "--budget", "60s"][..],
        &["verify", fast],
        &["verify", card, "--full", "--yes-destroy", card],
        &["map", fast],
        &["bench", card, "--recipe", &recipe, "--runs", "3", "--yes-destroy", card],
        &["sustain", card, "--erase", "--yes-destroy", card, "--duration", "3m"],
        &["endure", card, "--rounds", "3", "--yes-destroy", card],
        &["format", card, "--overwrite", "--yes-destroy", card],
    ] {
        let outcome = home.run(&[arguments, &["--json"]].concat());
        let document: Value = outcome.json();
        assert!(document["error"].is_null(), "{outcome}");
        let lines = outcome.stderr.lines().filter(|line| number(line).is_some());
        let (last, of) = one_numbering(lines.clone());
        assert_eq!(last, of, "{outcome}");
        let mut numbers: Vec<_> = lines.filter_map(number).collect();
        numbers.dedup();
        let stages = outcome.stderr.lines().filter(|line| number(line).is_some()).count();
        assert_eq!(numbers.len(), stages, "one line a stage\n{outcome}");
    }
}
