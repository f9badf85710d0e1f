//! Somebody else on the same reader, bus or host: bursts of traffic by the clock, in which everything that goes through
//! the rig takes longer, the shortest command included.

use crate::archetype::schema;

/// Bursts at a fixed period. Times are nanoseconds since the card was put in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Disturbance {
    every: f64,
    lasts: f64,
    /// What is left for us while a burst lasts: 0.05 to 1.
    left: f64,
    /// When the last command would have ended by itself.
    by_itself: f64,
    /// When it did.
    free: f64,
}

impl Disturbance {
    /// `None` where nobody disturbs.
    pub(super) fn new(rig: &schema::Rig) -> Option<Self> {
        let bursts = rig.disturb_every_s > 0.0 && rig.disturb_for_s > 0.0 && rig.disturb_share > 0.0;
        bursts.then_some(Disturbance {
            every: rig.disturb_every_s * 1e9,
            lasts: rig.disturb_for_s * 1e9,
            left: 1.0 - rig.disturb_share,
            by_itself: 0.0,
            free: 0.0,
        })
    }

    /// When a command of `now` ends that would have ended at `end` with nobody else there.
    pub(super) fn stretch(&mut self, now: f64, end: f64) -> f64 {
        let own = (end - now.max(self.by_itself)).max(0.0);
        self.by_itself = end;
        self.free = self.after(now.max(self.free), own).max(end);
        self.free
    }

    /// When `work` nanoseconds of our own are done that begin at `start`.
    fn after(&self, start: f64, mut work: f64) -> f64 {
        let mut at = start;
        while work > 0.0 {
            let (in_burst, until) = self.stretch_of(at);
            let speed = if in_burst { self.left } else { 1.0 };
            let done = (until - at) * speed;
            if done >= work {
                return at + work / speed;
            }
            work -= done;
            // A nanosecond at least, whatever rounding says.
            at = until.max(at + 1.0);
        }
        at
    }

    /// Whether a burst is on at `at`, and when that changes.
    fn stretch_of(&self, at: f64) -> (bool, f64) {
        let number = (at / self.every).floor();
        let begun = number * self.every;
        // The first one begins after a whole period.
        if number >= 1.0 && at < begun + self.lasts {
            return (true, begun + self.lasts);
        }
        (false, begun + self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts() -> Disturbance {
        let rig = schema::Rig {
            disturb_every_s: 10.0,
            disturb_for_s: 2.0,
            disturb_share: 0.75,
            ..schema::Rig::default()
        };
        Disturbance::new(&rig).unwrap()
    }

    #[test]
    fn a_command_in_a_burst_takes_four_times_as_long_and_one_before_it_does_not() {
        let second = 1e9;
        assert_eq!(bursts().stretch(5.0 * second, 5.1 * second), 5.1 * second);
        let slowed = bursts().stretch(10.0 * second, 10.1 * second);
        assert!((slowed - 10.4 * second).abs() < 1.0, "{slowed}");
        assert_eq!(bursts().stretch(12.0 * second, 12.1 * second), 12.1 * second);
    }

    #[test]
    fn a_command_that_a_burst_overtakes_is_slowed_only_while_it_lasts() {
        let second = 1e9;
        // Half a second before the burst, then 2 s that do the work of 0.5 s, then the last half second.
        let end = bursts().stretch(9.5 * second, 11.0 * second);
        assert!((end - 12.5 * second).abs() < 1.0, "{end}");
    }

    #[test]
    fn without_a_share_nobody_disturbs() {
        assert!(Disturbance::new(&schema::Rig::default()).is_none());
    }
}
