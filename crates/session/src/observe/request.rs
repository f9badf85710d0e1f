//! What a watch is asked to do.

use std::path::PathBuf;
use std::time::Duration;

/// How long to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Not at all: only what the counters say since boot.
    Nothing,
    /// This long.
    For(Duration),
    /// Until interrupted, which is its proper end then.
    UntilStopped,
}

/// What to watch, and where to keep it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The device, by name or path.
    pub target: String,
    /// From one look to the next.
    pub every: Duration,
    /// How long.
    pub length: Length,
    /// Also what happened since boot.
    pub from_boot: bool,
    /// A file for the document.
    pub save: Option<PathBuf>,
    /// An earlier watch, by file or session.
    pub baseline: Option<String>,
    /// The archive; `None` is the user's own.
    pub archive: Option<PathBuf>,
    /// A copy of a machine's `/sys` and `/proc`.
    pub sysfs: Option<PathBuf>,
}
