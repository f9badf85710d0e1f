//! Waiting: for a system call that may take minutes on a slow card, without keeping Ctrl-C waiting; for a lock.

use crate::interrupt::InterruptFlag;
use crate::pending::{PendingWait, must_restore, waiting};
use crate::target::TargetError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often a wait looks at the interrupt.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// How long an answer of the card is waited for. By then the kernel has given up a command: SCSI and USB storage allow it
/// 30 s six times over (`SD_TIMEOUT`, `SD_MAX_RETRIES` in drivers/scsi/sd.h) and some for resets between them, NVMe 30 s six
/// times over (`nvme_core.io_timeout`, `max_retries`), MMC less. A card that stalls for its housekeeping is back in seconds.
pub(super) const IO_TIMEOUT: Duration = Duration::from_secs(240);

/// How long a call may take that begins after the interrupt was raised, where no data has to be restored.
const AFTER_INTERRUPT: Duration = Duration::from_secs(30);

/// How long a target that is dropped waits for I/O still in flight before it leaves memory or threads behind.
pub(super) const AT_THE_END: Duration = Duration::from_secs(1);

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

/// A call that may hang with the card.
pub(super) struct HangingCall<'a> {
    /// What is waited for, in words.
    pub(super) what: PendingWait,
    /// The same as errors name it.
    pub(super) operation: &'static str,
    pub(super) interrupt: &'a InterruptFlag,
    /// How long it may take; `None` where it has work to do that nobody knows the length of.
    pub(super) limit: Option<Duration>,
}

impl HangingCall<'_> {
    /// Carries out `call` on a thread of its own. When the interrupt is raised meanwhile and no data of the card has to be
    /// restored, it is left to finish alone; so is one that the card does not answer.
    ///
    /// # Errors
    /// [`TargetError::Interrupted`] or [`TargetError::Silent`] in these cases; [`TargetError::Setup`] if no thread can be
    /// had.
    pub(super) fn wait<T: Send + 'static>(
        self,
        call: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, TargetError> {
        let HangingCall { what, operation, interrupt, limit } = self;
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
            if let Some(limit) = limit.filter(|limit| started.elapsed() >= *limit) {
                return Err(no_answer(operation, 0, limit));
            }
            match reports.recv_timeout(SLICE) {
                Ok(outcome) => return Ok(outcome),
                Err(RecvTimeoutError::Timeout) if already && started.elapsed() < AFTER_INTERRUPT => {}
                Err(RecvTimeoutError::Timeout) if !interrupt.raised() || must_restore() => {}
                Err(_) => return Err(TargetError::Interrupted),
            }
        }
    }
}

/// The error of a card that has been silent for so long.
#[cold]
pub(super) fn no_answer(operation: &'static str, offset: u64, since: Duration) -> TargetError {
    TargetError::Silent { operation, offset, reason: format!("no answer for {} s", since.as_secs()) }
}
