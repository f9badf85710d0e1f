//! How long is waited before something counts as hung. Waiting for a processor is not hanging.

use std::time::{Duration, Instant};

/// No command of a test takes nearly as long while there is a processor for it: beyond it, it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(100);

/// A wait that has begun.
pub(crate) struct Patience {
    began: Instant,
    limit: Duration,
    process: Option<u32>,
    /// Waited for a processor until it began: any program, and the process.
    before: [Duration; 2],
}

impl Patience {
    /// One that lasts `limit`, without the time in which programs waited for a processor.
    pub(crate) fn of(limit: Duration) -> Self {
        Patience { began: Instant::now(), limit, process: None, before: [crowded(), Duration::ZERO] }
    }

    /// The same for a process: without the time in which it waited for a processor itself, too.
    pub(crate) fn with(limit: Duration, process: u32) -> Self {
        let before = [crowded(), kept_waiting(process)];
        Patience { began: Instant::now(), limit, process: Some(process), before }
    }

    /// True once it is over.
    pub(crate) fn is_over(&self) -> bool {
        let lasted = self.began.elapsed();
        if lasted <= self.limit {
            return false;
        }
        let now = [crowded(), self.process.map_or(Duration::ZERO, kept_waiting)];
        let waited = now.iter().zip(self.before).map(|(now, before)| now.saturating_sub(before)).max();
        lasted.saturating_sub(waited.unwrap_or_default()) > self.limit
    }
}

/// Time for which the thread of a process that waited longest for a processor did so (sched-stats.rst of the kernel); zero
/// where the kernel does not count it.
fn kept_waiting(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let waited = threads.filter_map(|thread| {
        let counted = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        counted.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
    });
    waited.max().unwrap_or_default()
}

/// Time since the start of the system in which some program waited for a processor (psi.rst of the kernel), which is little
/// where one program has a processor for itself; zero where the kernel does not count it.
fn crowded() -> Duration {
    let pressure = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = pressure.lines().next().and_then(|some| some.rsplit_once("total="));
    Duration::from_micros(total.and_then(|(_, micros)| micros.parse().ok()).unwrap_or(0))
}
