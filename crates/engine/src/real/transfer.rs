//! One transfer between the file and the slots' memory, and the clock by which it is timed: CLOCK_MONOTONIC, counted from
//! when the target was opened, one for all its lanes.

use crate::target::IoDirection;
use cardscope_model::units::{NANOS_PER_S, Nanos};
use rustix::io::Errno;
use std::time::Instant;

/// One transfer between the file and the slots' memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct TransferOp {
    pub(super) slot: u32,
    pub(super) direction: IoDirection,
    /// First byte in the file.
    pub(super) offset: u64,
    /// First byte in the slots' memory.
    pub(super) at: usize,
    pub(super) len: u32,
    /// A write that must be on the card before it ends.
    pub(super) sync: bool,
}

/// A transfer that ended, perhaps short.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedTransfer {
    pub(super) slot: u32,
    pub(super) at: Nanos,
    pub(super) moved: Result<u32, Errno>,
}

/// Copies of one clock agree: they share its start.
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
