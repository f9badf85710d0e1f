//! How long is waited before something counts as hung. Waiting for a processor is not hanging.

use std::time::{Duration, Instant};

/// No command of a test takes nearly as long while there is a processor for it: beyond it, it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// A wait that has begun.
pub(crate) struct Patience {
    began: Instant,
    crowded: Duration,
    limit: Duration,
}

impl Patience {
    /// One that lasts `limit`, without the time in which programs waited for a processor.
    pub(crate) fn of(limit: Duration) -> Self {
        Patience { began: Instant::now(), crowded: crowded(), limit }
    }

    /// True once it is over.
    pub(crate) fn is_over(&self) -> bool {
        let lasted = self.began.elapsed();
        lasted > self.limit && lasted.saturating_sub(crowded().saturating_sub(self.crowded)) > self.limit
    }
}

/// Time since the start of the system in which some program waited for a processor (Documentation/accounting/psi.rst of the
/// kernel); zero where the kernel does not count it.
fn crowded() -> Duration {
    let pressure = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = pressure.lines().next().and_then(|some| some.rsplit_once("total="));
    Duration::from_micros(total.and_then(|(_, micros)| micros.parse().ok()).unwrap_or(0))
}
