//! Process-wide list of waits and pending cleanup, shown to a user who stops the process and has to wait.
//!
//! Entries last until their guard is dropped. A process without pending cleanup may be killed at any time.

use crate::target::IoDirection;
use cardscope_model::units::BinarySize;
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
                write!(
                    f,
                    "a {what} of {} at {} of {target}",
                    BinarySize(u64::from(*len)),
                    address_text(*offset)
                )
            }
            PendingWait::Call(what) => f.write_str(what),
            PendingWait::OwnershipCheck => {
                f.write_str("the look whether something else uses the target by now")
            }
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
    waits: Vec<(u64, Instant, PendingWait)>,
    cleanups: Vec<(u64, PendingCleanup)>,
}

static STATE: Mutex<PendingState> =
    Mutex::new(PendingState { next: 0, waits: Vec::new(), cleanups: Vec::new() });

fn lock_state() -> MutexGuard<'static, PendingState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PendingState {
    fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Guard that removes the wait from the list when dropped.
#[derive(Debug)]
#[must_use = "dropped at once it says nothing"]
pub struct WaitGuard(u64);

pub fn register_wait(what: PendingWait) -> WaitGuard {
    let mut state = lock_state();
    let number = state.next_number();
    state.waits.push((number, Instant::now(), what));
    WaitGuard(number)
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        lock_state().waits.retain(|(number, ..)| *number != self.0);
    }
}

/// Guard that removes pending cleanup from the list when dropped.
#[derive(Debug)]
#[must_use = "dropped at once it says nothing"]
pub struct CleanupGuard(u64);

pub fn register_cleanup(then: impl Into<String>, left: impl Into<String>) -> CleanupGuard {
    let mut state = lock_state();
    let number = state.next_number();
    state
        .cleanups
        .push((number, PendingCleanup { planned: then.into(), leftover: left.into(), restore_bytes: 0 }));
    CleanupGuard(number)
}

impl CleanupGuard {
    /// Replaces the entry, as more cleanup is pending by now.
    pub fn update(&self, anew: PendingCleanup) {
        if let Some((_, debt)) = lock_state().cleanups.iter_mut().find(|(number, _)| *number == self.0) {
            *debt = anew;
        }
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        lock_state().cleanups.retain(|(number, _)| *number != self.0);
    }
}

/// Longest wait and its duration. Ownership checks come last, since they hang for the same reason as the I/O.
pub fn longest_wait() -> Option<(PendingWait, Duration)> {
    let state = lock_state();
    let first = state
        .waits
        .iter()
        .min_by_key(|(_, since, wait)| (matches!(wait, PendingWait::OwnershipCheck), *since))?;
    Some((first.2.clone(), first.1.elapsed()))
}

/// True if a card's data must be restored before the process ends.
pub fn must_restore() -> bool {
    lock_state().cleanups.iter().any(|(_, debt)| debt.restore_bytes > 0)
}

pub fn pending_cleanups() -> Vec<PendingCleanup> {
    lock_state().cleanups.iter().map(|(_, debt)| debt.clone()).collect()
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
