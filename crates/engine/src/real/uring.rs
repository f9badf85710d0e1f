//! I/O by io_uring: one ring per lane with registered file and memory. One `io_uring_enter` submits a whole batch and
//! waits for completions (io_uring_enter(2); for a 4 KiB read fio needs 0.73 µs of system time this way, 1.11 µs by
//! pread, DESIGN.md Baselines).

use super::hanging_call::CHECK_INTERVAL;
use super::slots::{EndedTransfer, IoSlots, SharedClock, TransferOp, TransferQueue};
use crate::buffer::AlignedBuffer;
use crate::target::{IoDirection, TargetError, TargetResult};
use io_uring::opcode::{Read, ReadFixed, Write, WriteFixed};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, cqueue, squeue};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Largest buffer that the kernel registers (io_uring_register(2)).
const LARGEST_BUFFER: usize = 1 << 30;

pub(super) struct UringBackend {
    ring: IoUring,
    /// False until enabled by the thread that uses the ring.
    enabled: bool,
    in_kernel: usize,
    /// Errno of the refused registration of memory.
    refused_buffers: Option<Errno>,
    /// True if the file does not support non-blocking I/O, so that kernel workers do it all.
    by_workers: bool,
    /// Bytes of memory per registered buffer, a multiple of the slots' stride.
    chunk: usize,
    depth: u32,
    file: OwnedFd,
    clock: SharedClock,
    /// Declared last: the ring must be closed before the memory that it writes to.
    memory: Arc<AlignedBuffer>,
}

/// Tests whether this process may use io_uring: seccomp, `kernel.io_uring_disabled` and old kernels refuse it.
pub fn check_available() -> io::Result<()> {
    build_ring(1).map(drop)
}

impl UringBackend {
    /// Creates a ring for I/O on `file` in all slots.
    pub(super) fn new(file: BorrowedFd<'_>, slots: &IoSlots, clock: SharedClock) -> io::Result<Self> {
        let (stride, depth) = (slots.stride, slots.depth());
        let mut uring = Self {
            ring: build_ring(depth)?,
            enabled: false,
            in_kernel: 0,
            refused_buffers: None,
            by_workers: needs_workers(file),
            chunk: (LARGEST_BUFFER / stride).max(1) * stride,
            depth,
            file: file.try_clone_to_owned()?,
            clock,
            memory: Arc::clone(&slots.memory),
        };
        uring.register_resources()?;
        Ok(uring)
    }

    /// Errno of the refused registration of memory, without which every I/O maps its own.
    pub(super) fn refused_buffers(&self) -> Option<Errno> {
        self.refused_buffers
    }

    /// Submits the queue, waits until `want` transfers have ended or the check interval is over, and collects all that
    /// have ended.
    pub(super) fn wait(&mut self, queue: &mut TransferQueue, want: usize) -> TargetResult {
        let mut outcome = self.submit_and_wait(&queue.unsent, want);
        if failed_with(&outcome, &[Errno::EXIST]) && self.in_kernel == 0 {
            // The kernel binds a ring to the thread that enabled it, and this handle has moved to another thread since.
            outcome = self.rebuild().and_then(|()| self.submit_and_wait(&queue.unsent, want));
        }
        // After EEXIST the kernel has accepted none of them.
        if !failed_with(&outcome, &[Errno::EXIST]) {
            self.in_kernel += queue.unsent.drain(..).len();
        }
        // The wait timed out, a signal interrupted it, or the kernel is short of memory: completions are collected
        // anyway.
        let harmless = failed_with(&outcome, &[Errno::TIME, Errno::INTR, Errno::AGAIN, Errno::BUSY]);
        if let Err(error) = outcome
            && !harmless
        {
            return Err(TargetError::setup("handing I/O to the kernel by io_uring", error_text(&error)));
        }
        self.collect_completions(&mut queue.ended);
        Ok(())
    }

    fn submit_and_wait(&mut self, unsent: &[TransferOp], want: usize) -> io::Result<usize> {
        if !self.enabled {
            self.ring.submitter().register_enable_rings()?;
            self.enabled = true;
        }
        self.queue_transfers(unsent);
        let limit = Timespec::from(CHECK_INTERVAL);
        self.ring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&limit))
    }

    fn queue_transfers(&mut self, ops: &[TransferOp]) {
        let fixed = self.refused_buffers.is_none();
        // If the first, non-blocking attempt must fail, skipping it more than doubles the rate (tmpfs, queue depth 32,
        // measured by benches/backend.rs).
        let flags = if self.by_workers { squeue::Flags::ASYNC } else { squeue::Flags::empty() };
        let mut queue = self.ring.submission();
        for op in ops {
            let buffer = fixed.then(|| (op.at / self.chunk) as u16);
            let entry = queue_entry(op, self.memory.ptr(op.at, op.len as usize), buffer).flags(flags);
            // SAFETY: the memory stays mapped while the kernel has the entry (`Drop`), and the slot is busy until its
            // completion, so nothing else uses its part.
            unsafe { queue.push(&entry) }
                .expect("a slot carries one I/O, and the queue has room for all slots");
        }
    }

    fn collect_completions(&mut self, ended: &mut Vec<EndedTransfer>) {
        let at = self.clock.now();
        let before = ended.len();
        ended.extend(self.ring.completion().map(|entry| ended_transfer(&entry, at)));
        self.in_kernel -= ended.len() - before;
    }

    /// Registers file and memory. Memory beyond the lock limit stays unregistered, which only costs speed.
    fn register_resources(&mut self) -> io::Result<()> {
        let submitter = self.ring.submitter();
        submitter.register_files(&[self.file.as_raw_fd()])?;
        if self.by_workers {
            // The default of at most four workers per processor would limit deep queues. Refused before Linux 5.15.
            let _ = submitter.register_iowq_max_workers(&mut [self.depth, 0]);
        }
        let (memory, bytes) = (&self.memory, self.memory.len());
        let chunk = |at: usize| {
            let iov_len = self.chunk.min(bytes - at);
            libc::iovec { iov_base: memory.ptr(at, iov_len).cast(), iov_len }
        };
        let chunks: Vec<libc::iovec> = (0..bytes).step_by(self.chunk).map(chunk).collect();
        // SAFETY: the chunks lie in the mapping, which outlives the ring.
        self.refused_buffers = unsafe { submitter.register_buffers(&chunks) }.err().map(|e| to_errno(&e));
        Ok(())
    }

    fn rebuild(&mut self) -> io::Result<()> {
        self.ring = build_ring(self.depth)?;
        self.enabled = false;
        self.register_resources()
    }
}

impl Drop for UringBackend {
    fn drop(&mut self) {
        // The kernel would unregister only some time after the ring is closed. Done here, the device can be opened
        // exclusively and the memory lock is free when this returns. Refused from another thread.
        let _ = self.ring.submitter().unregister_files();
        let _ = self.ring.submitter().unregister_buffers();
        if self.in_kernel > 0 {
            // A hanging device may still answer, and the kernel would then write to memory that is in use for something
            // else. A leak is the lesser evil.
            std::mem::forget(Arc::clone(&self.memory));
        }
    }
}

/// Builds a ring with the most efficient settings that the kernel knows (5.19 and 6.1 introduced them).
fn build_ring(depth: u32) -> io::Result<IoUring> {
    // The submitting thread processes completions when it enters the kernel, so that no interrupt disturbs it. The ring
    // starts disabled, because planning and submitting may happen on different threads.
    let settings: [fn(&mut Builder) -> &mut Builder; 3] = [
        |b| b.setup_submit_all().setup_single_issuer().setup_defer_taskrun(),
        |b| b.setup_submit_all().setup_coop_taskrun(),
        |b| b,
    ];
    let mut refusal = io::Error::from(Errno::INVAL);
    for set in settings {
        match set(&mut IoUring::builder()).setup_r_disabled().dontfork().build(depth) {
            // Without a time limit a wait could not be interrupted (Linux 5.11).
            Ok(ring) if !ring.params().is_feature_ext_arg() => return Err(Errno::NOSYS.into()),
            Ok(ring) => return Ok(ring),
            Err(e) if is_errno(&e, Errno::INVAL) => refusal = e,
            Err(e) => return Err(e),
        }
    }
    Err(refusal)
}

/// FUSE, tmpfs and others do not support `RWF_NOWAIT`, so io_uring hands each of their transfers to a worker thread.
fn needs_workers(file: BorrowedFd<'_>) -> bool {
    let mut byte = [0; 1];
    let outcome = preadv2(file, &mut [io::IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT);
    outcome == Err(Errno::OPNOTSUPP)
}

#[inline]
fn queue_entry(op: &TransferOp, memory: *mut u8, registered: Option<u16>) -> squeue::Entry {
    const FILE: Fixed = Fixed(0);
    let flags = if op.sync { libc::RWF_DSYNC } else { 0 };
    let (at, len) = (op.offset, op.len);
    let entry = match (op.direction, registered) {
        (IoDirection::Read, Some(buffer)) => ReadFixed::new(FILE, memory, len, buffer).offset(at).build(),
        (IoDirection::Read, None) => Read::new(FILE, memory, len).offset(at).build(),
        (IoDirection::Write, Some(buffer)) => {
            WriteFixed::new(FILE, memory, len, buffer).offset(at).rw_flags(flags).build()
        }
        (IoDirection::Write, None) => Write::new(FILE, memory, len).offset(at).rw_flags(flags).build(),
    };
    entry.user_data(u64::from(op.slot))
}

#[inline]
fn ended_transfer(entry: &cqueue::Entry, at: u64) -> EndedTransfer {
    let moved = u32::try_from(entry.result()).map_err(|_| Errno::from_raw_os_error(-entry.result()));
    EndedTransfer { slot: entry.user_data() as u32, at, moved }
}

fn to_errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

fn is_errno(error: &io::Error, wanted: Errno) -> bool {
    error.raw_os_error() == Some(wanted.raw_os_error())
}

fn failed_with(outcome: &io::Result<usize>, wanted: &[Errno]) -> bool {
    outcome.as_ref().is_err_and(|e| wanted.iter().any(|errno| is_errno(e, *errno)))
}

fn error_text(error: &io::Error) -> String {
    if is_errno(error, Errno::EXIST) {
        "this handle was moved to another thread with I/O under way; finish it first".into()
    } else {
        format!("{error}; CARDSCOPE_IO=preads does without io_uring")
    }
}
