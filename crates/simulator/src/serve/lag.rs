//! How late answers are, counted as they are given: since the start, and over the last thousand.

use cardscope_model::histogram::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Answers that "recent" means.
const RECENT: usize = 1000;

/// An answer later than this is counted as late.
const LATE: Duration = Duration::from_millis(1);

/// Counts requests in flight and the lag of their answers.
#[derive(Debug, Default)]
pub(super) struct Meter {
    in_flight: AtomicU32,
    most: AtomicU32,
    broken: AtomicBool,
    lags: Mutex<Lags>,
}

/// Lags in nanoseconds.
#[derive(Debug, Clone)]
pub(super) struct Lags {
    /// All of them.
    pub(super) all: Histogram,
    /// The last ones, in no order.
    pub(super) recent: Vec<u64>,
    /// How many were later than a millisecond.
    pub(super) late: u64,
    next: usize,
}

impl Default for Lags {
    fn default() -> Self {
        Lags { all: Histogram::default(), recent: Vec::with_capacity(RECENT), late: 0, next: 0 }
    }
}

impl Lags {
    fn record(&mut self, lag: Duration) {
        let nanos = lag.as_nanos() as u64;
        self.all.record(nanos);
        self.late += u64::from(lag > LATE);
        if self.recent.len() < RECENT {
            self.recent.push(nanos);
        } else {
            self.recent[self.next] = nanos;
            self.next = (self.next + 1) % RECENT;
        }
    }
}

impl Meter {
    /// A request came; gives how many are in flight with it.
    pub(super) fn begin(&self) -> u32 {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        now
    }

    /// A request is no longer in flight.
    pub(super) fn end(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// An answer is given, so much after its time.
    pub(super) fn record(&self, lag: Duration) {
        self.lock().record(lag);
    }

    /// Requests in flight now, and the most there ever were.
    pub(super) fn in_flight(&self) -> (u32, u32) {
        (self.in_flight.load(Ordering::Relaxed), self.most.load(Ordering::Relaxed))
    }

    pub(super) fn lags(&self) -> Lags {
        self.lock().clone()
    }

    /// A thread that worked on a request panicked.
    pub(super) fn break_down(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    pub(super) fn broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Lags> {
        self.lags.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_lags_are_the_last_thousand() {
        let meter = Meter::default();
        (0..500).for_each(|_| meter.record(Duration::from_millis(2)));
        (0..1000).for_each(|_| meter.record(Duration::from_micros(3)));
        let lags = meter.lags();
        assert_eq!((lags.all.count(), lags.late, lags.recent.len()), (1500, 500, 1000));
        assert!(lags.recent.iter().all(|n| *n == 3000));
    }
}
