//! Planned lane: slots, and the backend that does their I/O. Short transfers are continued here, so that an I/O counts
//! once, when all of its bytes have moved.
//!
//! One call submits what is queued, waits a while and collects completions. Backends handle descriptors and memory
//! only, no files, devices or caveats.

use super::backing::LaneBacking;
use super::failures::IoFailure;
use super::hanging_call::no_answer_error;
use super::psync::{TransferContext, WorkerPool};
use super::slots::{EndedTransfer, IoSlots, SlotIo, TransferQueue};
use super::uring::UringBackend;
use crate::pending::{PendingGuard, PendingWait, register_wait};
use crate::target::{IoRequest, LanePlan, TargetError, TargetResult};
use cardscope_model::caveat::Caveat;
use cardscope_model::units::Nanos;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

enum IoBackend {
    Uring(Box<UringBackend>),
    /// pread and pwrite on the caller's thread, one at a time: a wait lasts until the I/O ends, however long that
    /// takes.
    Inline(TransferContext),
    /// pread and pwrite on as many threads as I/Os may be in flight.
    Pool(WorkerPool),
}

impl IoBackend {
    /// Submits the queue, waits until `want` transfers have ended or the check interval is over, and collects all that
    /// have ended.
    #[inline]
    fn submit_and_collect(&mut self, queue: &mut TransferQueue, want: usize) -> TargetResult {
        match self {
            Self::Uring(ring) => return ring.wait(queue, want),
            Self::Inline(mover) => {
                queue.ended.extend(queue.unsent.drain(..).map(|op| mover.do_transfer(&op)));
            }
            Self::Pool(pool) => pool.wait(queue, want),
        }
        Ok(())
    }
}

pub(super) struct RealLane {
    pub(super) plan: LanePlan,
    /// Declared before the slots, so that it is dropped first: it uses their memory.
    backend: IoBackend,
    pub(super) slots: IoSlots,
    queue: TransferQueue,
    target: Arc<str>,
    /// Start of the time without completions, and its entry in the list of waits.
    silence: Option<(Instant, PendingGuard)>,
}

pub(super) struct FinishedIo {
    pub(super) slot: u32,
    pub(super) at: Nanos,
    pub(super) carried: Option<SlotIo>,
    pub(super) failure: Option<IoFailure>,
}

impl RealLane {
    pub(super) fn new(plan: &LanePlan, file: BorrowedFd<'_>, shared: &LaneBacking) -> TargetResult<Self> {
        let slots = IoSlots::new(plan)?;
        if slots.shared {
            let shared_bytes = slots.stride as u64;
            shared.add_caveat(Caveat::SharedBuffers { depth: plan.depth, shared_bytes });
        }
        let backend = choose_backend(plan.depth, file, shared, &slots).map_err(|e| {
            let what = format!("preparing {} I/Os in flight", plan.depth);
            TargetError::setup(what, format!("{e}; choose a smaller queue depth"))
        })?;
        let depth = plan.depth as usize;
        let queue = TransferQueue { unsent: Vec::with_capacity(depth), ended: Vec::with_capacity(depth) };
        Ok(Self { plan: *plan, backend, slots, queue, target: Arc::clone(&shared.name), silence: None })
    }

    #[inline]
    pub(super) fn submit(&mut self, io: &IoRequest) -> TargetResult {
        let op = self.slots.start_io(io)?;
        self.queue.unsent.push(op);
        Ok(())
    }

    /// Submits the queue and passes completions to `over`, until `at_least` have ended. After an interrupt it waits one
    /// slice more and leaves the rest in flight, as after the I/O timeout ([`TargetError::Silent`]).
    #[inline]
    pub(super) fn complete(
        &mut self,
        at_least: usize,
        shared: &LaneBacking,
        mut over: impl FnMut(FinishedIo),
    ) -> TargetResult {
        let mut missing = at_least.min(self.slots.busy);
        loop {
            if missing > 0 && matches!(self.backend, IoBackend::Inline(_)) {
                self.register_silence();
            }
            self.backend.submit_and_collect(&mut self.queue, missing)?;
            self.watch_silence(missing > 0, shared.options.io_timeout())?;
            for index in 0..self.queue.ended.len() {
                if let Some(what) = self.finish_transfer(self.queue.ended[index]) {
                    missing = missing.saturating_sub(1);
                    over(what);
                }
            }
            self.queue.ended.clear();
            if missing == 0 || shared.options.interrupt.is_raised() {
                return Ok(());
            }
        }
    }

    /// Waits until nothing is in flight, at most for `limit`, since a write landing later would destroy newer data;
    /// drops what was not submitted. Returns the last failed I/O, which may be the only sign of a swapped card.
    pub(super) fn drain(&mut self, limit: Duration) -> TargetResult<Option<(SlotIo, IoFailure)>> {
        let mut failed = None;
        for op in self.queue.unsent.drain(..) {
            self.slots.free_slot(op.slot);
        }
        while self.slots.busy > 0 {
            self.backend.submit_and_collect(&mut self.queue, 1)?;
            self.watch_silence(true, limit)?;
            for EndedTransfer { slot, moved, .. } in self.queue.ended.drain(..) {
                self.slots.free_slot(slot);
                let errno = moved.err().filter(|errno| !matches!(*errno, Errno::INTR | Errno::AGAIN));
                failed = self.slots.last_io(slot).zip(errno.map(IoFailure::Errno)).or(failed);
            }
        }
        Ok(failed)
    }

    /// Times the silence of a lane that waits for transfers.
    #[inline]
    fn watch_silence(&mut self, is_waiting: bool, limit: Duration) -> TargetResult {
        if is_waiting && self.queue.ended.is_empty() {
            return self.check_timeout(limit);
        }
        self.silence = None;
        Ok(())
    }

    #[cold]
    fn register_silence(&mut self) {
        if self.silence.is_none()
            && let Some(SlotIo { direction, offset, len, .. }) = self.slots.first_in_flight()
        {
            let wait = PendingWait::Io { direction, offset, len, target: Arc::clone(&self.target) };
            self.silence = Some((Instant::now(), register_wait(wait)));
        }
    }

    /// Returns an error once nothing has ended for `limit`.
    #[cold]
    fn check_timeout(&mut self, limit: Duration) -> TargetResult {
        self.register_silence();
        match (&self.silence, self.slots.first_in_flight()) {
            (Some((since, _)), Some(io)) if since.elapsed() >= limit => {
                Err(no_answer_error(io.operation(), io.offset, limit))
            }
            _ => Ok(()),
        }
    }

    /// Returns `None` if the I/O goes on with a further transfer.
    #[inline]
    fn finish_transfer(&mut self, ended: EndedTransfer) -> Option<FinishedIo> {
        let failure = match ended.moved {
            Ok(0) => Some(IoFailure::EndOfMedium),
            Ok(bytes) => return self.continue_io(ended, bytes),
            Err(Errno::INTR | Errno::AGAIN) if !self.slots.is_stuck(ended.slot) => {
                return self.continue_io(ended, 0);
            }
            Err(errno) => Some(IoFailure::Errno(errno)),
        };
        self.slots.free_slot(ended.slot);
        Some(FinishedIo { slot: ended.slot, at: ended.at, carried: self.slots.last_io(ended.slot), failure })
    }

    #[inline]
    fn continue_io(&mut self, ended: EndedTransfer, bytes: u32) -> Option<FinishedIo> {
        if let Some(rest) = self.slots.add_transferred(ended.slot, bytes) {
            self.queue.unsent.push(rest);
            return None;
        }
        self.slots.free_slot(ended.slot);
        Some(FinishedIo { slot: ended.slot, at: ended.at, carried: None, failure: None })
    }
}

/// Chooses io_uring if available, else pread and pwrite, and remembers the caveats.
fn choose_backend(
    depth: u32,
    fd: BorrowedFd<'_>,
    shared: &LaneBacking,
    slots: &IoSlots,
) -> io::Result<IoBackend> {
    if shared.uses_uring() {
        match UringBackend::new(fd, slots, shared.clock) {
            Ok(ring) => {
                if let Some(errno) = ring.refused_buffers() {
                    shared.add_caveat(Caveat::NoRegisteredBuffers { reason: errno.to_string() });
                }
                return Ok(IoBackend::Uring(Box::new(ring)));
            }
            Err(error) => shared.give_up_uring(&error),
        }
    }
    let mover = TransferContext::new(fd, slots, shared.clock)?;
    Ok(if depth == 1 { IoBackend::Inline(mover) } else { IoBackend::Pool(WorkerPool::new(mover, depth)?) })
}
