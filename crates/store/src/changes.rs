//! Whether anybody changes sessions or cards of an archive: what lists that stay open ask, so that they are read anew only then.
//!
//! A server tells it by itself (LISTEN): whoever writes announces it in the same transaction
//! ([`Connection::announce`](crate::connection::Connection)). A file is looked at: when it and its log were last written. It
//! is not held open by SQLite, which maps the index of the log into memory: where the file system becomes read-only, as
//! a kernel makes one that is damaged, the next write to that memory would end the process.

use crate::address::DatabaseAddress;
use crate::connection::CHANNEL;
use crate::{ArchiveError, archive_file, postgres};
use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Runtime;

/// How often a file is looked at.
const LOOKS: Duration = Duration::from_millis(500);

/// The kernel's clock of files stands still for so long at most: a file that was written less ago may have been written again
/// without a sign (`CONFIG_HZ` is 100 at least, which is 10 ms; the rest is room).
const TICK: Duration = Duration::from_millis(50);

/// So many times the clock is waited for.
const TRIES_TO_SETTLE: u32 = 4;

/// How often a server that went away is tried again.
const TRIES: Duration = Duration::from_millis(500);

/// A server that was silent for so long is asked whether it is there: a line that was cut says nothing.
const SILENCE: Duration = Duration::from_secs(30);

/// How long it may take to answer that, or to let somebody in.
const ANSWER: Duration = Duration::from_secs(10);

/// However short the wait: less is not enough for any server.
const LEAST: Duration = Duration::from_secs(1);

/// A watch over an archive. It may be moved to a thread of its own.
#[derive(Debug)]
pub struct ArchiveChanges {
    path: PathBuf,
    watched: WatchedArchive,
    runtime: Runtime,
}

/// What is watched.
#[derive(Debug)]
enum WatchedArchive {
    /// A server, and when it was last heard of; nothing while it cannot be reached.
    Server { address: DatabaseAddress, listening: Option<(PgListener, Instant)> },
    /// A file, as it was; nothing where it may have changed since.
    File(Option<FilePairState>),
}

/// The file and its log. What is empty counts as not there: SQLite makes and removes an empty log for who only reads.
type FilePairState = [Option<FileVersion>; 2];

/// A file, its length, and when it was last written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    bytes: u64,
    at: SystemTime,
}

impl ArchiveChanges {
    /// Begins to watch an archive: what is written from now on is told. A file may not be there yet, and none is made; that
    /// it is there is a change.
    ///
    /// # Errors
    /// If the server cannot be reached, or what lies there is no archive.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, ArchiveError> {
        let server = DatabaseAddress::of(path.as_ref())?;
        let path = server.as_ref().map_or_else(|| path.as_ref().to_owned(), DatabaseAddress::shown);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| ArchiveError::Failed(path.clone(), e.to_string()))?;
        let watched = match server {
            Some(address) => {
                let listener = runtime.block_on(listen_within(&address, ANSWER))?;
                WatchedArchive::Server { address, listening: Some((listener, Instant::now())) }
            }
            None => {
                if written(&path)?.is_some() {
                    archive_file::look(&path)?;
                }
                WatchedArchive::File(settled(&path)?)
            }
        };
        Ok(ArchiveChanges { path, watched, runtime })
    }

    /// Waits until sessions or cards were changed, at most so long; true if they were. Changes that follow each other
    /// closely are told together. True as well where some may have been missed: the server was away, or the file was
    /// exchanged.
    ///
    /// # Errors
    /// If the archive cannot be reached or read by the end of the time; the next call tries again.
    pub fn wait(&mut self, at_most: Duration) -> Result<bool, ArchiveError> {
        let until = Instant::now() + at_most;
        match &mut self.watched {
            WatchedArchive::File(known) => look(&self.path, known, until),
            WatchedArchive::Server { address, listening } => {
                self.runtime.block_on(hear(address, listening, until))
            }
        }
    }
}

impl Drop for ArchiveChanges {
    fn drop(&mut self) {
        // A listener says farewell by a task, which needs the runtime.
        let _within = self.runtime.enter();
        if let WatchedArchive::Server { listening, .. } = &mut self.watched {
            drop(listening.take());
        }
    }
}

fn look(path: &Path, known: &mut Option<FilePairState>, until: Instant) -> Result<bool, ArchiveError> {
    loop {
        if *known != Some(state_of(path)?) {
            *known = settled(path)?;
            return Ok(true);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(left.min(LOOKS));
    }
}

/// How it is, once that can be told from whatever comes later; nothing where somebody writes all the time.
fn settled(path: &Path) -> Result<Option<FilePairState>, ArchiveError> {
    let young = |written: &FileVersion| written.at.elapsed().is_ok_and(|age| age < TICK);
    for _ in 0..TRIES_TO_SETTLE {
        let state = state_of(path)?;
        if !state.iter().flatten().any(young) {
            return Ok(Some(state));
        }
        std::thread::sleep(TICK);
    }
    Ok(None)
}

fn state_of(path: &Path) -> Result<FilePairState, ArchiveError> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Ok([written(path)?, written(Path::new(&log))?])
}

fn written(path: &Path) -> Result<Option<FileVersion>, ArchiveError> {
    let failed = |e| ArchiveError::of_system(path, &e);
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(about) => {
            let (inode, bytes, at) = (about.ino(), about.len(), about.modified().map_err(failed)?);
            Ok((bytes > 0).then_some(FileVersion { inode, bytes, at }))
        }
    }
}

/// A connection that hears what writers announce.
async fn listen(address: &DatabaseAddress) -> Result<PgListener, ArchiveError> {
    let shown = address.shown();
    let failed = |e: sqlx::Error| ArchiveError::of_database(&shown, &e);
    let options = postgres::options(address)?;
    // A listener needs a pool, and a pool goes on trying where nobody listens: that somebody does is seen before.
    options.connect().await.map_err(failed)?.close().await.map_err(failed)?;
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(ANSWER).connect_with(options);
    let mut listener = PgListener::connect_with(&pool.await.map_err(failed)?).await.map_err(failed)?;
    // What was lost is told here, after a new connection and not before.
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await.map_err(failed)?;
    Ok(listener)
}

/// The same, given up after a time.
async fn listen_within(address: &DatabaseAddress, at_most: Duration) -> Result<PgListener, ArchiveError> {
    let silent = |_| {
        let why = format!("no answer within {:.0} s", at_most.as_secs_f64());
        ArchiveError::Unreachable(address.shown(), why)
    };
    tokio::time::timeout(at_most, listen(address)).await.map_err(silent)?
}

/// Where a connection is, and when something was last heard on it.
type ListenerState = Option<(PgListener, Instant)>;

async fn hear(
    address: &DatabaseAddress,
    listening: &mut ListenerState,
    until: Instant,
) -> Result<bool, ArchiveError> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Some((listener, heard)) = listening else {
            return again(address, listening, until).await;
        };
        let silent = SILENCE.saturating_sub(heard.elapsed());
        match tokio::time::timeout(left.min(silent), listener.try_recv()).await {
            Ok(Ok(Some(_))) => {
                // Those that came with it.
                while listener.next_buffered().is_some() {}
                *heard = Instant::now();
                return Ok(true);
            }
            Ok(_) => *listening = None,
            Err(_) if heard.elapsed() >= SILENCE => {
                let asked = tokio::time::timeout(ANSWER, sqlx::query("SELECT 1").execute(&mut *listener));
                match asked.await {
                    Ok(Ok(_)) => *heard = Instant::now(),
                    _ => *listening = None,
                }
            }
            Err(_) => return Ok(false),
        }
    }
}

/// Tries to reach the server again until it is there, or the time is over.
async fn again(
    address: &DatabaseAddress,
    listening: &mut ListenerState,
    until: Instant,
) -> Result<bool, ArchiveError> {
    loop {
        let left = until.saturating_duration_since(Instant::now()).clamp(LEAST, ANSWER);
        match listen_within(address, left).await {
            Ok(listener) => {
                *listening = Some((listener, Instant::now()));
                return Ok(true);
            }
            Err(error) if Instant::now() + TRIES >= until => {
                tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
                return Err(error);
            }
            Err(_) => tokio::time::sleep(TRIES).await,
        }
    }
}
