//! Watches an archive for changes of sessions or cards, so that open lists reread only when needed.
//!
//! A server notifies (LISTEN): every writer announces its change in the same transaction
//! ([`Connection::notify_watchers`](crate::connection::Connection)). A file is polled by the times of itself and its log.
//! SQLite must not hold it open, because it maps the log's index into memory: if the kernel remounts a damaged file
//! system read-only, the next write to that memory would end the process.

use crate::address::DatabaseAddress;
use crate::archive::new_runtime;
use crate::connection::NOTIFY_CHANNEL;
use crate::error::{ArchiveError, Result};
use crate::{archive_file, opening};
use sqlx::postgres::{PgListener, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Runtime;

/// Interval between two checks of a file.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Upper limit of the resolution of file times: a file that was written less ago may change again without a new time
/// (`CONFIG_HZ` is at least 100, which is 10 ms; the rest is margin).
const FILE_TIME_RESOLUTION: Duration = Duration::from_millis(50);

/// Attempts to find the file unchanged for [`FILE_TIME_RESOLUTION`].
const SETTLE_ATTEMPTS: u32 = 4;

/// Pause between two attempts to reconnect to a server.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);

/// Silence after which the server is probed, because a cut line sends nothing.
const PROBE_AFTER: Duration = Duration::from_secs(30);

/// Longest wait for a connection, and for the answer to a probe.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Shortest time given to one attempt to connect.
const MIN_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Watch on an archive. It may be moved to another thread.
#[derive(Debug)]
pub struct ArchiveChanges {
    path: PathBuf,
    watched: WatchedArchive,
    runtime: Runtime,
}

#[derive(Debug)]
enum WatchedArchive {
    /// The listener and the time of its last message; `None` while disconnected.
    Server { address: DatabaseAddress, listening: ListenerState },
    /// Last known state; `None` if the file may have changed since.
    File(Option<FilePairState>),
}

/// State of the file and its log. An empty file counts as missing: SQLite creates and removes an empty log when it reads.
type FilePairState = [Option<FileVersion>; 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    bytes: u64,
    at: SystemTime,
}

impl ArchiveChanges {
    /// Starts to watch; later writes are reported. A missing file is not created, and its creation is a change.
    ///
    /// # Errors
    /// If the server cannot be reached, or the file is not an archive.
    pub fn watch(path: impl AsRef<Path>) -> Result<Self> {
        let server = DatabaseAddress::parse(path.as_ref())?;
        let path = server.as_ref().map_or_else(|| path.as_ref().to_owned(), DatabaseAddress::redacted);
        let runtime = new_runtime(&path)?;
        let watched = match server {
            Some(address) => {
                let listener = runtime.block_on(connect_listener_within(&address, ANSWER_TIMEOUT))?;
                WatchedArchive::Server { address, listening: Some((listener, Instant::now())) }
            }
            None => {
                if file_version(&path)?.is_some() {
                    archive_file::open_checked(&path)?;
                }
                WatchedArchive::File(settled_state(&path)?)
            }
        };
        Ok(ArchiveChanges { path, watched, runtime })
    }

    /// Waits up to `at_most`; returns true if sessions or cards changed. Close changes are reported together. Also true
    /// if changes may have been missed: the server was away, or the file was replaced.
    ///
    /// # Errors
    /// If the archive cannot be reached or read by the end of the time; the next call tries again.
    pub fn wait(&mut self, at_most: Duration) -> Result<bool> {
        let until = Instant::now() + at_most;
        match &mut self.watched {
            WatchedArchive::File(known) => wait_for_file(&self.path, known, until),
            WatchedArchive::Server { address, listening } => {
                self.runtime.block_on(wait_for_notification(address, listening, until))
            }
        }
    }
}

impl Drop for ArchiveChanges {
    fn drop(&mut self) {
        // The listener closes its connection in a task, which needs the runtime.
        let _within = self.runtime.enter();
        if let WatchedArchive::Server { listening, .. } = &mut self.watched {
            drop(listening.take());
        }
    }
}

fn wait_for_file(path: &Path, known: &mut Option<FilePairState>, until: Instant) -> Result<bool> {
    loop {
        if *known != Some(file_state(path)?) {
            *known = settled_state(path)?;
            return Ok(true);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        std::thread::sleep(left.min(POLL_INTERVAL));
    }
}

/// State that a later write is sure to change; `None` if somebody writes all the time.
fn settled_state(path: &Path) -> Result<Option<FilePairState>> {
    let young = |written: &FileVersion| written.at.elapsed().is_ok_and(|age| age < FILE_TIME_RESOLUTION);
    for _ in 0..SETTLE_ATTEMPTS {
        let state = file_state(path)?;
        if !state.iter().flatten().any(young) {
            return Ok(Some(state));
        }
        std::thread::sleep(FILE_TIME_RESOLUTION);
    }
    Ok(None)
}

fn file_state(path: &Path) -> Result<FilePairState> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Ok([file_version(path)?, file_version(Path::new(&log))?])
}

fn file_version(path: &Path) -> Result<Option<FileVersion>> {
    let failed = |e| ArchiveError::from_io(path, &e);
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(error)),
        Ok(about) => {
            let (inode, bytes, at) = (about.ino(), about.len(), about.modified().map_err(failed)?);
            Ok((bytes > 0).then_some(FileVersion { inode, bytes, at }))
        }
    }
}

/// Connects and listens for the announcements of writers.
async fn connect_listener(address: &DatabaseAddress) -> Result<PgListener> {
    let shown = address.redacted();
    let failed = |e: sqlx::Error| ArchiveError::from_database(&shown, &e);
    let options = opening::parse_options(address)?;
    // A pool retries for ever if no server listens, so a plain connection is tried first.
    options.connect().await.map_err(failed)?.close().await.map_err(failed)?;
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(ANSWER_TIMEOUT).connect_with(options);
    let mut listener = PgListener::connect_with(&pool.await.map_err(failed)?).await.map_err(failed)?;
    // A lost connection must be reported as a change, so the listener must not reconnect by itself.
    listener.eager_reconnect(false);
    listener.listen(NOTIFY_CHANNEL).await.map_err(failed)?;
    Ok(listener)
}

async fn connect_listener_within(address: &DatabaseAddress, at_most: Duration) -> Result<PgListener> {
    let silent = |_| {
        let why = format!("no answer within {:.0} s", at_most.as_secs_f64());
        ArchiveError::Unreachable(address.redacted(), why)
    };
    tokio::time::timeout(at_most, connect_listener(address)).await.map_err(silent)?
}

/// A listener and the time of its last message; `None` while disconnected.
type ListenerState = Option<(PgListener, Instant)>;

async fn wait_for_notification(
    address: &DatabaseAddress,
    listening: &mut ListenerState,
    until: Instant,
) -> Result<bool> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let Some((listener, last)) = listening else {
            return reconnect(address, listening, until).await;
        };
        let silent = PROBE_AFTER.saturating_sub(last.elapsed());
        match tokio::time::timeout(left.min(silent), listener.try_recv()).await {
            Ok(Ok(Some(_))) => {
                // Drains notifications that arrived together.
                while listener.next_buffered().is_some() {}
                *last = Instant::now();
                return Ok(true);
            }
            Ok(_) => *listening = None,
            Err(_) if last.elapsed() >= PROBE_AFTER => {
                let probe = sqlx::query("SELECT 1").execute(&mut *listener);
                match tokio::time::timeout(ANSWER_TIMEOUT, probe).await {
                    Ok(Ok(_)) => *last = Instant::now(),
                    _ => *listening = None,
                }
            }
            Err(_) => return Ok(false),
        }
    }
}

/// Reconnects until `until`. A successful reconnection counts as a change.
async fn reconnect(address: &DatabaseAddress, listening: &mut ListenerState, until: Instant) -> Result<bool> {
    loop {
        let left = until.saturating_duration_since(Instant::now()).clamp(MIN_CONNECT_TIMEOUT, ANSWER_TIMEOUT);
        match connect_listener_within(address, left).await {
            Ok(listener) => {
                *listening = Some((listener, Instant::now()));
                return Ok(true);
            }
            Err(error) if Instant::now() + RECONNECT_INTERVAL >= until => {
                tokio::time::sleep(until.saturating_duration_since(Instant::now())).await;
                return Err(error);
            }
            Err(_) => tokio::time::sleep(RECONNECT_INTERVAL).await,
        }
    }
}
