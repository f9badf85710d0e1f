//! Progress of a running verb: what probes and the runner report, and the lines of `--events`.

use crate::finding::{Finding, FindingWeight};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;
use std::time::Duration;

/// Progress of a running verb.
///
/// Most events are published as they are, one JSON object a line (`--events`), which is also what the server reads from
/// the verbs that it starts. The skipped ones stay within the process: an I/O may cause one, so they are not serialised
/// but added up to samples, and [`Bytes`](ProgressEvent::Bytes) allocates nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ProgressEvent {
    /// The stages, before the first of them.
    Plan(StagePlan),
    /// Results are stored from now on.
    Stored {
        /// Session in the archive.
        session: String,
    },
    /// Progress of the whole verb, at most five times a second.
    #[serde(rename = "moment")]
    Sample(ProgressSample),
    /// A speed was measured.
    ProgressFigure(SpeedFigure),
    /// A conclusion was made.
    #[serde(rename = "found")]
    Finding(FindingSummary),
    /// A message for the user.
    Note {
        /// One line.
        text: String,
    },
    /// A stage begins, of the plan or an unplanned one.
    #[serde(skip)]
    PlanStage(ProgressStep),
    /// A part of the stage begins.
    #[serde(skip)]
    Phase {
        /// The part.
        step: ProgressStep,
        /// Share of the stage: `0.2..0.4`.
        part: Range<f64>,
    },
    /// Bytes moved since the stage or phase began.
    #[serde(skip)]
    Bytes(u64),
    /// The card is left idle for this many seconds.
    #[serde(skip)]
    Wait(f64),
}

impl ProgressEvent {
    /// True for events that `--events` prints; the others cannot be serialised.
    pub fn is_published(&self) -> bool {
        !matches!(self, Self::PlanStage(_) | Self::Phase { .. } | Self::Bytes(_) | Self::Wait(_))
    }
}

/// A stage or phase that begins.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressStep {
    /// A few words: `reading back`.
    pub name: String,
    /// Bytes that it will move, where known.
    pub bytes: Option<u64>,
    /// Seconds that it will take, where known.
    pub seconds: Option<f64>,
    /// True while overwritten data is restored.
    pub restores: bool,
}

/// The stages of a verb, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    /// Stages in order; any may be skipped. Published without them where there are more than 1000.
    #[serde(serialize_with = "published_stages")]
    pub stages: Vec<PlannedStage>,
    /// Duration of the whole.
    #[serde(skip)]
    pub duration: PlannedDuration,
    /// True for runs of hours, whose speed and temperature over time are shown.
    #[serde(skip)]
    pub long: bool,
    /// What is written and what becomes of the card's data, in a line; may be empty.
    pub says: String,
}

/// A stage of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Stage))]
pub struct PlannedStage {
    /// In a few words: `reading back`.
    pub name: String,
    /// Its share of the whole, in a unit of the plan's own.
    pub weight: f64,
}

/// Duration of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum PlannedDuration {
    /// Extrapolated from the share that is done.
    #[default]
    Extrapolated,
    /// The sum of the weights, which are seconds.
    SumOfWeights,
    /// Seconds at most, whatever the stages take.
    AtMost(f64),
}

/// Stages of a plan: a thousand runs of any recipe that comes with the program.
const MAX_STAGES: usize = 20_000;

/// A server sends the plan again with every change of a task.
const MAX_PUBLISHED_STAGES: usize = 1000;

fn published_stages<S: Serializer>(stages: &[PlannedStage], serializer: S) -> Result<S::Ok, S::Error> {
    let fits = stages.len() <= MAX_PUBLISHED_STAGES;
    stages[..if fits { stages.len() } else { 0 }].serialize(serializer)
}

impl StagePlan {
    /// A plan from names and weights. More than 20 000 stages are a long run without any.
    pub fn from_stages<N: Into<String>>(stages: impl IntoIterator<Item = (N, f64)>) -> Self {
        let stages = stages.into_iter().map(|(name, weight)| PlannedStage { name: name.into(), weight });
        let stages: Vec<_> = stages.take(MAX_STAGES + 1).collect();
        match stages.len() > MAX_STAGES {
            true => StagePlan { long: true, ..StagePlan::default() },
            false => StagePlan { stages, ..StagePlan::default() },
        }
    }

    /// Adds the line on what is written.
    #[must_use]
    pub fn with_summary(mut self, line: impl Into<String>) -> Self {
        self.says = line.into();
        self
    }

    /// Limits the duration to the budget, if there is one.
    #[must_use]
    pub fn with_budget(mut self, budget: Option<Duration>) -> Self {
        if let Some(budget) = budget {
            self.duration = PlannedDuration::AtMost(budget.as_secs_f64());
        }
        self
    }
}

/// How far a verb is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Moment))]
pub struct ProgressSample {
    /// Seconds since it began, by the card's clock.
    pub at: f64,
    /// The stage under way.
    pub stage: String,
    /// Its number, from 1; 0 before the first.
    pub stage_number: u32,
    /// Number of stages.
    pub stages: u32,
    /// The part of the stage under way; empty where a stage has none.
    pub phase: String,
    /// The share of the whole that is done, 0 to 1, where it is known.
    pub done: Option<f64>,
    /// Bytes moved in this stage or phase.
    pub bytes: Option<u64>,
    /// Bytes that it moves in all, where that is known.
    pub total_bytes: Option<u64>,
    /// Speed of the last second in MB/s (10^6 bytes).
    pub mb_s: Option<f64>,
    /// Mean latency of the I/Os since the moment before, in microseconds.
    pub latency_us: Option<f64>,
    /// The card's temperature in °C, where one was taken within a minute.
    pub celsius: Option<f64>,
    /// Seconds left for all of it, where that can be known.
    pub left_s: Option<f64>,
    /// What is waited for, after three seconds without an answer.
    pub waits_for: Option<String>,
}

/// A speed that came out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Figure))]
pub struct SpeedFigure {
    /// The test: `RND4K Q32T1 read`.
    pub what: String,
    /// In MB/s (10^6 bytes).
    pub mb_s: f64,
}

/// A conclusion in two sentences; the document has its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Found))]
pub struct FindingSummary {
    /// `note`, `hint` or `bad`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub weight: FindingWeight,
    /// The conclusion.
    pub verdict: String,
    /// What to do about it.
    pub advice: Option<String>,
}

impl From<&Finding> for FindingSummary {
    fn from(finding: &Finding) -> Self {
        let Finding { weight, verdict, advice, .. } = finding;
        FindingSummary { weight: *weight, verdict: verdict.clone(), advice: advice.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn json(event: &ProgressEvent) -> String {
        serde_json::to_string(event).unwrap()
    }

    #[test]
    fn published_events_are_tagged_and_read_back() {
        let finding =
            FindingSummary { weight: FindingWeight::Bad, verdict: "It is a fake.".into(), advice: None };
        let plan =
            StagePlan { long: true, ..StagePlan::from_stages([("write", 1.0)]) }.with_summary("writes");
        let sample = ProgressSample { at: 1.5, mb_s: Some(20.0), ..ProgressSample::default() };
        let figure = SpeedFigure { what: "SEQ1M Q8T1 read".into(), mb_s: 90.5 };
        for (event, line) in [
            (
                ProgressEvent::Plan(plan),
                r#"{"event":"plan","stages":[{"name":"write","weight":1.0}],"says":"writes"}"#,
            ),
            (ProgressEvent::Stored { session: "1".into() }, r#"{"event":"stored","session":"1"}"#),
            (
                ProgressEvent::Sample(sample),
                r#"{"event":"moment","at":1.5,"stage":"","stage_number":0,"stages":0,"phase":"","done":null,"bytes":null,"total_bytes":null,"mb_s":20.0,"latency_us":null,"celsius":null,"left_s":null,"waits_for":null}"#,
            ),
            (
                ProgressEvent::ProgressFigure(figure),
                r#"{"event":"figure","what":"SEQ1M Q8T1 read","mb_s":90.5}"#,
            ),
            (
                ProgressEvent::Finding(finding),
                r#"{"event":"found","weight":"bad","verdict":"It is a fake.","advice":null}"#,
            ),
            (ProgressEvent::Note { text: "odd".into() }, r#"{"event":"note","text":"odd"}"#),
        ] {
            assert!(event.is_published());
            assert_eq!(json(&event), line);
            assert_eq!(json(&serde_json::from_str(line).unwrap()), line);
        }
    }

    #[test]
    fn unpublished_events_are_neither_written_nor_read() {
        let step = ProgressStep::default();
        for event in [
            ProgressEvent::PlanStage(step.clone()),
            ProgressEvent::Phase { step, part: 0.0..1.0 },
            ProgressEvent::Bytes(1),
            ProgressEvent::Wait(1.0),
        ] {
            assert!(!event.is_published() && serde_json::to_string(&event).is_err());
        }
        for name in ["stage", "phase", "bytes", "wait"] {
            let line = format!(r#"{{"event":"{name}"}}"#);
            assert!(serde_json::from_str::<ProgressEvent>(&line).is_err(), "{line}");
        }
    }

    #[test]
    fn plan_with_too_many_stages_is_long_run_without_them() {
        let plan =
            |stages: usize| StagePlan::from_stages((0..stages).map(|stage| (format!("round {stage}"), 1.0)));
        assert_eq!((plan(MAX_STAGES).stages.len(), plan(MAX_STAGES).long), (MAX_STAGES, false));
        for more in [MAX_STAGES + 1, usize::MAX] {
            assert_eq!(plan(more), StagePlan { long: true, ..StagePlan::default() });
        }
        let published = |stages: usize| {
            let line = json(&ProgressEvent::Plan(plan(stages).with_summary("writes")));
            match serde_json::from_str(&line).unwrap() {
                ProgressEvent::Plan(StagePlan { stages, says, .. }) => (stages.len(), says),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(published(MAX_PUBLISHED_STAGES), (MAX_PUBLISHED_STAGES, "writes".to_owned()));
        assert_eq!(published(MAX_PUBLISHED_STAGES + 1), (0, "writes".to_owned()));
    }
}
