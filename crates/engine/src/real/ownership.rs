//! Ownership check: the object under test must still be the one that the user confirmed, and nothing else may use it.
//!
//! The caller that opened it provides the check ([`OwnershipCheck`]). It runs when a lane is planned, hence before each
//! writing stage (an unchanged plan accepts a result of the last 100 ms), and once a second on a separate thread, so
//! that no timed I/O waits for it. It also runs before a write to the end of a file, since only such a write can hide
//! that the file was cut, and twice after a failed I/O, the second time once something is readable again (`failures`).
//! A change is final: nothing more is written through this target.

use super::hanging_call::HangingCall;
use crate::interrupt::InterruptFlag;
use crate::pending::PendingWait;
use crate::target::{ObjectChange, TargetError, TargetResult};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A result this recent is accepted while the plan stays the same: callers that read single blocks plan each of them.
pub(super) const RECENT: Duration = Duration::from_millis(100);

const CHECK_INTERVAL: Duration = Duration::from_secs(1);

const THREAD_STACK: usize = 128 << 10;

/// Identity check of an open object, implemented by the caller that opened it.
pub trait OwnershipCheck: Send + Sync {
    /// Checks that the object is present, the same, and of the same size. Called when an I/O failed or read unexpected
    /// data.
    fn check_present(&self) -> Result<(), ObjectChange>;

    /// Checks that it is present and used by nothing else.
    fn check_writable(&self) -> Result<(), ObjectChange>;
}

/// Runs the check when due; shared by all lanes of a target.
pub(super) struct OwnershipTimer {
    state: Option<Arc<OwnershipState>>,
    /// Ends the checking thread when dropped.
    _going_on: Option<Sender<()>>,
}

struct OwnershipState {
    holding: Arc<dyn OwnershipCheck>,
    born: Instant,
    /// End of the last check in milliseconds since `born`; 0 before the first.
    checked_ms: AtomicU64,
    stopped: AtomicBool,
    /// First change detected; final.
    change: Mutex<Option<ObjectChange>>,
}

type CheckFn = fn(&dyn OwnershipCheck) -> Result<(), ObjectChange>;

impl OwnershipTimer {
    /// Starts the periodic check if the target writes.
    pub(super) fn new(holding: Option<Arc<dyn OwnershipCheck>>, writes: bool) -> Self {
        let state = holding.map(|holding| {
            let (born, checked_ms, stopped) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
            Arc::new(OwnershipState { holding, born, checked_ms, stopped, change: Mutex::default() })
        });
        let going_on = state.as_ref().filter(|_| writes).and_then(|state| start_checks(Arc::clone(state)));
        Self { state, _going_on: going_on }
    }

    /// Runs the check unless one ended within `fresh`. A hanging file system does not prevent an interrupt.
    pub(super) fn check_now(&self, stop: &InterruptFlag, limit: Duration, fresh: Duration) -> TargetResult {
        let Some(state) = self.state.as_ref().filter(|state| !state.checked_within(fresh)) else {
            return Ok(());
        };
        let (state, interrupt, limit) = (Arc::clone(state), stop, Some(limit));
        HangingCall { what: PendingWait::OwnershipCheck, operation: "check", interrupt, limit }
            .run_limited(move || state.run_check())
    }

    /// Returns the result of the last check without a new one; cheap enough for every write.
    #[inline]
    pub(super) fn write_allowed(&self) -> Result<(), ObjectChange> {
        match &self.state {
            Some(watched) if watched.stopped.load(Ordering::Relaxed) => watched.stored_change(),
            _ => Ok(()),
        }
    }

    /// Checks for the object after a failed I/O or wrong data, before the card is blamed.
    pub(super) fn object_present(&self) -> Result<(), ObjectChange> {
        self.state.as_ref().map_or(Ok(()), |watched| watched.find_change(|holding| holding.check_present()))
    }
}

impl OwnershipState {
    fn run_check(&self) {
        let _ = self.find_change(|holding| holding.check_writable());
        self.checked_ms.store(self.age_ms() + 1, Ordering::Relaxed);
    }

    /// Returns the change detected before, or else runs a check. Concurrent callers wait for its result.
    fn find_change(&self, check: CheckFn) -> Result<(), ObjectChange> {
        let mut change = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        if change.is_none() {
            *change = check(self.holding.as_ref()).err();
            self.stopped.store(change.is_some(), Ordering::Relaxed);
        }
        change.clone().map_or(Ok(()), Err)
    }

    fn checked_within(&self, fresh: Duration) -> bool {
        let looked = self.checked_ms.load(Ordering::Relaxed);
        looked > 0 && u128::from(self.age_ms() + 1 - looked) < fresh.as_millis()
    }

    fn age_ms(&self) -> u64 {
        self.born.elapsed().as_millis() as u64
    }

    #[cold]
    fn stored_change(&self) -> Result<(), ObjectChange> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }
}

/// If no thread can be started, the checks at each stage remain.
fn start_checks(watched: Arc<OwnershipState>) -> Option<Sender<()>> {
    let (going_on, ended) = channel();
    let thread = std::thread::Builder::new().name("cardscope-watch".into()).stack_size(THREAD_STACK);
    let looking = move || {
        while ended.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            watched.run_check();
        }
    };
    thread.spawn(looking).ok().map(|_| going_on)
}

#[cold]
pub(super) fn change_error(name: &str, change: ObjectChange, call: &'static str, at: u64) -> TargetError {
    match change {
        ObjectChange::Gone(reason) => TargetError::Gone { operation: call, offset: at, reason },
        change => TargetError::Changed { name: name.to_owned(), change },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::hanging_call::IO_TIMEOUT;
    use std::sync::atomic::AtomicU32;

    /// Counts the checks; reports use by others from the third on.
    #[derive(Default)]
    struct Counting(AtomicU32);

    impl OwnershipCheck for Counting {
        fn check_present(&self) -> Result<(), ObjectChange> {
            Ok(())
        }

        fn check_writable(&self) -> Result<(), ObjectChange> {
            match self.0.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Ok(()),
                _ => Err(ObjectChange::InUse("mounted".into())),
            }
        }
    }

    fn lookout(writes: bool) -> (Arc<Counting>, OwnershipTimer) {
        let counting = Arc::new(Counting::default());
        let holding: Arc<dyn OwnershipCheck> = counting.clone();
        (counting, OwnershipTimer::new(Some(holding), writes))
    }

    #[test]
    fn detected_change_is_final() {
        let (counting, lookout) = lookout(false);
        let look = || lookout.check_now(&InterruptFlag::default(), IO_TIMEOUT, Duration::ZERO).unwrap();
        look();
        look();
        lookout.check_now(&InterruptFlag::default(), IO_TIMEOUT, Duration::from_secs(3600)).unwrap();
        assert_eq!(lookout.write_allowed(), Ok(()));
        look();
        assert_eq!(lookout.write_allowed(), Err(ObjectChange::InUse("mounted".into())));
        look();
        lookout.write_allowed().unwrap_err();
        assert_eq!(counting.0.load(Ordering::Relaxed), 3, "nobody is asked any more");
    }

    #[test]
    fn periodic_check_runs_until_target_is_dropped() {
        let (counting, lookout) = lookout(true);
        let began = Instant::now();
        while lookout.write_allowed().is_ok() {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody looked");
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(lookout);
        let last = |counting: &Arc<Counting>| Arc::strong_count(counting) == 1;
        while !last(&counting) {
            assert!(began.elapsed() < Duration::from_secs(60), "the thread goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
