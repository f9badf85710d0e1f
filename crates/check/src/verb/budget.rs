//! Shares of the time budget: about half for the capacity, the rest for speed and the other parts. Each share includes
//! restoring.

use std::time::Duration;

/// Share of `verify`, if data may be lost.
const VERIFY: f64 = 0.5;

/// Share of `verify` if data is preserved. It covers a fake, on which everything must be restored twice; on other cards
/// the reserve remains unused, and half of the budget is spent.
const VERIFY_KEEPING: f64 = 0.85;

/// Share of the remaining time for the map. Marks and sustained use follow it.
const MAP: f64 = 0.6;

/// Budget in seconds of the target's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBudget {
    began: f64,
    total_s: f64,
}

impl TimeBudget {
    pub(super) fn new(all: Duration, now: f64) -> Self {
        TimeBudget { began: now, total_s: all.as_secs_f64() }
    }

    /// Time for `verify`, restoring included.
    pub(super) fn verify_time(&self, keeps: bool) -> Duration {
        Duration::from_secs_f64(self.total_s * if keeps { VERIFY_KEEPING } else { VERIFY })
    }

    pub(super) fn seconds_left(&self, now: f64) -> f64 {
        (self.began + self.total_s - now).max(0.0)
    }

    /// Share of the remaining time, restoring included.
    pub(super) fn share_of_rest(&self, now: f64, share: f64) -> Duration {
        Duration::from_secs_f64(self.seconds_left(now) * share)
    }

    pub(super) fn map_time(&self, now: f64) -> Duration {
        self.share_of_rest(now, MAP)
    }

    /// Seconds since the start.
    pub(super) fn seconds_spent(&self, now: f64) -> f64 {
        now - self.began
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_gets_half_or_85_percent_of_the_budget() {
        let budget = TimeBudget::new(Duration::from_secs(180), 1000.0);
        assert_eq!(budget.verify_time(false), Duration::from_secs(90));
        assert_eq!(budget.verify_time(true), Duration::from_secs(153));
        assert_eq!((budget.seconds_left(1100.0), budget.seconds_left(2000.0)), (80.0, 0.0));
        assert_eq!(budget.share_of_rest(1100.0, 0.5), Duration::from_secs(40));
        assert_eq!(budget.map_time(1100.0), Duration::from_secs(48));
        assert_eq!(budget.seconds_spent(1030.0), 30.0);
    }
}
