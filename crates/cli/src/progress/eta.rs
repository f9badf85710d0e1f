//! Estimates the remaining time of a verb, smoothed; `None` until enough is done.

use cardscope_engine::event::PlanPosition;
use cardscope_model::progress::PlannedDuration;

/// Minimum time in seconds and minimum share done before extrapolation.
const MIN_SECONDS: f64 = 2.0;
const MIN_SHARE: f64 = 0.02;

/// Time constant of the smoothing in seconds.
const SMOOTHING_S: f64 = 8.0;

/// Upper limit of the assumed share of a stage without reported progress.
const MAX_ASSUMED_SHARE: f64 = 0.95;

/// Position in the plan with the elapsed times.
#[derive(Debug, Clone, Copy)]
pub(super) struct ElapsedTime<'a> {
    pub(super) position: &'a PlanPosition,
    /// Seconds since the start of the plan and of the stage.
    pub(super) elapsed: f64,
    pub(super) in_stage: f64,
    /// Share of the stage that is done, if known.
    pub(super) done: Option<f64>,
}

impl ElapsedTime<'_> {
    fn estimate(self) -> Option<f64> {
        let plan = &self.position.plan;
        let [_, this, after] = self.position.weights();
        let left = match plan.duration {
            PlannedDuration::AtMost(all) => all - self.elapsed,
            PlannedDuration::SumOfWeights => {
                let done = self.done.map_or(self.in_stage, |done| done * this);
                after + (this - done.max(self.in_stage.min(this))).max(0.0)
            }
            // A long run without stages has no end until it is stopped.
            PlannedDuration::Extrapolated if plan.long && plan.stages.is_empty() => return None,
            PlannedDuration::Extrapolated => self.extrapolated()?,
        };
        (left.is_finite() && left > 0.0).then_some(left)
    }

    fn extrapolated(self) -> Option<f64> {
        let share = self.position.stage_share();
        let before = self.elapsed - self.in_stage;
        let expected = before / share.start * (share.end - share.start);
        let by_time = (expected.is_finite() && expected > 0.0)
            .then(|| (self.in_stage / expected).min(MAX_ASSUMED_SHARE));
        let done = self.done.or(by_time)?;
        let done = share.start + done * (share.end - share.start);
        let enough = self.elapsed >= MIN_SECONDS && done >= MIN_SHARE;
        enough.then(|| self.elapsed * (1.0 - done) / done)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Eta {
    smoothed_s: Option<f64>,
    updated_at: f64,
}

impl Eta {
    pub(super) fn seconds(self) -> Option<f64> {
        self.smoothed_s
    }

    /// Counts down by the elapsed time and moves towards the new estimate.
    pub(super) fn update(&mut self, at: ElapsedTime<'_>) {
        let passed = (at.elapsed - self.updated_at).max(0.0);
        self.updated_at = at.elapsed;
        let estimate = at.estimate();
        self.smoothed_s = match (self.smoothed_s, estimate) {
            (Some(shown), Some(estimate)) => {
                let shown = (shown - passed).max(0.0);
                Some(shown + (estimate - shown) * (1.0 - (-passed / SMOOTHING_S).exp()))
            }
            _ => estimate,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::progress::StagePlan;

    fn at(position: &PlanPosition, elapsed: f64, in_stage: f64, done: Option<f64>) -> ElapsedTime<'_> {
        ElapsedTime { position, elapsed, in_stage, done }
    }

    #[test]
    fn estimate_uses_budget_weights_or_speed() {
        let plan = StagePlan::from_stages([("write", 30.0), ("read", 10.0)]);
        let mut position =
            PlanPosition::new(StagePlan { duration: PlannedDuration::AtMost(180.0), ..plan.clone() });
        assert_eq!(at(&position, 30.0, 30.0, None).estimate(), Some(150.0));
        assert_eq!(at(&position, 200.0, 30.0, None).estimate(), None);
        position.plan.duration = PlannedDuration::SumOfWeights;
        position.enter_stage("write");
        assert_eq!(at(&position, 12.0, 12.0, None).estimate(), Some(28.0));
        assert_eq!(at(&position, 99.0, 99.0, None).estimate(), Some(10.0));
        position.plan.duration = PlannedDuration::Extrapolated;
        assert_eq!(at(&position, 12.0, 12.0, Some(0.5)).estimate(), Some(20.0));
        assert_eq!(
            at(&position, 12.0, 12.0, None).estimate(),
            None,
            "the first stage does not tell how far it is"
        );
        assert_eq!(at(&position, 1.0, 1.0, Some(0.5)).estimate(), None, "too early");
        position.enter_stage("read");
        assert_eq!(at(&position, 35.0, 5.0, None).estimate(), Some(5.0), "the stage before tells");
    }

    #[test]
    fn eta_counts_down_without_jumps() {
        let mut position = PlanPosition::new(StagePlan::from_stages([("write", 1.0)]));
        position.enter_stage("write");
        let mut eta = Eta::default();
        eta.update(at(&position, 10.0, 10.0, Some(0.5)));
        assert_eq!(eta.seconds(), Some(10.0));
        // The card became ten times slower.
        eta.update(at(&position, 10.1, 10.1, Some(0.1)));
        assert!(eta.seconds().is_some_and(|left| (9.9..12.0).contains(&left)), "{eta:?}");
    }
}
