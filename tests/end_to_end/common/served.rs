//! A simulated card served as a file by `cardscope sim serve`, and unmounted when dropped.

use super::binary::{Home, Outcome, Running};
use super::machine::undo_when_free;
use super::until;
use rustix::fs::{Mode, OFlags, fstat, open};
use rustix::io::pread;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Running server with its mount.
pub(crate) struct Served {
    running: Option<Running>,
    dir: TempDir,
}

impl Served {
    /// Serves `name` in a new directory; returns when the file exists.
    #[track_caller]
    pub(crate) fn start(home: &Home, name: &str, options: &[&str]) -> Self {
        let mut served = Served { running: None, dir: tempfile::tempdir().unwrap() };
        served.serve(home, name, options);
        served
    }

    /// Starts another server in the same directory.
    #[track_caller]
    pub(crate) fn serve(&mut self, home: &Home, name: &str, options: &[&str]) {
        self.serve_all(home, &[name], options);
        until("the served file", || self.card().exists());
    }

    /// Serves several cards, each in a subdirectory.
    #[track_caller]
    pub(crate) fn several(home: &Home, names: &[&str], options: &[&str]) -> Self {
        let mut served = Served { running: None, dir: tempfile::tempdir().unwrap() };
        served.serve_all(home, names, options);
        served
    }

    /// Starts a server for several cards in the same directory.
    #[track_caller]
    pub(crate) fn serve_all(&mut self, home: &Home, names: &[&str], options: &[&str]) {
        let directory = self.dir.path().to_str().unwrap();
        let arguments = [&["sim", "serve"], names, &["--mount", directory], options].concat();
        let mut running = home.start(&arguments);
        running.wait_for("/card");
        self.running = Some(running);
    }

    /// Process of the server.
    pub(crate) fn id(&self) -> Pid {
        let id = self.running.as_ref().expect("it is running").id();
        Pid::from_raw(id.cast_signed()).unwrap()
    }

    /// Current content of `counters.json` or `truth.json`.
    #[track_caller]
    pub(crate) fn document(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.dir.path().join(name)).unwrap()).unwrap()
    }

    /// Waits until the server ends by itself.
    pub(crate) fn finish(&mut self) -> Outcome {
        self.running.take().expect("it is running").finish_within(Duration::from_secs(20))
    }

    pub(crate) fn directory(&self) -> &Path {
        self.dir.path()
    }

    /// File that represents the card.
    pub(crate) fn card(&self) -> PathBuf {
        self.dir.path().join("card")
    }

    /// Content of the card without the page cache. Failed reads are repeated; unreadable blocks remain zero.
    pub(crate) fn content(&self) -> Vec<u8> {
        const PIECE: usize = 4096;
        let file =
            open(self.card(), OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let bytes = usize::try_from(fstat(&file).unwrap().st_size).unwrap();
        let mut memory = vec![0; bytes + PIECE];
        let shift = memory.as_ptr().align_offset(PIECE);
        let content = &mut memory[shift..shift + bytes];
        for (at, mebibyte) in (0..).step_by(1 << 20).zip(content.chunks_mut(1 << 20)) {
            if pread(&file, &mut *mebibyte, at) == Ok(mebibyte.len()) {
                continue;
            }
            for (at, piece) in (at..).step_by(PIECE).zip(mebibyte.chunks_mut(PIECE)) {
                let read = (0..20).any(|_| pread(&file, &mut *piece, at) == Ok(piece.len()));
                if !read {
                    piece.fill(0);
                }
            }
        }
        content.to_vec()
    }

    /// Kills the server, which leaves a dead mount.
    pub(crate) fn kill(&mut self) {
        let running = self.running.take().expect("it is running");
        running.signal(Signal::KILL);
        running.finish();
    }

    /// Freezes the server until the result is dropped. All its threads have stopped when this returns, because one in
    /// the middle of a request would keep the requesting process from ending.
    pub(crate) fn freeze(&self) -> Frozen {
        let frozen = Frozen(self.id());
        kill_process(frozen.0, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(frozen.0), WaitOptions::UNTRACED).unwrap().expect("it is waited for");
        assert!(status.stopped(), "the server ended: {status:?}");
        frozen
    }

    /// Ends the server by a signal that it handles.
    pub(crate) fn stop(&mut self, signal: Signal) -> Outcome {
        let running = self.running.take().expect("it is running");
        running.signal(signal);
        running.finish_within(Duration::from_secs(20))
    }
}

/// Frozen card.
pub(crate) struct Frozen(Pid);

impl Drop for Frozen {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::CONT);
    }
}

/// True if something is mounted on a directory.
pub(crate) fn is_mounted(directory: &Path) -> bool {
    mounts_in(directory).iter().any(|mount| mount == directory)
}

/// Mounts on a directory and below.
pub(crate) fn mounts_in(directory: &Path) -> Vec<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(PathBuf::from);
    points.filter(|point| point.starts_with(directory)).collect()
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            // Gives it time to unmount; a hung server is killed when `running` is dropped.
            running.signal(Signal::TERM);
            for _ in 0..500 {
                if mounts_in(self.dir.path()).is_empty() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        for mount in mounts_in(self.dir.path()) {
            undo_when_free("umount", &["-l", mount.to_str().unwrap()]);
        }
    }
}
