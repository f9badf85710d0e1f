//! The clock of a real target: CLOCK_MONOTONIC, counted from when the target was opened, one for all its lanes.

use cardscope_model::units::{NANOS_PER_S, Nanos};
use std::time::Instant;

/// Copies of one clock agree: they share its start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock(Instant);

impl Clock {
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    #[inline]
    pub(super) fn now(self) -> Nanos {
        let passed = self.0.elapsed();
        passed.as_secs() * NANOS_PER_S + u64::from(passed.subsec_nanos())
    }
}
