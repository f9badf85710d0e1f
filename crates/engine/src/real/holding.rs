//! Whether the object under test is still the one that was agreed to, and nobody else uses it by now.
//!
//! Who opened it knows it again ([`Holding`]). A real target asks when a lane is planned, hence before each writing stage
//! (an answer of the last tenth of a second serves where the plan stays as it is), and once a second for as long as it is
//! open, on a thread of its own, so that no I/O that is timed waits for an answer; before a write to a file's end it asks
//! once more, since only such a write can hide that the file was cut. After an I/O failed it asks twice, the second time once
//! something could be read again (`failures`). What was found changed stays so: nothing more is written through this target.

use super::patience::HangingCall;
use crate::interrupt::InterruptFlag;
use crate::pending::PendingWait;
use crate::target::{ObjectChange, TargetError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An answer so young serves for what goes on as it was planned: whoever reads single blocks plans each of them.
pub(super) const FRESH: Duration = Duration::from_millis(100);

/// Between two looks while a target is open.
const EVERY: Duration = Duration::from_secs(1);

/// A thread that looks and waits needs little.
const STACK: usize = 128 << 10;

/// The object that a target has open, as whoever opened it knows it again.
pub trait OwnershipCheck: Send + Sync {
    /// Whether it is still there, the same, and as large as it was. Asked when an I/O failed or found something else than
    /// was written.
    fn present(&self) -> Result<(), ObjectChange>;

    /// Whether it may still be written to: present, and used by nobody else.
    fn may_write(&self) -> Result<(), ObjectChange>;
}

/// Looks in time; shared by all lanes of a target.
pub(super) struct OwnershipTimer {
    watched: Option<Arc<OwnershipState>>,
    /// Its end is that of the thread that looks.
    _going_on: Option<Sender<()>>,
}

struct OwnershipState {
    holding: Arc<dyn OwnershipCheck>,
    born: Instant,
    /// When the last look ended, in milliseconds since; 0 before the first.
    looked: AtomicU64,
    stopped: AtomicBool,
    /// What was found changed, once `stopped` is set.
    change: Mutex<Option<ObjectChange>>,
}

impl OwnershipTimer {
    /// Looks from time to time where something is going to be written.
    pub(super) fn new(holding: Option<Arc<dyn OwnershipCheck>>, writes: bool) -> Self {
        let watched = holding.map(|holding| {
            let (born, looked, stopped) = (Instant::now(), AtomicU64::new(0), AtomicBool::new(false));
            Arc::new(OwnershipState { holding, born, looked, stopped, change: Mutex::default() })
        });
        let going_on = watched.as_ref().filter(|_| writes).and_then(|watched| watch(Arc::clone(watched)));
        Self { watched, _going_on: going_on }
    }

    /// Looks, unless somebody did within `fresh`. A file system that hangs keeps nobody from ending the test.
    pub(super) fn look(
        &self,
        interrupt: &InterruptFlag,
        limit: Duration,
        fresh: Duration,
    ) -> Result<(), TargetError> {
        match &self.watched {
            Some(watched) if !watched.looked_within(fresh) => {
                let watched = Arc::clone(watched);
                let limit = Some(limit);
                HangingCall { what: PendingWait::Look, operation: "check", interrupt, limit }
                    .wait(move || watched.look())
            }
            _ => Ok(()),
        }
    }

    /// Asked before each write: what was found by now.
    #[inline]
    pub(super) fn may_write(&self) -> Result<(), ObjectChange> {
        match &self.watched {
            Some(watched) if watched.stopped.load(Ordering::Relaxed) => watched.change(),
            _ => Ok(()),
        }
    }

    /// Whether an I/O that failed, or data that differ, may be laid at the card's door.
    pub(super) fn present(&self) -> Result<(), ObjectChange> {
        self.watched.as_ref().map_or(Ok(()), |watched| watched.find(|holding| holding.present()))
    }
}

impl OwnershipState {
    fn look(&self) {
        let _ = self.find(|holding| holding.may_write());
        self.looked.store(self.age() + 1, Ordering::Relaxed);
    }

    /// What was found before, else what is found now. One looks, the others wait for what it finds.
    fn find(
        &self,
        looked: impl Fn(&dyn OwnershipCheck) -> Result<(), ObjectChange>,
    ) -> Result<(), ObjectChange> {
        let mut change = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        if change.is_none() {
            *change = looked(self.holding.as_ref()).err();
            self.stopped.store(change.is_some(), Ordering::Relaxed);
        }
        change.clone().map_or(Ok(()), Err)
    }

    fn looked_within(&self, fresh: Duration) -> bool {
        let looked = self.looked.load(Ordering::Relaxed);
        looked > 0 && u128::from(self.age() + 1 - looked) < fresh.as_millis()
    }

    fn age(&self) -> u64 {
        self.born.elapsed().as_millis() as u64
    }

    #[cold]
    fn change(&self) -> Result<(), ObjectChange> {
        self.change.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }
}

/// A thread that looks until what it gives is dropped. Where none is to be had, each stage still begins with a look.
fn watch(watched: Arc<OwnershipState>) -> Option<Sender<()>> {
    let (going_on, ended) = channel();
    let thread = std::thread::Builder::new().name("cardscope-watch".into()).stack_size(STACK);
    let looking = move || {
        while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            watched.look();
        }
    };
    thread.spawn(looking).ok().map(|_| going_on)
}

/// As an error of the operation that met it.
#[cold]
pub(super) fn lost(name: &str, change: ObjectChange, operation: &'static str, offset: u64) -> TargetError {
    match change {
        ObjectChange::Gone(reason) => TargetError::Gone { operation, offset, reason },
        change => TargetError::Changed { name: name.to_owned(), change },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::patience::IO_TIMEOUT;
    use std::sync::atomic::AtomicU32;

    /// Counts the looks; from the third one on it is in use.
    #[derive(Default)]
    struct Counting(AtomicU32);

    impl OwnershipCheck for Counting {
        fn present(&self) -> Result<(), ObjectChange> {
            Ok(())
        }

        fn may_write(&self) -> Result<(), ObjectChange> {
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
    fn what_was_found_stays() {
        let (counting, lookout) = lookout(false);
        let look = || lookout.look(&InterruptFlag::default(), IO_TIMEOUT, Duration::ZERO).unwrap();
        look();
        look();
        lookout.look(&InterruptFlag::default(), IO_TIMEOUT, Duration::from_secs(3600)).unwrap();
        assert_eq!(lookout.may_write(), Ok(()));
        look();
        assert_eq!(lookout.may_write(), Err(ObjectChange::InUse("mounted".into())));
        look();
        lookout.may_write().unwrap_err();
        assert_eq!(counting.0.load(Ordering::Relaxed), 3, "nobody is asked any more");
    }

    #[test]
    fn it_looks_by_itself_and_ends_with_the_target() {
        let (counting, lookout) = lookout(true);
        let began = Instant::now();
        while lookout.may_write().is_ok() {
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
