//! Response to signals: within two seconds Cardscope ends, or states what it waits for; a second signal ends it at
//! once. No input file blocks it.

use crate::common::binary::{CARDSCOPE, Home, Running};
use crate::common::machine::names_in;
use crate::common::served::Served;
use crate::common::until;
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Two seconds, plus the time that twenty trivial programs take on this machine.
fn soon() -> Duration {
    let began = Instant::now();
    Home::new().run(&["--version"]).expect(0);
    Duration::from_secs(2) + 20 * began.elapsed()
}

/// Pipe without a writer, under a name that may have an extension.
fn pipe(home: &Home, name: &str) -> String {
    let path = home.path(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn pipes_and_endless_devices_are_refused_at_once() {
    let home = Home::new();
    let (pipe, toml) = (pipe(&home, "pipe"), pipe(&home, "pipe.toml"));
    let card = format!("sim:{toml}");
    let image = home.path("image");
    std::fs::write(&image, vec![0; 1 << 20]).unwrap();
    let image = image.to_str().unwrap();
    for arguments in [
        &["bench", "sim:constant", "--recipe", &pipe] as &[&str],
        &["bench", "sim:constant", "--recipe", "/dev/zero"],
        &["bench", "sim:constant", "--recipe", "/dev/full"],
        &["bench", &card],
        &["rank", "--for", &toml],
        &["rank", "--for", "pi-boot", "--on", &toml],
        &["sustain", "sim:constant", "--against", &pipe],
        &["restore", &pipe],
        &["restore", &pipe, image],
        &["fit", &pipe],
        &["compare", &pipe, "sandisk"],
    ] {
        let outcome = home.start(arguments).finish_within(Duration::from_secs(60)).expect(2);
        assert!(outcome.took < soon(), "{outcome}");
    }
    let taken = home.run(&["archive", "import", &pipe]).expect(1);
    assert!(taken.one_line().contains("it is a pipe, not a plain file"), "{taken}");
}

#[test]
fn endless_text_is_refused_after_a_limit() {
    let home = Home::new();
    let long = home.path("long.toml");
    let file = std::fs::File::create(&long).unwrap();
    file.set_len(8 << 30).unwrap();
    let long = long.to_str().unwrap();
    home.run(&["bench", "sim:constant", "--recipe", long]).expect(2).says(&[long, "1 MiB"]);
}

/// Asserts that a waiting program ends soon after a signal, with status 130.
#[track_caller]
fn ends_soon(running: Running, signal: Signal) {
    let limit = soon();
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    running.signal(signal);
    let outcome = running.finish_within(Duration::from_secs(60)).expect(130);
    assert!(began.elapsed() < limit, "{:?} for {signal:?}\n{outcome}", began.elapsed());
}

#[test]
fn waiting_for_a_pipe_ends_on_any_signal() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let pipe = pipe(&home, "log");
        ends_soon(home.start(&["import", &pipe]), signal);
        ends_soon(home.start(&["import", &pipe, "--dry-run", "--json"]), signal);
        let mut command = home.command(CARDSCOPE);
        command.args(["import", "-"]).stdin(Stdio::piped());
        ends_soon(Running::of(command), signal);
    }
}

#[test]
fn log_from_a_pipe_is_read_completely() {
    let home = Home::new();
    let pipe = pipe(&home, "log");
    let import = home.start(&["import", &pipe, "--dry-run", "--json"]);
    let log = " Timing buffered disk reads: 204 MB in  3.02 seconds =  67.51 MB/sec\n";
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(&pipe, format!("/dev/sda:\n{log}")).unwrap();
    let document = import.finish_within(Duration::from_secs(60)).expect(0).json();
    assert_eq!(document["files"][0]["runs"][0]["results"][0]["as_printed"]["value"], 67.51, "{document:#}");
}

/// Card slow enough to be interrupted at any point: 4 ms a command.
const SLOW: &str = "constant?command_s=0.004&mb_s=100&announced_bytes=64MiB";

/// True if a program has ended, or only the kernel keeps it until its I/O ends.
fn is_ending(running: &mut Running) -> bool {
    let is_last = |line: &str| {
        line == "interrupted"
            || line.starts_with("ended at once")
            || line.starts_with("cardscope: interrupted")
    };
    running.is_over() || running.noted().lines().any(is_last)
}

/// I/O of a program since its start, in bytes and calls.
fn moved_so_far(id: u32) -> String {
    std::fs::read_to_string(format!("/proc/{id}/io")).unwrap_or_default()
}

/// Freezes a card in the middle of a verb and asserts a response to a signal, then status 130 after a second signal.
/// Returns the last output.
#[track_caller]
fn answers_while_the_card_hangs(served: &Served, mut running: Running, begun: impl Fn() -> bool) -> String {
    until("work on the card", || begun() && !running.noted().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    let frozen = served.freeze();
    // Time for a journal that is being synced to a busy disk, so that the program waits for the card.
    std::thread::sleep(Duration::from_millis(1500));
    until("the program to stand still", || {
        let moved = moved_so_far(running.id());
        std::thread::sleep(Duration::from_millis(500));
        running.is_over() || moved == moved_so_far(running.id())
    });
    let limit = soon();
    let asked = Instant::now();
    running.signal(Signal::TERM);
    until("an answer", || running.is_over() || running.noted().contains("interrupted"));
    assert!(asked.elapsed() < limit, "{:?}\n{}", asked.elapsed(), running.noted());
    if !is_ending(&mut running) {
        std::thread::sleep(Duration::from_millis(600).saturating_sub(asked.elapsed()));
        let asked = Instant::now();
        running.signal(Signal::TERM);
        until("the end", || is_ending(&mut running));
        assert!(asked.elapsed() < limit, "{:?}\n{}", asked.elapsed(), running.noted());
    }
    // The kernel keeps a process until its I/O ends.
    drop(frozen);
    let outcome = running.finish_within(Duration::from_secs(60)).expect(130);
    outcome.stderr
}

/// Incompressible bytes.
fn noise(len: usize) -> Vec<u8> {
    let (mut noise, mut state) = (vec![0; len], 0x9e37_79b9_7f4a_7c15_u64);
    for word in noise.chunks_exact_mut(8) {
        // Marsaglia's xorshift, 64 bits.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        word.copy_from_slice(&state.to_le_bytes());
    }
    noise
}

/// Journals of a home, and the bytes of their disk blocks.
fn journalled(home: &Home) -> (Vec<PathBuf>, u64) {
    let folder = home.path("state/cardscope");
    let all: Vec<PathBuf> =
        if folder.exists() { names_in(&folder).iter().map(|n| folder.join(n)).collect() } else { Vec::new() };
    let journals: Vec<PathBuf> =
        all.into_iter().filter(|p| p.to_string_lossy().contains("journal")).collect();
    let bytes = journals.iter().filter_map(|p| p.metadata().ok()).map(|m| m.len()).sum();
    (journals, bytes)
}

#[test]
fn second_signal_during_a_hung_io_leaves_a_complete_journal() {
    for io in ["auto", "preads"] {
        let home = Home::new();
        let served = Served::start(&home, SLOW, &[]);
        let card = served.card();
        std::fs::write(&card, noise(64 << 20)).unwrap();
        let before = std::fs::read(&card).unwrap();
        let name = card.to_str().unwrap();
        let mut command = home.command(CARDSCOPE);
        command.args(["verify", name]).env("CARDSCOPE_IO", io);
        let running = Running::of(command);
        let said = answers_while_the_card_hangs(&served, running, || journalled(&home).1 > 1 << 20);
        // The wait is for an I/O, or for the check of the card between two of them.
        let waits = ["interrupted: waiting for a ", "interrupted: waiting for the look "];
        assert!(waits.iter().any(|words| said.contains(words)), "{said}");
        for words in ["saved are restored", "Press Ctrl-C again", "ended at once", "cardscope restore"] {
            assert!(said.contains(words), "{words:?} was expected\n{said}");
        }
        let (journals, _) = journalled(&home);
        assert_eq!(journals.len(), 1, "{said}");
        home.run(&["restore", journals[0].to_str().unwrap()]).expect(0);
        assert!(std::fs::read(&card).unwrap() == before, "the card is as it was");
        assert!(journalled(&home).0.is_empty());
    }
}

#[test]
fn verbs_respond_to_signals_while_the_card_hangs() {
    let home = Home::new();
    let recipe = home.recipe("prepare = false", "[[test]]\ntest = \"RND4K Q8T2 write\"\nseconds = 300\n");
    let backup = home.path("image").to_str().unwrap().to_owned();
    for verb in [
        &["bench", "--recipe", &recipe] as &[&str],
        &["bench", "--recipe", &recipe, "--backup", &backup],
        &["verify", "--full"],
        &["map"],
        &["sustain"],
        &["check"],
        &["endure"],
        &["format", "--overwrite"],
        &["info"],
    ] {
        let served = Served::start(&home, SLOW, &[]);
        let card = served.card();
        let card = card.to_str().unwrap();
        let loses = ["bench", "endure", "format"].contains(&verb[0]) || verb.contains(&"--full");
        let consent: &[&str] = if loses { &["--yes-destroy", card] } else { &[] };
        let arguments = [&[verb[0], card], &verb[1..], consent].concat();
        if verb[0] == "info" {
            // This verb reads only a few sectors, so the card is frozen from the start.
            let frozen = served.freeze();
            let mut running = home.start(&arguments);
            std::thread::sleep(Duration::from_millis(500));
            let limit = soon();
            let asked = Instant::now();
            running.signal(Signal::INT);
            until("the end", || running.noted().contains("interrupted") || running.is_over());
            assert!(asked.elapsed() < limit, "{:?}", asked.elapsed());
            drop(frozen);
            continue;
        }
        answers_while_the_card_hangs(&served, home.start(&arguments), || true);
        let _ = std::fs::remove_file(&backup);
        // A journal that a verb left would block the next verb.
        journalled(&home).0.iter().for_each(|journal| std::fs::remove_file(journal).unwrap());
    }
}
