//! Slots of a lane: their memory, its content, and the I/O that each carries; the transfers between file and memory,
//! and the clock that times them (CLOCK_MONOTONIC since the target was opened).
//!
//! Data to be written is generated here, if possible before the clock of an I/O starts: noise and constants once per
//! slot, streams and stamps for each write.

use crate::buffer::{AlignedBuffer, PAGE};
use crate::content::{IoContent, fill_content};
use crate::target::{IoDirection, IoRequest, LanePlan, TargetError, TargetResult};
use cardscope_model::units::{NANOS_PER_S, Nanos};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Instant;

/// Above this limit slots share memory unless the plan forbids it: the smallest boards that cards are tested on have
/// 512 MiB.
const MAX_MEMORY: u64 = 256 << 20;

/// io_uring registers no larger buffer.
const MAX_BLOCK: u64 = 1 << 30;

/// A file server may answer EAGAIN forever.
const MAX_REPEATS: u32 = 1000;

#[derive(Debug, Clone, Copy)]
pub(super) struct TransferOp {
    pub(super) slot: u32,
    pub(super) direction: IoDirection,
    /// First byte in the file.
    pub(super) offset: u64,
    /// First byte in the memory of all slots.
    pub(super) at: usize,
    pub(super) len: u32,
    /// Write with `O_DSYNC`.
    pub(super) sync: bool,
}

/// Completed transfer, perhaps a short one.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedTransfer {
    pub(super) slot: u32,
    pub(super) at: Nanos,
    pub(super) moved: Result<u32, Errno>,
}

/// Clock whose copies share one start.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedClock(Instant);

impl SharedClock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    #[inline]
    pub(super) fn now(self) -> Nanos {
        let passed = self.0.elapsed();
        passed.as_secs() * NANOS_PER_S + u64::from(passed.subsec_nanos())
    }
}

/// Transfers that are queued but not submitted, and those that have ended.
#[derive(Debug, Default)]
pub(super) struct TransferQueue {
    pub(super) unsent: Vec<TransferOp>,
    pub(super) ended: Vec<EndedTransfer>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SlotIo {
    pub(super) direction: IoDirection,
    pub(super) offset: u64,
    pub(super) len: u32,
    pub(super) done: u32,
    /// Consecutive transfers that moved nothing and were repeated.
    stalled: u32,
}

impl SlotIo {
    pub(super) fn operation(&self) -> &'static str {
        match self.direction {
            IoDirection::Read => "read",
            IoDirection::Write => "write",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct IoSlot {
    busy: bool,
    /// Content of the memory, if noise or a constant.
    content: Option<IoContent>,
    carried: Option<SlotIo>,
}

pub(super) struct IoSlots {
    pub(super) memory: Arc<AlignedBuffer>,
    slots: Vec<IoSlot>,
    block: usize,
    /// Bytes between the memory of two slots.
    pub(super) stride: usize,
    /// True if slots share memory.
    pub(super) shared: bool,
    own_memory: bool,
    sync_each: bool,
    /// I/Os in flight.
    pub(super) busy: usize,
    writing: usize,
}

impl IoSlots {
    pub(super) fn new(plan: &LanePlan) -> TargetResult<Self> {
        if plan.depth == 0 || plan.block == 0 || plan.block > MAX_BLOCK {
            let what = format!("planning {} I/Os of {} bytes in flight", plan.depth, plan.block);
            return Err(TargetError::setup(
                what,
                "depth and block are at least 1, and a block at most 1 GiB",
            ));
        }
        let stride = (plan.block as usize).next_multiple_of(PAGE);
        let needed = u64::from(plan.depth) * stride as u64;
        let shared = !plan.own_buffers && plan.depth > 1 && needed > MAX_MEMORY;
        // Two shared blocks, so that reads do not overwrite what writes are sending.
        let blocks = if shared { 2 } else { plan.depth as usize };
        let memory = Arc::new(AlignedBuffer::new(stride.saturating_mul(blocks))?);
        let slot = IoSlot { busy: false, content: Some(IoContent::Constant(0)), carried: None };
        Ok(Self {
            memory,
            slots: vec![slot; plan.depth as usize],
            block: plan.block as usize,
            stride,
            shared,
            own_memory: plan.own_buffers,
            sync_each: plan.sync_each,
            busy: 0,
            writing: 0,
        })
    }

    pub(super) fn depth(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(super) fn first_in_flight(&self) -> Option<SlotIo> {
        self.slots.iter().find(|slot| slot.busy).and_then(|slot| slot.carried)
    }

    /// Assigns an I/O to its slot and prepares the memory.
    #[inline]
    pub(super) fn start_io(&mut self, io: &IoRequest) -> TargetResult<TransferOp> {
        let index = io.slot as usize;
        let free = self.slots.get(index).is_some_and(|slot| !slot.busy);
        if !free || io.len as usize > self.block || io.len == 0 {
            let rule = "its slot is free and planned, and it is no longer than the planned block";
            return Err(misuse_error(io, rule));
        }
        let at = self.memory_offset(index, io.direction);
        match io.direction {
            // Shared reads have a block of their own.
            IoDirection::Read if self.shared => {}
            IoDirection::Read => self.slots[index].content = None,
            IoDirection::Write => self.fill_memory(index, at, io)?,
        }
        let slot = &mut self.slots[index];
        slot.busy = true;
        let IoRequest { slot: number, direction, offset, len, .. } = *io;
        slot.carried = Some(SlotIo { direction, offset, len, done: 0, stalled: 0 });
        self.busy += 1;
        self.writing += usize::from(direction == IoDirection::Write);
        let sync = self.sync_each && direction == IoDirection::Write;
        Ok(TransferOp { slot: number, direction, offset, at, len, sync })
    }

    #[cold]
    pub(super) fn is_stuck(&mut self, slot: u32) -> bool {
        let carried = self.slots.get_mut(slot as usize).and_then(|slot| slot.carried.as_mut());
        carried.is_none_or(|carried| {
            carried.stalled += 1;
            carried.stalled > MAX_REPEATS
        })
    }

    /// Adds a transfer's bytes. Returns the rest of a short I/O, or `None` if it is complete.
    #[inline]
    pub(super) fn add_transferred(&mut self, slot: u32, bytes: u32) -> Option<TransferOp> {
        let carried = self.slots[slot as usize].carried.as_mut()?;
        carried.done = carried.done.saturating_add(bytes);
        if carried.done >= carried.len {
            return None;
        }
        if bytes > 0 {
            carried.stalled = 0;
        }
        let SlotIo { direction, offset, len, done, .. } = *carried;
        let at = self.memory_offset(slot as usize, direction) + done as usize;
        let sync = self.sync_each && direction == IoDirection::Write;
        Some(TransferOp { slot, direction, offset: offset + u64::from(done), at, len: len - done, sync })
    }

    #[inline]
    pub(super) fn free_slot(&mut self, slot: u32) {
        let slot = &mut self.slots[slot as usize];
        if std::mem::take(&mut slot.busy) {
            self.busy -= 1;
            self.writing -= usize::from(slot.carried.is_some_and(|c| c.direction == IoDirection::Write));
        }
    }

    pub(super) fn last_io(&self, slot: u32) -> Option<SlotIo> {
        self.slots.get(slot as usize).and_then(|slot| slot.carried)
    }

    /// Memory of a free slot, if slots have their own.
    pub(super) fn free_memory(&mut self, slot: u32) -> TargetResult<&mut [u8]> {
        if !self.own_memory {
            return Err(TargetError::Unsupported("looking at data needs a plan with own_buffers".into()));
        }
        let at = self.memory_offset(slot as usize, IoDirection::Read);
        match self.slots.get_mut(slot as usize) {
            Some(slot) if !slot.busy => slot.content = None,
            _ => {
                let why = format!("slot {slot} is not planned, or its I/O is under way");
                return Err(TargetError::Unsupported(why));
            }
        }
        // SAFETY: the slot is free, so the kernel does not use its memory, and `&mut self` excludes other access.
        Ok(unsafe { self.memory.slice(at, self.block) })
    }

    /// First byte of the memory for an I/O of this slot.
    #[inline]
    fn memory_offset(&self, slot: usize, direction: IoDirection) -> usize {
        match (self.shared, direction) {
            (false, _) => slot * self.stride,
            (true, IoDirection::Write) => 0,
            (true, IoDirection::Read) => self.stride,
        }
    }

    /// Generates the data of a write unless the memory has it already.
    fn fill_memory(&mut self, slot: usize, at: usize, io: &IoRequest) -> TargetResult {
        let lasting = matches!(io.content, IoContent::Noise | IoContent::Constant(_));
        let wanted = lasting.then_some(io.content);
        // The state of shared memory is that of the first slot; other writes may be sending it.
        let owner = if self.shared { 0 } else { slot };
        if lasting && self.slots[owner].content == wanted {
            return Ok(());
        }
        if self.shared && (!lasting || self.writing > 0) {
            return Err(misuse_error(io, "content that differs between I/Os is planned with own_buffers"));
        }
        if io.content == IoContent::Buffer && !self.own_memory {
            return Err(misuse_error(io, "content from the slot's buffer is planned with own_buffers"));
        }
        self.slots[owner].content = wanted;
        // Lasting content depends on the position in memory, so that slots differ.
        let (from, len) = if lasting { (at as u64, self.block) } else { (io.offset, io.len as usize) };
        // SAFETY: the slot is free (shared: no write is in flight), so the kernel does not use this memory.
        fill_content(io.content, from, unsafe { self.memory.slice(at, len) });
        Ok(())
    }
}

#[cold]
fn misuse_error(io: &IoRequest, rule: &str) -> TargetError {
    let what = format!("submitting {} bytes at {} in slot {}", io.len, io.offset, io.slot);
    TargetError::setup(what, format!("a submitted I/O must keep the rule that {rule}"))
}
