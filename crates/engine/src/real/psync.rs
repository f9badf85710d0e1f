//! I/O by pread and pwrite, for kernels and sandboxes that refuse io_uring: on the caller's thread at queue depth 1
//! ([`TransferContext`]), else on one thread per I/O in flight, so that the card sees the queue depth of the test.

use super::hanging_call::CHECK_INTERVAL;
use super::slots::{EndedTransfer, IoSlots, SharedClock, TransferOp, TransferQueue};
use crate::buffer::AlignedBuffer;
use crate::target::IoDirection;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

const WORKER_STACK: usize = 64 << 10;

pub(super) struct TransferContext {
    file: OwnedFd,
    memory: Arc<AlignedBuffer>,
    clock: SharedClock,
}

impl TransferContext {
    pub(super) fn new(fd: BorrowedFd<'_>, slots: &IoSlots, clock: SharedClock) -> io::Result<Self> {
        Ok(Self { file: fd.try_clone_to_owned()?, memory: Arc::clone(&slots.memory), clock })
    }

    pub(super) fn do_transfer(&self, op: &TransferOp) -> EndedTransfer {
        let moved = self.transfer(op).map(|bytes| bytes as u32);
        EndedTransfer { slot: op.slot, at: self.clock.now(), moved }
    }

    fn transfer(&self, op: &TransferOp) -> Result<usize, Errno> {
        // Slots may share memory, so no reference is formed to what other threads read into or write from.
        let (fd, len) = (self.file.as_raw_fd(), op.len as usize);
        let memory = self.memory.ptr(op.at, len).cast();
        let (offset, part) = (op.offset as i64, libc::iovec { iov_base: memory, iov_len: len });
        // SAFETY: the slot is busy until this operation has been reported, so the `len` bytes of its memory stay mapped,
        // and nothing else uses them but operations of the same kind that share them.
        let moved = unsafe {
            match op.direction {
                IoDirection::Read => libc::pread64(fd, memory, len, offset),
                IoDirection::Write if op.sync => {
                    libc::pwritev2(fd, &raw const part, 1, offset, libc::RWF_DSYNC)
                }
                IoDirection::Write => libc::pwrite64(fd, memory, len, offset),
            }
        };
        usize::try_from(moved)
            .map_err(|_| Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO))
    }
}

pub(super) struct WorkerPool {
    shared: Arc<PoolShared>,
    workers: Vec<JoinHandle<()>>,
}

struct PoolShared {
    mover: TransferContext,
    state: Mutex<PoolState>,
    work: Condvar,
    ended: Condvar,
}

#[derive(Default)]
struct PoolState {
    queue: VecDeque<TransferOp>,
    ended: Vec<EndedTransfer>,
    running: usize,
    stop: bool,
}

impl PoolShared {
    /// A panic would still leave the state consistent, so poison is ignored.
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_worker(&self) {
        let mut state = self.lock();
        while !state.stop {
            let Some(op) = state.queue.pop_front() else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.running += 1;
            drop(state);
            let ended = self.mover.do_transfer(&op);
            state = self.lock();
            state.running -= 1;
            state.ended.push(ended);
            self.ended.notify_one();
        }
    }
}

impl WorkerPool {
    pub(super) fn new(mover: TransferContext, depth: u32) -> io::Result<Self> {
        let (work, ended) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(PoolShared { mover, state: Mutex::default(), work, ended });
        let mut pool = Self { shared, workers: Vec::new() };
        for _ in 0..depth {
            let shared = Arc::clone(&pool.shared);
            let worker = std::thread::Builder::new().name("cardscope-io".into()).stack_size(WORKER_STACK);
            pool.workers.push(worker.spawn(move || shared.run_worker())?);
        }
        Ok(pool)
    }

    pub(super) fn wait(&self, queue: &mut TransferQueue, want: usize) {
        if !queue.unsent.is_empty() {
            self.shared.lock().queue.extend(&queue.unsent);
            match queue.unsent.len() {
                1 => self.shared.work.notify_one(),
                _ => self.shared.work.notify_all(),
            }
            queue.unsent.clear();
        }
        let too_few = |state: &mut PoolState| state.ended.len() < want;
        let state = self.shared.ended.wait_timeout_while(self.shared.lock(), CHECK_INTERVAL, too_few);
        queue.ended.append(&mut state.unwrap_or_else(PoisonError::into_inner).0.ended);
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        // A worker whose device hangs is abandoned: it owns its handles on the file and the memory.
        if self.shared.lock().running == 0 {
            self.workers.drain(..).for_each(|worker| drop(worker.join()));
        }
    }
}
