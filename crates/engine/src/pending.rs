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
    Look,
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
            PendingWait::Look => f.write_str("the look whether something else uses the target by now"),
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
    pub then: String,
    /// Place to find the rest if the process is killed, such as `the test file … stays until the next test there`.
    pub left: String,
    pub restores: u64,
}

#[derive(Debug)]
struct PendingState {
    next: u64,
    waits: Vec<(u64, Instant, PendingWait)>,
    debts: Vec<(u64, PendingCleanup)>,
}

static STATE: Mutex<PendingState> =
    Mutex::new(PendingState { next: 0, waits: Vec::new(), debts: Vec::new() });

fn state() -> MutexGuard<'static, PendingState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PendingState {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Guard that removes the wait from the list when dropped.
#[derive(Debug)]
#[must_use = "dropped at once it says nothing"]
pub struct WaitGuard(u64);

pub fn waiting(what: PendingWait) -> WaitGuard {
    let mut state = state();
    let number = state.number();
    state.waits.push((number, Instant::now(), what));
    WaitGuard(number)
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        state().waits.retain(|(number, ..)| *number != self.0);
    }
}

/// Guard that removes pending cleanup from the list when dropped.
#[derive(Debug)]
#[must_use = "dropped at once it says nothing"]
pub struct CleanupGuard(u64);

pub fn owing(then: impl Into<String>, left: impl Into<String>) -> CleanupGuard {
    let mut state = state();
    let number = state.number();
    state.debts.push((number, PendingCleanup { then: then.into(), left: left.into(), restores: 0 }));
    CleanupGuard(number)
}

impl CleanupGuard {
    /// Replaces the entry, as more cleanup is pending by now.
    pub fn say(&self, anew: PendingCleanup) {
        if let Some((_, debt)) = state().debts.iter_mut().find(|(number, _)| *number == self.0) {
            *debt = anew;
        }
    }
}

impl Drop for CleanupGuard {
    fn drop(&mut self) {
        state().debts.retain(|(number, _)| *number != self.0);
    }
}

/// Longest wait and its duration. Ownership checks come last, since they hang for the same reason as the I/O.
pub fn longest_wait() -> Option<(PendingWait, Duration)> {
    let state = state();
    let first =
        state.waits.iter().min_by_key(|(_, since, wait)| (matches!(wait, PendingWait::Look), *since))?;
    Some((first.2.clone(), first.1.elapsed()))
}

/// True if a card's data must be restored before the process ends.
pub fn must_restore() -> bool {
    state().debts.iter().any(|(_, debt)| debt.restores > 0)
}

pub fn debts() -> Vec<PendingCleanup> {
    state().debts.iter().map(|(_, debt)| debt.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the list is global to the process.
    #[test]
    fn waits_and_cleanups_are_listed_until_dropped() {
        let look = waiting(PendingWait::Look);
        let older = waiting(PendingWait::Call("a flush of card".into()));
        let target: Arc<str> = "/dev/sdx".into();
        let io = waiting(PendingWait::Io {
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
        let journal = owing("the journal is removed", "");
        let archive = owing("what was measured is stored", "");
        let more = PendingCleanup {
            then: "69 MB are put back".into(),
            left: "the journal keeps it".into(),
            restores: 69,
        };
        journal.say(more.clone());
        let then = |debts: Vec<PendingCleanup>| debts.into_iter().map(|d| d.then).collect::<Vec<_>>();
        assert_eq!(then(debts()), ["69 MB are put back", "what was measured is stored"]);
        drop(archive);
        assert_eq!(debts(), [more]);
        drop(journal);
        assert!(debts().is_empty());
    }
}
