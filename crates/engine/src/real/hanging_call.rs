//! Waiting with a time limit that an interrupt can end: for system calls that hang with a slow card, and for locks.

use crate::interrupt::InterruptFlag;
use crate::pending::{PendingWait, must_restore, register_wait};
use crate::target::{TargetError, TargetResult};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Longest wait for an answer. The kernel gives a command up earlier: SCSI and USB storage after six times 30 s
/// (`SD_TIMEOUT`, `SD_MAX_RETRIES` in drivers/scsi/sd.h) with some resets between them, NVMe after six times 30 s
/// (`nvme_core.io_timeout`, `max_retries`), MMC sooner. A card that stalls for housekeeping is back within seconds.
pub(super) const IO_TIMEOUT: Duration = Duration::from_secs(240);

/// For a call that begins after an interrupt, if no data must be restored.
const AFTER_INTERRUPT: Duration = Duration::from_secs(30);

/// Time that a dropped target waits for I/O in flight before it leaves memory or threads behind.
pub(super) const DROP_TIMEOUT: Duration = Duration::from_secs(1);

/// A process that starts another holds its locks twice until that one has executed; a running test holds them longer.
const LOCK_TIMEOUT: Duration = Duration::from_millis(300);

/// Takes an exclusive flock(2). Returns false if another holder keeps it; succeeds on file systems without locks.
pub fn try_lock_file(file: impl AsFd) -> bool {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    while flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

pub(super) struct HangingCall<'a> {
    pub(super) what: PendingWait,
    pub(super) operation: &'static str,
    pub(super) interrupt: &'a InterruptFlag,
    /// `None` if its duration cannot be predicted.
    pub(super) limit: Option<Duration>,
}

impl HangingCall<'_> {
    /// Runs `call` on its own thread, which is abandoned after the limit ([`TargetError::Silent`]), or after an
    /// interrupt ([`TargetError::Interrupted`]) unless data of the card must be restored.
    pub(super) fn run_limited<T: Send + 'static>(
        self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> TargetResult<T> {
        let HangingCall { what, operation, interrupt, limit } = self;
        let (already, started) = (interrupt.is_raised(), Instant::now());
        let _waiting = register_wait(what);
        let (report, reports) = channel();
        let thread = std::thread::Builder::new().name("cardscope-wait".into()).stack_size(64 << 10);
        let spawned = thread.spawn(move || drop(report.send(f())));
        spawned.map_err(|e| TargetError::setup("starting a thread to wait on", e))?;
        loop {
            if let Some(limit) = limit.filter(|limit| started.elapsed() >= *limit) {
                return Err(no_answer_error(operation, 0, limit));
            }
            match reports.recv_timeout(CHECK_INTERVAL) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Timeout) if already && started.elapsed() < AFTER_INTERRUPT => {}
                Err(RecvTimeoutError::Timeout) if !interrupt.is_raised() || must_restore() => {}
                Err(_) => return Err(TargetError::Interrupted),
            }
        }
    }
}

#[cold]
pub(super) fn no_answer_error(operation: &'static str, offset: u64, since: Duration) -> TargetError {
    TargetError::Silent { operation, offset, reason: format!("no answer for {} s", since.as_secs()) }
}
