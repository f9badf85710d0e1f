//! How the time of a visit is shared out: about half of it for the question whether the capacity is real, the rest for
//! speed and what is inside. Each part keeps the time in its share that putting back takes.

use std::time::Duration;

/// Share of the whole for `verify`, what it puts back included.
const VERIFY: f64 = 0.5;

/// The same where the data is kept: time is left over for a card on which all must be put back twice, as on a fake. On
/// any other that time comes back, and half of the whole is spent.
const VERIFY_KEEPING: f64 = 0.85;

/// Share of what is left for the map: marks and the long run come behind it.
const MAP: f64 = 0.6;

/// The clock of a visit, in seconds of the target's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeBudget {
    began: f64,
    all: f64,
}

impl TimeBudget {
    pub(super) fn new(all: Duration, now: f64) -> Self {
        TimeBudget { began: now, all: all.as_secs_f64() }
    }

    /// What `verify` may take, putting back included.
    pub(super) fn verify(&self, keeps: bool) -> Duration {
        Duration::from_secs_f64(self.all * if keeps { VERIFY_KEEPING } else { VERIFY })
    }

    /// Seconds that are left.
    pub(super) fn left(&self, now: f64) -> f64 {
        (self.began + self.all - now).max(0.0)
    }

    /// `share` of what is left, putting back included.
    pub(super) fn share(&self, now: f64, share: f64) -> Duration {
        Duration::from_secs_f64(self.left(now) * share)
    }

    /// What a map may take, putting back included.
    pub(super) fn map(&self, now: f64) -> Duration {
        self.share(now, MAP)
    }

    /// Since the beginning.
    pub(super) fn spent(&self, now: f64) -> f64 {
        now - self.began
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_gets_about_half() {
        let budget = TimeBudget::new(Duration::from_secs(180), 1000.0);
        assert_eq!(budget.verify(false), Duration::from_secs(90));
        assert_eq!(budget.verify(true), Duration::from_secs(153));
        assert_eq!((budget.left(1100.0), budget.left(2000.0)), (80.0, 0.0));
        assert_eq!(budget.share(1100.0, 0.5), Duration::from_secs(40));
        assert_eq!(budget.map(1100.0), Duration::from_secs(48));
        assert_eq!(budget.spent(1030.0), 30.0);
    }
}
