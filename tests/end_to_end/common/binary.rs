//! The built binary: started with an archive of its own, ended when dropped, and everything it said at hand when a
//! test fails.

use super::PATIENCE;
use super::machine::{names_in, tool};
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

/// The program under test.
pub(crate) const CARDSCOPE: &str = env!("CARGO_BIN_EXE_cardscope");

/// A copy of the program, for users who cannot reach the built one. Another process makes it: a file that this one has open
/// for writing is also open in whatever its other threads are just starting, and could not be run.
#[track_caller]
pub(crate) fn copy_to(path: &Path) {
    tool("cp", &[CARDSCOPE, path.to_str().unwrap()]);
}

/// A user's home with nothing in it: the archive and the recipes of one test. What a program keeps lies in memory, where no
/// other test fills its disk: hundreds of waits for one are minutes beside all others.
pub(crate) struct Home {
    dir: TempDir,
    kept: TempDir,
    _turn: Arc<Turn>,
}

impl Home {
    /// A home of its own; waits while a test runs that needs the machine to itself.
    pub(crate) fn new() -> Self {
        Self::that_keeps_in(Path::new("/dev/shm"))
    }

    /// The same, all of it on a disk, for a command that says what its folders lie on.
    pub(crate) fn on_disk() -> Self {
        Self::that_keeps_in(&std::env::temp_dir())
    }

    fn that_keeps_in(folder: &Path) -> Self {
        let turn = turns::beside_others();
        let dir = tempfile::tempdir().unwrap();
        Home { dir, kept: tempfile::tempdir_in(folder).unwrap(), _turn: turn }
    }

    /// What has this name in the home; `data` and `state` are the folders that programs keep in.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let kept = ["data", "state"].iter().any(|folder| Path::new(name).starts_with(folder));
        if kept { self.kept.path().join(name) } else { self.dir.path().join(name) }
    }

    /// The names of everything in it.
    pub(crate) fn names(&self) -> Vec<String> {
        [self.dir.path(), self.kept.path()].map(names_in).concat()
    }

    /// Gives it to another user; others may look into it, and no more.
    pub(crate) fn give_to(&self, user: u32) {
        for folder in [self.dir.path(), self.kept.path()] {
            std::os::unix::fs::chown(folder, Some(user), Some(user)).expect("this test needs root");
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }

    /// A program that finds this home: `cardscope`, or what starts it.
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

    /// Runs `cardscope` to its end.
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

    /// Writes a recipe of the user's own; gives its path. `[area]` holds `size = "16MiB"` unless `area` says more.
    pub(crate) fn recipe(&self, area: &str, tests: &str) -> String {
        let path = self.path("own.toml");
        let size = if area.contains("size") { "" } else { "size = \"16MiB\"\n" };
        let head = "name = \"own\"\ntitle = \"a test's own\"\nversion = 1\nsource = \"made up\"\n";
        std::fs::write(&path, format!("{head}[area]\n{size}{area}\n{tests}")).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The archive's file.
    pub(crate) fn archive(&self) -> PathBuf {
        self.path("data/cardscope/archive.sqlite")
    }

    /// All sessions in the archive that have runs, whole.
    pub(crate) fn sessions(&self) -> Vec<StoredSession> {
        sessions_in(&self.archive())
    }
}

/// All sessions in an archive that have runs; none where there is no archive.
pub(crate) fn sessions_in(archive: &Path) -> Vec<StoredSession> {
    if !archive.exists() {
        return Vec::new();
    }
    let mut archive = Archive::open(archive).unwrap();
    let all = archive.sessions().unwrap().into_iter().filter(|session| !session.is_record);
    all.map(|s| archive.session(s.id).unwrap()).collect()
}

/// What a program left behind; printed whole where a test fails.
pub(crate) struct Outcome {
    pub(crate) command: String,
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Outcome {
    /// Demands an exit status.
    #[track_caller]
    pub(crate) fn expect(self, status: i32) -> Self {
        assert_eq!(self.status.code(), Some(status), "exit status {status} was expected\n{self}");
        self
    }

    /// Demands that stderr holds all of these.
    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} was expected on stderr\n{self}");
        }
        self
    }

    /// What stdout says, without the ends of its lines: a page breaks sentences where the screen ends.
    pub(crate) fn one_line(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The document on stdout, which must hold it and nothing else.
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

/// A program under way; killed when dropped.
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

    /// What it printed on stdout so far.
    pub(crate) fn printed(&self) -> String {
        self.said(0)
    }

    /// What it printed on stderr so far.
    pub(crate) fn noted(&self) -> String {
        self.said(1)
    }

    /// Waits until stderr holds a text.
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

    /// True once it has ended.
    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process(id, signal).unwrap();
    }

    /// Waits for its end, which must come within [`PATIENCE`].
    #[track_caller]
    pub(crate) fn finish(self) -> Outcome {
        self.finish_within(PATIENCE)
    }

    /// Waits for its end, which must come within `limit` from now.
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
