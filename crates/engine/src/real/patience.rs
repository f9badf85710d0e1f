//! Waiting: for a system call that may take minutes on a slow card, without keeping Ctrl-C waiting; for a lock.

use crate::interrupt::Interrupt;
use crate::pending::{Wait, waiting};
use crate::target::TargetError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a wait looks at the interrupt.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// How long a call may take that begins after the interrupt was raised: putting saved blocks back is worth a wait,
/// a dead card is not worth one for ever.
const AFTER_INTERRUPT: Duration = Duration::from_secs(30);

/// How long a lock is waited for. A process that starts another one holds its locks twice until that one has
/// executed; a test that really runs holds them for longer.
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// Takes an exclusive flock(2); false where somebody else keeps it. A file system without locks gives it to all.
pub fn lock(file: impl AsFd) -> bool {
    let deadline = Instant::now() + LOCK_PATIENCE;
    while flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Carries out `call`, which is `what` in words, on a thread of its own. When the interrupt is raised meanwhile, it is left to finish alone.
///
/// # Errors
/// [`TargetError::Interrupted`] in that case; [`TargetError::Setup`] if no thread can be had.
pub(super) fn patiently<T: Send + 'static>(
    interrupt: &Interrupt,
    what: Wait,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TargetError> {
    let already = interrupt.raised();
    let started = Instant::now();
    let _waiting = waiting(what);
    let (report, reports) = channel();
    let carry_out = move || drop(report.send(call()));
    std::thread::Builder::new()
        .name("cardscope-wait".into())
        .stack_size(64 << 10)
        .spawn(carry_out)
        .map_err(|e| TargetError::setup("starting a thread to wait on", e))?;
    loop {
        match reports.recv_timeout(SLICE) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) if already && started.elapsed() < AFTER_INTERRUPT => {}
            Err(RecvTimeoutError::Timeout) if !interrupt.raised() => {}
            Err(_) => return Err(TargetError::Interrupted),
        }
    }
}
