//! What stands in a mounted directory: the card, the truth about it, and its counters as they are now.

use super::FILE;
use super::slot::Slot;
use fuser::{FileAttr, FileType, INodeNo};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

pub(super) const CARD: INodeNo = INodeNo(2);
pub(super) const TRUTH: INodeNo = INodeNo(3);
pub(super) const COUNTERS: INodeNo = INodeNo(4);

/// What a probe should find.
pub(super) const TRUTH_FILE: &str = "truth.json";
/// What was counted so far.
pub(super) const COUNTERS_FILE: &str = "counters.json";

/// Names and sizes never change.
const FOR_LONG: Duration = Duration::from_secs(3600);

/// The directory's content.
pub(super) struct Files {
    card: Arc<Slot>,
    since: SystemTime,
    /// The counters as each open file last saw them, so that a file read in parts fits together.
    seen: Mutex<BTreeMap<u64, Arc<str>>>,
}

impl Files {
    pub(super) fn new(card: &Arc<Slot>) -> Self {
        Files { card: Arc::clone(card), since: SystemTime::now(), seen: Mutex::default() }
    }

    /// All entries in the order of a listing.
    pub(super) fn listing() -> [(INodeNo, FileType, &'static str); 5] {
        [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (CARD, FileType::RegularFile, FILE),
            (COUNTERS, FileType::RegularFile, COUNTERS_FILE),
            (TRUTH, FileType::RegularFile, TRUTH_FILE),
        ]
    }

    pub(super) fn named(name: &OsStr) -> Option<INodeNo> {
        Self::listing().into_iter().skip(2).find(|(_, _, known)| name == *known).map(|(ino, _, _)| ino)
    }

    /// Attributes, and how long they hold.
    pub(super) fn attributes(&self, ino: INodeNo) -> Option<(FileAttr, Duration)> {
        match ino {
            INodeNo::ROOT => Some((self.attr(ino, FileType::Directory, 0o755, 0), FOR_LONG)),
            CARD => Some((self.attr(ino, FileType::RegularFile, 0o600, self.card.live.bytes), FOR_LONG)),
            TRUTH => {
                Some((self.attr(ino, FileType::RegularFile, 0o444, self.card.truth.len() as u64), FOR_LONG))
            }
            COUNTERS => {
                let len = self.counters().len() as u64;
                Some((self.attr(ino, FileType::RegularFile, 0o444, len), Duration::ZERO))
            }
            _ => None,
        }
    }

    fn attr(&self, ino: INodeNo, kind: FileType, perm: u16, size: u64) -> FileAttr {
        FileAttr {
            ino,
            size,
            blocks: size / 512,
            atime: self.since,
            mtime: self.since,
            ctime: self.since,
            crtime: self.since,
            kind,
            perm,
            nlink: 1,
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }

    /// Reads a part of `truth.json` or `counters.json`; a read from the start sees the counters as they are now.
    pub(super) fn read(&self, ino: INodeNo, handle: u64, offset: u64, len: u32) -> Vec<u8> {
        let part = |text: &str| {
            let from = (offset as usize).min(text.len());
            let to = from.saturating_add(len as usize).min(text.len());
            text.as_bytes()[from..to].to_vec()
        };
        if ino == TRUTH {
            return part(&self.card.truth);
        }
        let seen = self.seen().get(&handle).cloned();
        let text = match seen {
            Some(seen) if offset > 0 => seen,
            _ => {
                let fresh: Arc<str> = self.counters().into();
                self.seen().insert(handle, Arc::clone(&fresh));
                fresh
            }
        };
        part(&text)
    }

    /// An open file is closed.
    pub(super) fn forget(&self, handle: u64) {
        self.seen().remove(&handle);
    }

    fn counters(&self) -> String {
        // A report is plain numbers and names: serde_json cannot fail on it.
        let text = serde_json::to_string_pretty(&self.card.report()).unwrap_or_default();
        format!("{text}\n")
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<str>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
