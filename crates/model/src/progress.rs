//! Progress events of a running verb, and their form in `--events`.

use crate::finding::{Finding, FindingWeight};
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;
use std::time::Duration;

/// Progress event of a running verb.
///
/// Published events are one JSON object per line (`--events`), which the server reads from the verbs that it starts.
/// The skipped ones stay in the process: they may occur for every I/O, so they are summed up to samples and never
/// serialized, and [`Bytes`](ProgressEvent::Bytes) allocates nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ProgressEvent {
    /// Stages, sent before the first one.
    Plan(StagePlan),
    Stored {
        session: String,
    },
    /// Progress of the whole verb, at most five times per second.
    #[serde(rename = "moment")]
    Sample(ProgressSample),
    Figure(SpeedFigure),
    #[serde(rename = "found")]
    Finding(FindingSummary),
    Note {
        text: String,
    },
    /// Start of a stage, planned or not.
    #[serde(skip)]
    Stage(ProgressStep),
    /// Start of a part of the stage.
    #[serde(skip)]
    Phase {
        step: ProgressStep,
        /// Range of the stage's share: `0.2..0.4`.
        part: Range<f64>,
    },
    /// Bytes moved since the start of the stage or phase.
    #[serde(skip)]
    Bytes(u64),
    /// Pause of this many seconds in which the card is idle.
    #[serde(skip)]
    Wait(f64),
}

impl ProgressEvent {
    /// True for events of `--events`; the others cannot be serialized.
    pub fn is_published(&self) -> bool {
        !matches!(self, Self::Stage(_) | Self::Phase { .. } | Self::Bytes(_) | Self::Wait(_))
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProgressStep {
    pub name: String,
    pub bytes: Option<u64>,
    pub seconds: Option<f64>,
    pub restores: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    /// Stages in order; any may be skipped. Not published if there are more than 1000.
    #[serde(serialize_with = "published_stages")]
    pub stages: Vec<PlannedStage>,
    #[serde(skip)]
    pub duration: PlannedDuration,
    /// True for runs of hours, which show speed and temperature over time.
    #[serde(skip)]
    pub long: bool,
    /// Line about what is written and whether data is preserved; may be empty.
    pub says: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Stage))]
pub struct PlannedStage {
    pub name: String,
    /// Share of the whole, in any unit.
    pub weight: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum PlannedDuration {
    /// Extrapolated from the share that is done.
    #[default]
    Extrapolated,
    /// Sum of the weights, which are seconds.
    SumOfWeights,
    /// Upper limit in seconds.
    AtMost(f64),
}

/// Most stages of a plan: enough for a thousand runs of any built-in recipe.
const MAX_STAGES: usize = 20_000;

/// Most published stages, because a server sends the plan again with every change of a task.
const MAX_PUBLISHED_STAGES: usize = 1000;

fn published_stages<S: Serializer>(stages: &[PlannedStage], serializer: S) -> Result<S::Ok, S::Error> {
    let fits = stages.len() <= MAX_PUBLISHED_STAGES;
    stages[..if fits { stages.len() } else { 0 }].serialize(serializer)
}

impl StagePlan {
    /// Builds a plan from names and weights. With more than 20 000 stages it becomes a long run without stages.
    pub fn from_stages<N: Into<String>>(stages: impl IntoIterator<Item = (N, f64)>) -> Self {
        let stages = stages.into_iter().map(|(name, weight)| PlannedStage { name: name.into(), weight });
        let stages: Vec<_> = stages.take(MAX_STAGES + 1).collect();
        match stages.len() > MAX_STAGES {
            true => StagePlan { long: true, ..StagePlan::default() },
            false => StagePlan { stages, ..StagePlan::default() },
        }
    }

    #[must_use]
    pub fn with_summary(mut self, line: impl Into<String>) -> Self {
        self.says = line.into();
        self
    }

    #[must_use]
    pub fn with_budget(mut self, budget: Option<Duration>) -> Self {
        if let Some(budget) = budget {
            self.duration = PlannedDuration::AtMost(budget.as_secs_f64());
        }
        self
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Moment))]
pub struct ProgressSample {
    pub at: f64,
    pub stage: String,
    pub stage_number: u32,
    pub stages: u32,
    pub phase: String,
    /// Completed share of the whole, 0 to 1.
    pub done: Option<f64>,
    pub bytes: Option<u64>,
    pub total_bytes: Option<u64>,
    /// Speed of the last second in MB/s (10^6 bytes).
    pub mb_s: Option<f64>,
    pub latency_us: Option<f64>,
    /// Temperature of the card, if measured within the last minute.
    pub celsius: Option<f64>,
    pub left_s: Option<f64>,
    /// Pending operation, after three seconds without an answer.
    pub waits_for: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Figure))]
pub struct SpeedFigure {
    pub what: String,
    pub mb_s: f64,
}

/// Conclusion without its evidence, which is in the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Found))]
pub struct FindingSummary {
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub weight: FindingWeight,
    pub verdict: String,
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
            (ProgressEvent::Figure(figure), r#"{"event":"figure","what":"SEQ1M Q8T1 read","mb_s":90.5}"#),
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
            ProgressEvent::Stage(step.clone()),
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
