//! The built binary: started with its own archive, killed when dropped, with its output at hand when a test fails.

use super::PATIENCE;
use super::machine::{names_in, run_tool};
use super::turns::{self, Turn};
use cardscope_store::{Archive, StoredSession};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fmt;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Path of the program under test.
pub(crate) const CARDSCOPE: &str = env!("CARGO_BIN_EXE_cardscope");

/// Copies the program for users who cannot reach the built one. Another process copies it: a file that this process
/// has open for writing is inherited by children of other threads and could not be executed.
#[track_caller]
pub(crate) fn copy_to(path: &Path) {
    run_tool("cp", &[CARDSCOPE, path.to_str().unwrap()]);
}

/// Empty home of a user, with archive and recipes of one test. It is in memory, because waiting for a disk that other
/// tests fill takes minutes.
pub(crate) struct Home {
    dir: TempDir,
    kept: TempDir,
    _turn: Arc<Turn>,
}

impl Home {
    /// Creates a home; waits while a test needs the machine alone.
    pub(crate) fn new() -> Self {
        Self::that_keeps_in(Path::new("/dev/shm"))
    }

    /// Same, on a disk, for commands that report the file system of their folders.
    pub(crate) fn on_disk() -> Self {
        Self::that_keeps_in(&std::env::temp_dir())
    }

    fn that_keeps_in(folder: &Path) -> Self {
        let turn = turns::beside_others();
        let dir = tempfile::tempdir().unwrap();
        Home { dir, kept: tempfile::tempdir_in(folder).unwrap(), _turn: turn }
    }

    /// Path of a name in the home; `data` and `state` are the XDG folders.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let kept = ["data", "state"].iter().any(|folder| Path::new(name).starts_with(folder));
        if kept { self.kept.path().join(name) } else { self.dir.path().join(name) }
    }

    /// Names in the home.
    pub(crate) fn names(&self) -> Vec<String> {
        [self.dir.path(), self.kept.path()].map(names_in).concat()
    }

    /// Gives the home to another user. Others may read it.
    pub(crate) fn give_to(&self, user: u32) {
        for folder in [self.dir.path(), self.kept.path()] {
            std::os::unix::fs::chown(folder, Some(user), Some(user)).expect("this test needs root");
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// Command with this home: `cardscope`, or a program that starts it.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("HOME", self.dir.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_STATE_HOME", self.path("state"));
        command.env_remove("CARDSCOPE_ARCHIVE").env_remove("CARDSCOPE_IO");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `cardscope` and waits for its end.
    #[track_caller]
    pub(crate) fn run(&self, arguments: &[&str]) -> Outcome {
        self.start(arguments).finish()
    }

    /// Starts `cardscope`.
    #[track_caller]
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(CARDSCOPE);
        command.args(arguments);
        Running::of(command)
    }

    /// Writes a recipe and returns its path. `area` replaces the default `size = "16MiB"` in `[area]`.
    pub(crate) fn recipe(&self, area: &str, tests: &str) -> String {
        let path = self.path("own.toml");
        let size = if area.contains("size") { "" } else { "size = \"16MiB\"\n" };
        let head = "name = \"own\"\ntitle = \"a test's own\"\nversion = 1\nsource = \"made up\"\n";
        std::fs::write(&path, format!("{head}[area]\n{size}{area}\n{tests}")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Path of the archive.
    pub(crate) fn archive(&self) -> PathBuf {
        self.path("data/cardscope/archive.sqlite")
    }

    /// Sessions with runs in the archive.
    pub(crate) fn sessions(&self) -> Vec<StoredSession> {
        sessions_in(&self.archive())
    }
}

/// Sessions with runs in an archive; empty if it does not exist.
pub(crate) fn sessions_in(archive: &Path) -> Vec<StoredSession> {
    if !archive.exists() {
        return Vec::new();
    }
    let mut archive = Archive::open(archive).unwrap();
    let all = archive.sessions().unwrap().into_iter().filter(|session| !session.is_record);
    all.map(|s| archive.session(s.id).unwrap()).collect()
}

/// Exit status and output of a program, which a failing test prints.
pub(crate) struct Outcome {
    pub(crate) command: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Outcome {
    /// Asserts the exit status.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status.code(), Some(status), "exit status {status} was expected\n{self}");
        self
    }

    /// Asserts that stderr contains all words.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} was expected on stderr\n{self}");
        }
        self
    }

    /// Standard output without line breaks, which depend on the width.
    pub(crate) fn one_line(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Document on stdout, which must have nothing else.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("stdout is not one JSON document: {e}\n{self}"))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = self.status.signal().map_or(String::new(), |s| format!(", signal {s}"));
        write!(
            f,
            "{} ended with {:?}{signal} after {:.1} s\n--- stdout\n{}\n--- stderr\n{}",
            self.command,
            self.status.code(),
            self.took.as_secs_f64(),
            self.stdout,
            self.stderr
        )
    }
}

/// Running program, killed when dropped.
pub(crate) struct Running {
    command: String,
    child: Child,
    started: Instant,
    said: [Arc<Mutex<Vec<u8>>>; 2],
    readers: Vec<JoinHandle<()>>,
}

impl Running {
    #[track_caller]
    pub(crate) fn of(mut command: Command) -> Self {
        let name = format!("{command:?}");
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{name} is needed for this test: {e}"));
        let said = [Arc::default(), Arc::default()];
        let mut readers = Vec::new();
        readers.extend(child.stdout.take().map(|pipe| follow(pipe, &said[0])));
        readers.extend(child.stderr.take().map(|pipe| follow(pipe, &said[1])));
        Running { command: name, child, started: Instant::now(), said, readers }
    }

    fn said(&self, which: usize) -> String {
        String::from_utf8_lossy(&self.said[which].lock().unwrap()).into_owned()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Output on stdout so far.
    pub(crate) fn printed(&self) -> String {
        self.said(0)
    }

    /// Output on stderr so far.
    pub(crate) fn noted(&self) -> String {
        self.said(1)
    }

    /// Waits until stderr contains a text.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, word: &str) {
        while !self.said(1).contains(word) {
            let over =
                self.child.try_wait().unwrap().is_some() && self.readers.iter().all(JoinHandle::is_finished);
            let (out, err) = (self.said(0), self.said(1));
            if (over && !err.contains(word)) || self.started.elapsed() > PATIENCE {
                panic!("{} never said {word:?}\n--- stdout\n{out}\n--- stderr\n{err}", self.command);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// True if the program has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Waits for the end, at most [`PATIENCE`].
    #[track_caller]
    pub(crate) fn finish(self) -> Outcome {
        self.finish_within(PATIENCE)
    }

    /// Waits for the end, at most `limit` from now.
    #[track_caller]
    pub(crate) fn finish_within(mut self, limit: Duration) -> Outcome {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > limit {
                let (out, err) = (self.said(0), self.said(1));
                panic!(
                    "{} hangs: no end within {limit:?}\n--- stdout\n{out}\n--- stderr\n{err}",
                    self.command
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = self.started.elapsed();
        self.readers.drain(..).for_each(|reader| reader.join().unwrap());
        Outcome { command: self.command.clone(), status, stdout: self.said(0), stderr: self.said(1), took }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(mut pipe: impl Read + Send + 'static, into: &Arc<Mutex<Vec<u8>>>) -> JoinHandle<()> {
    let into = Arc::clone(into);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = pipe.read(&mut piece) {
            into.lock().unwrap().extend_from_slice(&piece[..n]);
        }
    })
}
