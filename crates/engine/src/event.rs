//! What happens while a card is worked on, for progress lines and live pages.

use cardscope_model::finding::Finding;
use std::ops::Range;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What a verb is going to do; said once, before its first stage.
    Plan(Plan),
    /// A stage of the plan begins, or one that no plan foresaw.
    Stage(Step),
    /// A part of the stage begins.
    Phase {
        /// What it is.
        step: Step,
        /// The share of the stage that it takes: `0.2..0.4`.
        part: Range<f64>,
    },
    /// How far the stage or phase is.
    Progress {
        /// Bytes moved so far.
        bytes: u64,
        /// Seconds passed on the target's clock.
        seconds: f64,
    },
    /// Nothing is asked of the card for so many seconds, so that it comes to rest.
    Wait(f64),
    /// A figure came out.
    Figure {
        /// Of what.
        what: String,
        /// Speed in MB/s.
        mb_s: f64,
    },
    /// From now on its results are stored, in a session of this name.
    Stored(String),
    /// A conclusion was made.
    Found(Finding),
    /// Something worth saying at once.
    Note(String),
}

/// What begins, and what will end it, where that is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// In a few words: `reading back`.
    pub what: String,
    /// Bytes it will move.
    pub bytes: Option<u64>,
    /// Seconds it will take.
    pub seconds: Option<f64>,
}

/// The stages of a verb, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// Each with its weight: the seconds it takes, or its share of the whole in any unit. One that turns out to be needless
    /// is passed over.
    pub stages: Vec<(String, f64)>,
    /// How long all of it takes.
    pub takes: Takes,
    /// True for a run that is watched over hours: speed and temperature over time are of interest.
    pub long: bool,
    /// What it writes and what becomes of the card's data, in a line; empty where there is nothing to say.
    pub says: String,
}

/// How long a plan takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Takes {
    /// As the speed so far shows.
    #[default]
    AsSeen,
    /// The seconds of its stages, which are their weights.
    Weights,
    /// So many seconds at most, whatever the stages take.
    AtMost(f64),
}

/// Most stages of a plan: a thousand runs of any recipe that comes with the program.
const MOST_STAGES: usize = 20_000;

impl Plan {
    /// A plan of stages by their names and weights. One of more than 20 000 has none, and counts as a long run.
    pub fn of<N: Into<String>>(stages: impl IntoIterator<Item = (N, f64)>) -> Self {
        let stages = stages.into_iter().map(|(name, weight)| (name.into(), weight));
        let stages: Vec<_> = stages.take(MOST_STAGES + 1).collect();
        match stages.len() > MOST_STAGES {
            true => Plan { long: true, ..Plan::default() },
            false => Plan { stages, ..Plan::default() },
        }
    }

    /// The same, with a line that says what it writes.
    #[must_use]
    pub fn saying(mut self, line: impl Into<String>) -> Self {
        self.says = line.into();
        self
    }

    /// The same, ended by a budget where there is one.
    #[must_use]
    pub fn within(mut self, budget: Option<std::time::Duration>) -> Self {
        if let Some(budget) = budget {
            self.takes = Takes::AtMost(budget.as_secs_f64());
        }
        self
    }
}

/// Where in its plan a verb is. It never goes back.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// The plan.
    pub plan: Plan,
    /// Stages that were begun, those that were passed over included.
    begun: usize,
}

impl Course {
    /// Nothing of it has begun.
    pub fn new(plan: Plan) -> Self {
        Course { plan, begun: 0 }
    }

    /// Enters the next stage of this name; false where the rest of the plan has none.
    pub fn enter(&mut self, name: &str) -> bool {
        let ahead = self.plan.stages[self.begun..].iter().position(|(stage, _)| stage == name);
        self.begun += ahead.map_or(0, |ahead| ahead + 1);
        ahead.is_some()
    }

    /// The number of the stage under way, from 1; 0 before the first.
    pub fn number(&self) -> usize {
        self.begun
    }

    /// Weights of what lies before the stage under way, of the stage, and of what comes after it.
    pub fn weights(&self) -> [f64; 3] {
        let at = self.begun.max(1).min(self.plan.stages.len());
        let sum = |stages: &[(String, f64)]| stages.iter().map(|(_, weight)| weight).sum();
        let (before, rest) = self.plan.stages.split_at(at.saturating_sub(1));
        let (this, after) = rest.split_at(rest.len().min(1));
        [sum(before), sum(this), sum(after)]
    }

    /// The share of the whole that the stage under way takes.
    pub fn share(&self) -> Range<f64> {
        let [before, this, after] = self.weights();
        let all = before + this + after;
        if all > 0.0 { before / all..(before + this) / all } else { 0.0..1.0 }
    }
}

/// Hears what happens: the one way in which probes, the runner and the verbs report.
pub trait Listener {
    /// Takes one event.
    fn event(&mut self, event: &Event);

    /// What will be done.
    fn plan(&mut self, plan: Plan) {
        self.event(&Event::Plan(plan));
    }

    /// A stage begins: what, in a few words, and what will end it, where that is known.
    fn stage(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.event(&Event::Stage(Step { what: what.to_owned(), bytes, seconds }));
    }

    /// A part of the stage begins, of which it is not known how large a part.
    fn phase(&mut self, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.part(0.0..1.0, what, bytes, seconds);
    }

    /// A part of the stage begins that takes this share of it.
    fn part(&mut self, part: Range<f64>, what: &str, bytes: Option<u64>, seconds: Option<f64>) {
        self.event(&Event::Phase { step: Step { what: what.to_owned(), bytes, seconds }, part });
    }

    /// How far it is since the stage or phase began; seconds of the target's clock.
    fn progress(&mut self, bytes: u64, seconds: f64) {
        self.event(&Event::Progress { bytes, seconds });
    }

    /// Nothing is asked of the card for so many seconds.
    fn wait(&mut self, seconds: f64) {
        self.event(&Event::Wait(seconds));
    }

    /// Something worth saying at once.
    fn note(&mut self, text: &str) {
        self.event(&Event::Note(text.to_owned()));
    }
}

/// Hears nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Listener for Silent {
    fn event(&mut self, _event: &Event) {}
}

/// Hears a verb that is a part of another one: its stages are phases of the stage that is under way there.
pub struct Within<'a> {
    outer: &'a mut dyn Listener,
    course: Course,
    stage: String,
}

impl<'a> Within<'a> {
    /// Hands on to `outer`, in whose plan the whole of this verb is one stage.
    pub fn new(outer: &'a mut dyn Listener) -> Self {
        Within { outer, course: Course::default(), stage: String::new() }
    }

    fn hand_on(&mut self, step: &Step, part: &Range<f64>) {
        let share = self.course.share();
        let within = |at: f64| share.start + at * (share.end - share.start);
        let names = [self.stage.as_str(), step.what.as_str()];
        let what: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let step = Step { what: what.join(" · "), ..step.clone() };
        self.outer.event(&Event::Phase { step, part: within(part.start)..within(part.end) });
    }
}

impl Listener for Within<'_> {
    fn event(&mut self, event: &Event) {
        match event {
            Event::Plan(plan) => self.course = Course::new(plan.clone()),
            Event::Stage(step) => {
                self.course.enter(&step.what);
                self.stage.clone_from(&step.what);
                self.hand_on(&Step { what: String::new(), ..step.clone() }, &(0.0..1.0));
            }
            Event::Phase { step, part } => self.hand_on(step, part),
            // The session of the whole is another one.
            Event::Stored(_) => {}
            other => self.outer.event(other),
        }
    }
}

/// Bytes after which progress is reported again.
const TELL_EVERY: u64 = 1 << 20;

/// How far a pass over some bytes is, reported not too often.
#[derive(Debug)]
pub struct Steps {
    began: f64,
    done: u64,
    reported: u64,
}

impl Steps {
    /// A pass begins that was announced, at `now` seconds of the target's clock.
    pub fn begin(now: f64) -> Self {
        Steps { began: now, done: 0, reported: 0 }
    }

    /// So many bytes more are done.
    pub fn done(&mut self, bytes: u64, now: f64, events: &mut dyn Listener) {
        self.done += bytes;
        if self.done >= self.reported + TELL_EVERY {
            self.reported = self.done;
            events.progress(self.done, now - self.began);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<Event>);

    impl Listener for Heard {
        fn event(&mut self, event: &Event) {
            self.0.push(event.clone());
        }
    }

    #[test]
    fn a_course_passes_over_stages_and_never_goes_back() {
        let mut course = Course::new(Plan::of([("write", 1.0), ("check", 1.0), ("restore", 2.0)]));
        assert_eq!((course.number(), course.share()), (0, 0.0..0.25));
        assert!(course.enter("write") && course.enter("restore"));
        assert_eq!((course.number(), course.weights()), (3, [2.0, 2.0, 0.0]));
        assert!(!course.enter("check"));
        assert_eq!((course.number(), course.share()), (3, 0.5..1.0));
    }

    #[test]
    fn a_plan_of_more_stages_than_anybody_counts_is_a_long_run_without_them() {
        let plan = |stages: u64| Plan::of((0..stages).map(|stage| (format!("round {stage}"), 1.0)));
        let most = MOST_STAGES as u64;
        assert_eq!((plan(most).stages.len(), plan(most).long), (MOST_STAGES, false));
        for more in [most + 1, u64::MAX] {
            assert_eq!(plan(more), Plan { long: true, ..Plan::default() });
        }
    }

    #[test]
    fn the_stages_of_a_part_are_phases_of_the_stage_that_it_is() {
        let mut heard = Heard::default();
        let mut within = Within::new(&mut heard);
        within.plan(Plan::of([("writing", 1.0), ("reading back", 3.0)]));
        within.stage("writing", Some(7), None);
        within.stage("reading back", None, None);
        within.part(0.5..1.0, "once more", None, Some(2.0));
        within.note("odd");
        let phase = |what: &str, bytes, seconds, part| Event::Phase {
            step: Step { what: what.to_owned(), bytes, seconds },
            part,
        };
        assert_eq!(
            heard.0,
            [
                phase("writing", Some(7), None, 0.0..0.25),
                phase("reading back", None, None, 0.25..1.0),
                phase("reading back · once more", None, Some(2.0), 0.625..1.0),
                Event::Note("odd".to_owned()),
            ]
        );
    }
}
