//! How the time of a visit is shared out: about half of it for the question whether the capacity is real, the rest for
//! speed and what is inside. Putting back costs as much as writing, and its time is in each share.

use std::time::Duration;

/// Share of the whole for `verify`, what it puts back included.
const VERIFY: f64 = 0.5;

/// Of the time of a part that keeps the data, so much is for the part itself; the rest is for putting back and
/// comparing. Measured on a class 10 card (seed 004): 45 s of probing were followed by 65 s of putting back.
const BEFORE_PUTTING_BACK: f64 = 0.4;

/// Share of what is left for the map of a card whose content may go.
const MAP: f64 = 0.6;

/// The clock of a visit, in seconds of the target's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    began: f64,
    all: f64,
}

impl Budget {
    pub(super) fn new(all: Duration, now: f64) -> Self {
        Budget { began: now, all: all.as_secs_f64() }
    }

    /// What `verify` may take before it puts back.
    pub(super) fn verify(&self, keeps: bool) -> Duration {
        let share = if keeps { VERIFY * BEFORE_PUTTING_BACK } else { VERIFY };
        Duration::from_secs_f64(self.all * share)
    }

    /// Seconds that are left.
    pub(super) fn left(&self, now: f64) -> f64 {
        (self.began + self.all - now).max(0.0)
    }

    /// `share` of what is left for a part that keeps the data, putting back not counted.
    pub(super) fn keeping(&self, now: f64, share: f64) -> Duration {
        Duration::from_secs_f64(self.left(now) * share * BEFORE_PUTTING_BACK)
    }

    /// What a map may take where nothing is put back after it: marks and the long run come behind it.
    pub(super) fn map(&self, now: f64, keeps: bool) -> Duration {
        if keeps { self.keeping(now, 1.0) } else { Duration::from_secs_f64(self.left(now) * MAP) }
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
    fn verify_gets_about_half_and_its_putting_back_is_in_it() {
        let budget = Budget::new(Duration::from_secs(180), 1000.0);
        assert_eq!(budget.verify(false), Duration::from_secs(90));
        assert_eq!(budget.verify(true), Duration::from_secs(36));
        assert_eq!((budget.left(1100.0), budget.left(2000.0)), (80.0, 0.0));
        assert_eq!(budget.keeping(1100.0, 0.5), Duration::from_secs(16));
        assert_eq!(budget.map(1100.0, false), Duration::from_secs(48));
        assert_eq!(budget.spent(1030.0), 30.0);
    }
}
