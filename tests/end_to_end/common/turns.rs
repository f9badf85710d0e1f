//! Which tests may run beside which. A test that needs a quiet machine runs alone; all others, which are known by the
//! [`Home`](super::binary::Home) that they make, run beside each other as the test program starts them. Loop devices,
//! mounts, servers and folders need no turn: each test has its own.

use std::cell::RefCell;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// The right to run until dropped.
pub(crate) struct Turn {
    alone: bool,
}

struct Running {
    beside_others: usize,
    alone: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { beside_others: 0, alone: false });
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// The turn of the test on this thread; whatever it makes shares it.
    static MINE: RefCell<Weak<Turn>> = const { RefCell::new(Weak::new()) };
}

/// Waits until no other test runs, and keeps others from starting.
pub(crate) fn alone() -> Arc<Turn> {
    join(true)
}

/// Waits until no test runs that needs to be alone.
pub(crate) fn beside_others() -> Arc<Turn> {
    MINE.with_borrow(Weak::upgrade).unwrap_or_else(|| join(false))
}

fn join(alone: bool) -> Arc<Turn> {
    let in_the_way = |running: &mut Running| running.alone || (alone && running.beside_others > 0);
    let mut running = ENDED.wait_while(lock(), in_the_way).unwrap_or_else(PoisonError::into_inner);
    if alone {
        running.alone = true;
    } else {
        running.beside_others += 1;
    }
    let turn = Arc::new(Turn { alone });
    MINE.set(Arc::downgrade(&turn));
    turn
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut running = lock();
        if self.alone {
            running.alone = false;
        } else {
            running.beside_others -= 1;
        }
        ENDED.notify_all();
    }
}

fn lock() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
