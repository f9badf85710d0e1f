//! The time left for all of a verb: no jumps, and nothing rather than nonsense.

use cardscope_engine::event::{Course, Takes};

/// What was seen for less than this, in seconds or as a share of the whole, tells nothing of the rest.
const LEAST_S: f64 = 2.0;
const LEAST_SHARE: f64 = 0.02;

/// Seconds within which what is shown follows a new estimate.
const FOLLOWS_S: f64 = 8.0;

/// A stage that does not tell how far it is is never taken for more than this share of itself.
const NEARLY: f64 = 0.95;

/// Where a verb is.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) course: &'a Course,
    /// Seconds since the plan was made, and since the stage began.
    pub(super) elapsed: f64,
    pub(super) in_stage: f64,
    /// The share of the stage that is done, where it is known.
    pub(super) done: Option<f64>,
}

impl At<'_> {
    /// Seconds left, as far as they can be known now.
    fn estimate(self) -> Option<f64> {
        let plan = &self.course.plan;
        let [_, this, after] = self.course.weights();
        let left = match plan.takes {
            Takes::AtMost(all) => all - self.elapsed,
            Takes::Weights => {
                let done = self.done.map_or(self.in_stage, |done| done * this);
                after + (this - done.max(self.in_stage.min(this))).max(0.0)
            }
            // A long run of which nobody knows the end.
            Takes::AsSeen if plan.long && plan.stages.is_empty() => return None,
            Takes::AsSeen => self.as_seen()?,
        };
        (left.is_finite() && left > 0.0).then_some(left)
    }

    fn as_seen(self) -> Option<f64> {
        let share = self.course.share();
        let before = self.elapsed - self.in_stage;
        let expected = before / share.start * (share.end - share.start);
        let by_time =
            (expected.is_finite() && expected > 0.0).then(|| (self.in_stage / expected).min(NEARLY));
        let done = self.done.or(by_time)?;
        let done = share.start + done * (share.end - share.start);
        let enough = self.elapsed >= LEAST_S && done >= LEAST_SHARE;
        enough.then(|| self.elapsed * (1.0 - done) / done)
    }
}

/// The time left as it is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Left {
    shown: Option<f64>,
    at: f64,
}

impl Left {
    pub(super) fn seconds(self) -> Option<f64> {
        self.shown
    }

    /// Counts down, and follows what is known by now.
    pub(super) fn update(&mut self, at: At<'_>) {
        let passed = (at.elapsed - self.at).max(0.0);
        self.at = at.elapsed;
        let estimate = at.estimate();
        self.shown = match (self.shown, estimate) {
            (Some(shown), Some(estimate)) => {
                let shown = (shown - passed).max(0.0);
                Some(shown + (estimate - shown) * (1.0 - (-passed / FOLLOWS_S).exp()))
            }
            _ => estimate,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::event::Plan;

    fn at(course: &Course, elapsed: f64, in_stage: f64, done: Option<f64>) -> At<'_> {
        At { course, elapsed, in_stage, done }
    }

    #[test]
    fn a_budget_weights_in_seconds_and_the_speed_so_far_each_tell_the_time_left() {
        let plan = Plan::of([("write", 30.0), ("read", 10.0)]);
        let mut course = Course::new(Plan { takes: Takes::AtMost(180.0), ..plan.clone() });
        assert_eq!(at(&course, 30.0, 30.0, None).estimate(), Some(150.0));
        assert_eq!(at(&course, 200.0, 30.0, None).estimate(), None);
        course.plan.takes = Takes::Weights;
        course.enter("write");
        assert_eq!(at(&course, 12.0, 12.0, None).estimate(), Some(28.0));
        assert_eq!(at(&course, 99.0, 99.0, None).estimate(), Some(10.0));
        course.plan.takes = Takes::AsSeen;
        assert_eq!(at(&course, 12.0, 12.0, Some(0.5)).estimate(), Some(20.0));
        assert_eq!(
            at(&course, 12.0, 12.0, None).estimate(),
            None,
            "the first stage does not tell how far it is"
        );
        assert_eq!(at(&course, 1.0, 1.0, Some(0.5)).estimate(), None, "too early");
        course.enter("read");
        assert_eq!(at(&course, 35.0, 5.0, None).estimate(), Some(5.0), "the stage before tells");
    }

    #[test]
    fn what_is_shown_counts_down_and_follows_without_a_jump() {
        let mut course = Course::new(Plan::of([("write", 1.0)]));
        course.enter("write");
        let mut left = Left::default();
        left.update(at(&course, 10.0, 10.0, Some(0.5)));
        assert_eq!(left.seconds(), Some(10.0));
        // The card became ten times slower.
        left.update(at(&course, 10.1, 10.1, Some(0.1)));
        assert!(left.seconds().is_some_and(|left| (9.9..12.0).contains(&left)), "{left:?}");
    }
}
