//! Process-wide list of waits and pending cleanup, shown to a user who stops the process and has to wait.
//!
//! Entries last until their guard is dropped. A process without pending cleanup may be killed at any time.

use crate::target::IoDirection;
use cardscope_model::units::BinarySize;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
pub enum PendingWait {
    Io {
        direction: IoDirection,
        offset: u64,
        len: u32,
        target: Arc<str>,
    },
    /// A call in words, such as `a flush of /dev/sdx`.
    Call(Arc<str>),
    OwnershipCheck,
}

impl fmt::Display for PendingWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PendingWait::Io { direction, offset, len, target } => {
                let what = if *direction == IoDirection::Read { "read" } else { "write" };
                let (size, place) = (BinarySize(u64::from(*len)), address_text(*offset));
                write!(f, "a {what} of {size} at {place} of {target}")
            }
            PendingWait::Call(what) => f.write_str(what),
            Self::OwnershipCheck => f.write_str("the look whether something else uses the target by now"),
        }
    }
}

fn address_text(offset: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    let at = offset as f64;
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| at >= *unit) else {
        return format!("byte {offset}");
    };
    let value = at / unit;
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {name}")
}

/// Cleanup that the process does before it ends, and what remains if it is killed instead.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PendingCleanup {
    /// Sentence for the user, such as `the test file … is removed`.
    pub planned: String,
    /// Place to find the rest if the process is killed, such as `the test file … stays until the next test there`.
    pub leftover: String,
    pub restore_bytes: u64,
}

#[derive(Debug)]
struct PendingState {
    next: u64,
    waits: BTreeMap<u64, (Instant, PendingWait)>,
    cleanups: BTreeMap<u64, PendingCleanup>,
}

static STATE: Mutex<PendingState> =
    Mutex::new(PendingState { next: 0, waits: BTreeMap::new(), cleanups: BTreeMap::new() });

fn lock_state() -> MutexGuard<'static, PendingState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PendingState {
    fn next_guard(&mut self) -> PendingGuard {
        self.next += 1;
        PendingGuard(self.next)
    }
}

/// Guard that removes the wait or the pending cleanup from the list when dropped.
#[derive(Debug)]
#[must_use = "dropped at once it says nothing"]
pub struct PendingGuard(u64);

impl Drop for PendingGuard {
    fn drop(&mut self) {
        let mut state = lock_state();
        state.waits.remove(&self.0);
        state.cleanups.remove(&self.0);
    }
}

pub fn register_wait(what: PendingWait) -> PendingGuard {
    let mut state = lock_state();
    let guard = state.next_guard();
    state.waits.insert(guard.0, (Instant::now(), what));
    guard
}

pub fn register_cleanup(planned: impl Into<String>, leftover: impl Into<String>) -> PendingGuard {
    let mut state = lock_state();
    let guard = state.next_guard();
    let cleanup = PendingCleanup { planned: planned.into(), leftover: leftover.into(), restore_bytes: 0 };
    state.cleanups.insert(guard.0, cleanup);
    guard
}

impl PendingGuard {
    /// Replaces the entry, as more cleanup is pending by now.
    pub fn update(&self, cleanup: PendingCleanup) {
        if let Some(entry) = lock_state().cleanups.get_mut(&self.0) {
            *entry = cleanup;
        }
    }
}

/// Longest wait and its duration. Ownership checks come last, since they hang for the same reason as the I/O.
pub fn longest_wait() -> Option<(PendingWait, Duration)> {
    let state = lock_state();
    let order =
        |(since, wait): &&(Instant, PendingWait)| (matches!(wait, PendingWait::OwnershipCheck), *since);
    let (since, wait) = state.waits.values().min_by_key(order)?;
    Some((wait.clone(), since.elapsed()))
}

/// True if a card's data must be restored before the process ends.
pub fn must_restore() -> bool {
    lock_state().cleanups.values().any(|cleanup| cleanup.restore_bytes > 0)
}

pub fn pending_cleanups() -> Vec<PendingCleanup> {
    lock_state().cleanups.values().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the list is global to the process.
    #[test]
    fn waits_and_cleanups_are_listed_until_dropped() {
        let look = register_wait(PendingWait::OwnershipCheck);
        let older = register_wait(PendingWait::Call("a flush of card".into()));
        let target: Arc<str> = "/dev/sdx".into();
        let io = register_wait(PendingWait::Io {
            direction: IoDirection::Write,
            offset: 12_300_000_000,
            len: 1 << 20,
            target,
        });
        let reported = || longest_wait().map(|(wait, _)| wait.to_string());
        assert_eq!(reported().as_deref(), Some("a flush of card"));
        drop(older);
        assert_eq!(reported().as_deref(), Some("a write of 1 MiB at 12.3 GB of /dev/sdx"));
        drop(io);
        assert!(reported().unwrap().starts_with("the look"));
        drop(look);
        let journal = register_cleanup("the journal is removed", "");
        let archive = register_cleanup("what was measured is stored", "");
        let more = PendingCleanup {
            planned: "69 MB are put back".into(),
            leftover: "the journal keeps it".into(),
            restore_bytes: 69,
        };
        journal.update(more.clone());
        let then = |debts: Vec<PendingCleanup>| debts.into_iter().map(|d| d.planned).collect::<Vec<_>>();
        assert_eq!(then(pending_cleanups()), ["69 MB are put back", "what was measured is stored"]);
        drop(archive);
        assert_eq!(pending_cleanups(), [more]);
        drop(journal);
        assert!(pending_cleanups().is_empty());
    }
}
