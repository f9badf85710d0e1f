//! A planned lane: slots and the backend that carries their I/O. Short transfers are continued here, so that an
//! I/O counts once, when all of its bytes have moved.
//!
//! Operations are queued, and one call hands them over, waits a while and brings back what has ended. A backend knows
//! file descriptors and memory, nothing of files, devices or caveats.

use super::backing::LaneBacking;
use super::failures::IoFailure;
use super::patience::{SLICE, no_answer};
use super::psync::{TransferContext, WorkerPool};
use super::slots::{IoSlots, SlotIo};
use super::transfer::{EndedTransfer, TransferOp};
use super::uring::UringBackend;
use crate::pending::{PendingWait, WaitGuard, waiting};
use crate::target::{IoRequest, LanePlan, TargetError};
use cardscope_model::caveat::Caveat;
use cardscope_model::units::Nanos;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The path of the bytes into the kernel.
enum IoBackend {
    /// By io_uring.
    Uring(Box<UringBackend>),
    /// By pread and pwrite on the caller's thread, one at a time: a wait does not end before the I/O does, however long
    /// that takes.
    Inline(TransferContext),
    /// By pread and pwrite on as many threads as I/Os may be in flight.
    Pool(WorkerPool),
}

impl IoBackend {
    /// Hands over what is not sent yet, waits until `want` have ended or `patience` is over, appends all that have ended.
    #[inline]
    fn wait(
        &mut self,
        unsent: &mut Vec<TransferOp>,
        want: usize,
        patience: Duration,
        ended: &mut Vec<EndedTransfer>,
    ) -> Result<(), TargetError> {
        match self {
            Self::Uring(ring) => return ring.wait(unsent, want, patience, ended),
            Self::Inline(mover) => ended.extend(unsent.drain(..).map(|op| mover.carry_out(&op))),
            Self::Pool(pool) => pool.wait(unsent, want, patience, ended),
        }
        Ok(())
    }
}

/// Slots and backend of one plan.
pub(super) struct RealLane {
    pub(super) plan: LanePlan,
    /// Queued and not handed over yet.
    unsent: Vec<TransferOp>,
    /// Before the slots: it must let go of their memory first.
    backend: IoBackend,
    pub(super) slots: IoSlots,
    ended: Vec<EndedTransfer>,
    target: Arc<str>,
    /// Since when nothing has ended, told to whoever asks what is waited for.
    silence: Option<(Instant, WaitGuard)>,
}

/// An I/O that is over.
pub(super) struct FinishedIo {
    pub(super) slot: u32,
    pub(super) at: Nanos,
    pub(super) carried: Option<SlotIo>,
    pub(super) failure: Option<IoFailure>,
}

impl RealLane {
    pub(super) fn new(
        plan: &LanePlan,
        file: BorrowedFd<'_>,
        shared: &LaneBacking,
        target: &str,
    ) -> Result<Self, TargetError> {
        let slots = IoSlots::new(plan)?;
        if slots.shared() {
            let shared_bytes = slots.stride() as u64;
            shared.remember(Caveat::SharedBuffers { depth: plan.depth, shared_bytes });
        }
        let backend = backend(plan, file, shared, &slots).map_err(|e| {
            let what = format!("preparing {} I/Os in flight", plan.depth);
            TargetError::setup(what, format!("{e}; choose a smaller queue depth"))
        })?;
        let depth = plan.depth as usize;
        let (unsent, ended) = (Vec::with_capacity(depth), Vec::with_capacity(depth));
        Ok(Self { plan: *plan, unsent, backend, slots, ended, target: target.into(), silence: None })
    }

    #[inline]
    pub(super) fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let op = self.slots.take(io)?;
        self.unsent.push(op);
        Ok(())
    }

    /// Hands over what is queued and tells `over` of all that has ended, until `at_least` have. Once the interrupt
    /// is raised it waits for one slice more and leaves the rest in flight.
    ///
    /// # Errors
    /// [`TargetError::Silent`] where nothing has ended for the I/O timeout; the rest stays in flight.
    #[inline]
    pub(super) fn complete(
        &mut self,
        at_least: usize,
        shared: &LaneBacking,
        mut over: impl FnMut(FinishedIo),
    ) -> Result<(), TargetError> {
        let mut missing = at_least.min(self.slots.busy());
        loop {
            if missing > 0 && matches!(self.backend, IoBackend::Inline(_)) {
                self.note_silence();
            }
            self.backend.wait(&mut self.unsent, missing, SLICE, &mut self.ended)?;
            match self.ended.is_empty() && missing > 0 {
                true => self.outlast(shared.options.io_timeout())?,
                false => self.silence = None,
            }
            for index in 0..self.ended.len() {
                if let Some(what) = self.settle(self.ended[index]) {
                    missing = missing.saturating_sub(1);
                    over(what);
                }
            }
            self.ended.clear();
            if missing == 0 || shared.options.interrupt.raised() {
                return Ok(());
            }
        }
    }

    /// Waits until nothing is in flight any more; what was not handed over never is. A write that landed later would destroy
    /// what is written there meanwhile. Gives the last I/O that failed, since that may be the only sign of a swapped card.
    ///
    /// # Errors
    /// [`TargetError::Silent`] where nothing has ended for `limit`; the rest stays in flight.
    pub(super) fn drain(&mut self, limit: Duration) -> Result<Option<(SlotIo, IoFailure)>, TargetError> {
        let mut failed = None;
        for op in self.unsent.drain(..) {
            self.slots.free(op.slot);
        }
        while self.slots.busy() > 0 {
            self.backend.wait(&mut self.unsent, 1, SLICE, &mut self.ended)?;
            match self.ended.is_empty() {
                true => self.outlast(limit)?,
                false => self.silence = None,
            }
            for ended in self.ended.drain(..) {
                self.slots.free(ended.slot);
                if let Err(errno) = ended.moved
                    && !matches!(errno, Errno::INTR | Errno::AGAIN)
                {
                    failed =
                        self.slots.carried(ended.slot).map(|io| (io, IoFailure::Errno(errno))).or(failed);
                }
            }
        }
        Ok(failed)
    }

    /// Says which I/O is waited for, unless it is said already.
    #[cold]
    fn note_silence(&mut self) {
        let (None, Some(SlotIo { direction, offset, len, .. })) = (&self.silence, self.slots.first_busy())
        else {
            return;
        };
        let target = Arc::clone(&self.target);
        self.silence = Some((Instant::now(), waiting(PendingWait::Io { direction, offset, len, target })));
    }

    /// Nothing ended in a slice of waiting; an error once that has lasted for `limit`.
    #[cold]
    fn outlast(&mut self, limit: Duration) -> Result<(), TargetError> {
        self.note_silence();
        match (&self.silence, self.slots.first_busy()) {
            (Some((since, _)), Some(io)) if since.elapsed() >= limit => {
                Err(no_answer(io.operation(), io.offset, limit))
            }
            _ => Ok(()),
        }
    }

    /// `None` where the I/O goes on.
    #[inline]
    fn settle(&mut self, ended: EndedTransfer) -> Option<FinishedIo> {
        let failure = match ended.moved {
            Ok(0) => Some(IoFailure::End),
            Ok(bytes) => return self.go_on(ended, bytes),
            Err(Errno::INTR | Errno::AGAIN) if !self.slots.is_stuck(ended.slot) => {
                return self.go_on(ended, 0);
            }
            Err(errno) => Some(IoFailure::Errno(errno)),
        };
        self.slots.free(ended.slot);
        Some(FinishedIo { slot: ended.slot, at: ended.at, carried: self.slots.carried(ended.slot), failure })
    }

    #[inline]
    fn go_on(&mut self, ended: EndedTransfer, bytes: u32) -> Option<FinishedIo> {
        if let Some(rest) = self.slots.moved(ended.slot, bytes) {
            self.unsent.push(rest);
            return None;
        }
        self.slots.free(ended.slot);
        Some(FinishedIo { slot: ended.slot, at: ended.at, carried: None, failure: None })
    }
}

/// io_uring where it can be had, else preads; the doubts that follow are remembered.
fn backend(
    plan: &LanePlan,
    file: BorrowedFd<'_>,
    shared: &LaneBacking,
    slots: &IoSlots,
) -> io::Result<IoBackend> {
    let memory = || Arc::clone(slots.memory());
    if shared.uses_uring() {
        match UringBackend::new(file, memory(), slots.stride(), plan.depth, shared.clock) {
            Ok(ring) => {
                if let Some(errno) = ring.refused_buffers() {
                    shared.remember(Caveat::NoRegisteredBuffers { reason: errno.to_string() });
                }
                return Ok(IoBackend::Uring(Box::new(ring)));
            }
            Err(error) => shared.give_up_uring(&error),
        }
    }
    let mover = TransferContext::new(file, memory(), shared.clock)?;
    Ok(if plan.depth == 1 {
        IoBackend::Inline(mover)
    } else {
        IoBackend::Pool(WorkerPool::new(mover, plan.depth)?)
    })
}
