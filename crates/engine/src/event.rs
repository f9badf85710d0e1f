//! The listener that probes, the runner and the verbs report their progress to.

use cardscope_model::progress::{PlannedStage, ProgressEvent, ProgressStep, StagePlan};
use std::ops::Range;

/// Position of a verb in its plan; never goes back.
#[derive(Debug, Clone, Default)]
pub struct PlanPosition {
    pub plan: StagePlan,
    /// Stages begun, skipped ones included.
    begun: usize,
}

impl PlanPosition {
    /// The position before the first stage.
    pub fn new(plan: StagePlan) -> Self {
        PlanPosition { plan, begun: 0 }
    }

    /// Enters the next stage of this name; false where the rest of the plan has none.
    pub fn enter_stage(&mut self, name: &str) -> bool {
        let ahead = self.plan.stages[self.begun..].iter().position(|stage| stage.name == name);
        self.begun += ahead.map_or(0, |ahead| ahead + 1);
        ahead.is_some()
    }

    /// Number of the current stage, from 1; 0 before the first.
    pub fn number(&self) -> usize {
        self.begun
    }

    /// Weights of the stages before the current one, of that one, and of those after it.
    pub fn weights(&self) -> [f64; 3] {
        let at = self.begun.max(1).min(self.plan.stages.len());
        let sum = |stages: &[PlannedStage]| stages.iter().map(|stage| stage.weight).sum();
        let (before, rest) = self.plan.stages.split_at(at.saturating_sub(1));
        let (this, after) = rest.split_at(rest.len().min(1));
        [sum(before), sum(this), sum(after)]
    }

    /// Share of the whole that the current stage takes.
    pub fn stage_share(&self) -> Range<f64> {
        let [before, this, after] = self.weights();
        let all = before + this + after;
        if all > 0.0 { before / all..(before + this) / all } else { 0.0..1.0 }
    }
}

/// Receiver of progress.
pub trait Listener {
    /// Receives one event.
    fn event(&mut self, event: &ProgressEvent);

    /// Reports the stages ahead.
    fn announce_plan(&mut self, plan: StagePlan) {
        self.event(&ProgressEvent::Plan(plan));
    }

    /// Reports that a stage begins, with the bytes or seconds that end it, where known.
    fn begin_stage(&mut self, name: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.event(&ProgressEvent::Stage(progress_step(name, bytes, seconds)));
    }

    /// Reports that a stage begins that restores this many bytes of overwritten data.
    fn restoring_stage(&mut self, name: &str, bytes: u64) {
        let step = progress_step(name, Some(bytes), None);
        self.event(&ProgressEvent::Stage(ProgressStep { restores: true, ..step }));
    }

    /// Reports that a phase begins whose share of the stage is unknown.
    fn begin_phase(&mut self, name: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.begin_part(0.0..1.0, name, bytes, seconds);
    }

    /// Reports that a phase begins that takes this share of the stage.
    fn begin_part(&mut self, part: Range<f64>, name: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.event(&ProgressEvent::Phase { step: progress_step(name, bytes, seconds), part });
    }

    /// Reports the bytes moved since the stage or phase began.
    fn report_bytes(&mut self, bytes: u64) {
        self.event(&ProgressEvent::Bytes(bytes));
    }

    /// Reports that the card is left idle for some seconds.
    fn report_wait(&mut self, seconds: f64) {
        self.event(&ProgressEvent::Wait(seconds));
    }

    /// Reports a message for the user.
    fn report_note(&mut self, text: &str) {
        self.event(&ProgressEvent::Note { text: text.to_owned() });
    }
}

fn progress_step(name: &str, bytes: Option<u64>, seconds: Option<f64>) -> ProgressStep {
    ProgressStep { name: name.to_owned(), bytes, seconds, restores: false }
}

/// Discards all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Listener for Silent {
    fn event(&mut self, _event: &ProgressEvent) {}
}

/// Listener of a verb within another one: its stages become phases of the outer verb's current stage.
pub struct NestedListener<'a> {
    outer: &'a mut dyn Listener,
    position: PlanPosition,
    stage: String,
}

impl<'a> NestedListener<'a> {
    /// Forwards to `outer`, in whose plan the nested verb is one stage.
    pub fn new(outer: &'a mut dyn Listener) -> Self {
        NestedListener { outer, position: PlanPosition::default(), stage: String::new() }
    }

    fn forward_phase(&mut self, step: &ProgressStep, part: &Range<f64>) {
        let share = self.position.stage_share();
        let within = |at: f64| share.start + at * (share.end - share.start);
        let names = [self.stage.as_str(), step.name.as_str()];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let step = ProgressStep { name: names.join(" · "), ..step.clone() };
        self.outer.event(&ProgressEvent::Phase { step, part: within(part.start)..within(part.end) });
    }
}

impl Listener for NestedListener<'_> {
    fn event(&mut self, event: &ProgressEvent) {
        match event {
            ProgressEvent::Plan(plan) => self.position = PlanPosition::new(plan.clone()),
            ProgressEvent::Stage(step) => {
                self.position.enter_stage(&step.name);
                self.stage.clone_from(&step.name);
                self.forward_phase(&ProgressStep { name: String::new(), ..step.clone() }, &(0.0..1.0));
            }
            ProgressEvent::Phase { step, part } => self.forward_phase(step, part),
            // The outer verb has a session of its own.
            ProgressEvent::Stored { .. } => {}
            other => self.outer.event(other),
        }
    }
}

/// Bytes between two reports.
const REPORT_EVERY: u64 = 1 << 20;

/// Byte counter of a pass that reports once per MiB.
#[derive(Debug, Default)]
pub struct ByteProgress {
    done: u64,
    reported: u64,
}

impl ByteProgress {
    /// Adds bytes that are done.
    pub fn add(&mut self, bytes: u64, events: &mut dyn Listener) {
        self.done += bytes;
        if self.done >= self.reported + REPORT_EVERY {
            self.reported = self.done;
            events.report_bytes(self.done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct RecordedEvents(Vec<ProgressEvent>);

    impl Listener for RecordedEvents {
        fn event(&mut self, event: &ProgressEvent) {
            self.0.push(event.clone());
        }
    }

    #[test]
    fn position_skips_stages_and_never_goes_back() {
        let stages = [("write", 1.0), ("check", 1.0), ("restore", 2.0)];
        let mut position = PlanPosition::new(StagePlan::from_stages(stages));
        assert_eq!((position.number(), position.stage_share()), (0, 0.0..0.25));
        assert!(position.enter_stage("write") && position.enter_stage("restore"));
        assert_eq!((position.number(), position.weights()), (3, [2.0, 2.0, 0.0]));
        assert!(!position.enter_stage("check"));
        assert_eq!((position.number(), position.stage_share()), (3, 0.5..1.0));
    }

    #[test]
    fn nested_stages_become_phases_of_the_outer_stage() {
        let mut outer = RecordedEvents::default();
        let mut nested = NestedListener::new(&mut outer);
        nested.announce_plan(StagePlan::from_stages([("writing", 1.0), ("reading back", 3.0)]));
        nested.begin_stage("writing", Some(7), None);
        nested.begin_stage("reading back", None, None);
        nested.begin_part(0.5..1.0, "once more", None, Some(2.0));
        nested.restoring_stage("restoring", 9);
        nested.report_note("odd");
        let step = |name: &str, bytes, seconds| ProgressStep {
            name: name.to_owned(),
            bytes,
            seconds,
            restores: name == "restoring",
        };
        let phase = |step, part| ProgressEvent::Phase { step, part };
        assert_eq!(
            outer.0,
            [
                phase(step("writing", Some(7), None), 0.0..0.25),
                phase(step("reading back", None, None), 0.25..1.0),
                phase(step("reading back · once more", None, Some(2.0)), 0.625..1.0),
                phase(step("restoring", Some(9), None), 0.25..1.0),
                ProgressEvent::Note { text: "odd".to_owned() },
            ]
        );
    }
}
