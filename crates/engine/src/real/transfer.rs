//! Transfers between file and slot memory, and the clock that times them: CLOCK_MONOTONIC since the target was opened.

use crate::target::IoDirection;
use cardscope_model::units::{NANOS_PER_S, Nanos};
use rustix::io::Errno;
use std::time::Instant;

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
