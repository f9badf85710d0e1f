//! Scheduling of tests. Some need an idle machine and run alone, or beside others that need one and leave it idle. All
//! others, recognized by their [`Home`](super::binary::Home), run concurrently. Loop devices, mounts, servers and
//! folders need no scheduling, because each test has its own.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Permission to run, until dropped.
pub(crate) struct Turn(());

/// Kind of test, which may run beside its own kind only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Alone,
    Quiet,
    Other,
}

/// Running tests, all of one kind.
struct Running {
    kind: Kind,
    tests: usize,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { kind: Kind::Other, tests: 0 });
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// Permission of the test on this thread, shared by everything that it creates.
    static MINE: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// Waits until no other test runs, and blocks others.
pub(crate) fn alone() -> Arc<Turn> {
    join(Kind::Alone)
}

/// Same, but allows tests that wait for a card of some milliseconds and hardly compute.
pub(crate) fn quiet() -> Arc<Turn> {
    join(Kind::Quiet)
}

/// Waits until no test runs that needs an idle machine.
pub(crate) fn beside_others() -> Arc<Turn> {
    MINE.with_borrow(Weak::upgrade).unwrap_or_else(|| join(Kind::Other))
}

fn join(kind: Kind) -> Arc<Turn> {
    let in_the_way =
        |running: &mut Running| running.tests > 0 && (running.kind != kind || kind == Kind::Alone);
    let mut running = ENDED.wait_while(lock(), in_the_way).unwrap_or_else(PoisonError::into_inner);
    running.kind = kind;
    running.tests += 1;
    let turn = Arc::new(Turn(()));
    MINE.set(Arc::downgrade(&turn));
    turn
}

impl Drop for Turn {
    fn drop(&mut self) {
        lock().tests -= 1;
        ENDED.notify_all();
    }
}

fn lock() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
