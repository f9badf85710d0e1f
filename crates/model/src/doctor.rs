//! Document of `doctor`: points that decide whether this computer is fit to measure.

use crate::report::{ExitStatus, ReportDocument};
use serde::{Deserialize, Serialize};

worded! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PointState: word {
        Ok = "ok",
        Unknown = "unknown",
        /// Results suffer, or something does not work.
        Warn = "warn",
        /// Results are wrong, or nothing works.
        Fail = "FAIL",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DoctorTopic {
    Rights,
    /// Clock rate and sleep states of the processor, and its load.
    Processor,
    Clock,
    Memory,
    Heat,
    Reader,
    Services,
    Storage,
    Helpers,
    Kernel,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorPoint {
    /// Stable identifier, e.g. `io-uring` or `reader-bus`.
    pub point: String,
    pub topic: DoctorTopic,
    pub state: PointState,
    pub device: Option<String>,
    pub seen: String,
    /// Effect on measurements.
    pub why: String,
    pub advice: Option<String>,
}

/// Point before its check.
#[derive(Debug, Clone, Copy)]
pub struct DoctorQuestion<'a> {
    topic: DoctorTopic,
    point: &'a str,
    why: &'a str,
}

impl DoctorTopic {
    /// Starts a point of this topic; `why` is its effect on measurements.
    pub const fn define_point<'a>(self, point: &'a str, why: &'a str) -> DoctorQuestion<'a> {
        DoctorQuestion { topic: self, point, why }
    }
}

impl DoctorQuestion<'_> {
    pub fn with_state(&self, state: PointState, seen: impl Into<String>) -> DoctorPoint {
        DoctorPoint {
            point: self.point.to_owned(),
            topic: self.topic,
            state,
            device: None,
            seen: seen.into(),
            why: self.why.to_owned(),
            advice: None,
        }
    }

    pub fn ok(&self, seen: impl Into<String>) -> DoctorPoint {
        self.with_state(PointState::Ok, seen)
    }

    pub fn unknown(&self, seen: impl Into<String>) -> DoctorPoint {
        self.with_state(PointState::Unknown, seen)
    }

    pub fn warn(&self, seen: impl Into<String>, advice: impl Into<String>) -> DoctorPoint {
        self.with_state(PointState::Warn, seen).with_advice(advice)
    }

    pub fn fail(&self, seen: impl Into<String>, advice: impl Into<String>) -> DoctorPoint {
        self.with_state(PointState::Fail, seen).with_advice(advice)
    }
}

impl DoctorPoint {
    pub fn with_advice(mut self, advice: impl Into<String>) -> DoctorPoint {
        self.advice = Some(advice.into());
        self
    }

    pub fn for_device(mut self, device: &str) -> DoctorPoint {
        self.device = Some(device.to_owned());
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReport {
    pub target: Option<String>,
    /// Worst state: `ok`, `warn` or `fail`.
    pub verdict: PointState,
    pub failed: usize,
    pub warned: usize,
    pub points: Vec<DoctorPoint>,
}

impl DoctorReport {
    /// Sorts the points by topic and derives the verdict. Unknown points do not count.
    pub fn new(target: Option<String>, mut points: Vec<DoctorPoint>) -> DoctorReport {
        points.sort_by_key(|point| point.topic);
        let count = |state| points.iter().filter(|point| point.state == state).count();
        let (failed, warned) = (count(PointState::Fail), count(PointState::Warn));
        let verdict = match (failed, warned) {
            (1.., _) => PointState::Fail,
            (0, 1..) => PointState::Warn,
            (0, 0) => PointState::Ok,
        };
        DoctorReport { target, verdict, failed, warned, points }
    }
}

impl ReportDocument for DoctorReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.verdict == PointState::Fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_point_decides_doctor_verdict() {
        let point = |topic: DoctorTopic, state| topic.define_point("x", "").with_state(state, "");
        let report = DoctorReport::new(
            None,
            vec![point(DoctorTopic::Kernel, PointState::Ok), point(DoctorTopic::Rights, PointState::Unknown)],
        );
        assert_eq!((report.verdict, report.points[0].topic), (PointState::Ok, DoctorTopic::Rights));
        let mut points = report.points;
        points
            .extend([point(DoctorTopic::Heat, PointState::Warn), point(DoctorTopic::Heat, PointState::Fail)]);
        let report = DoctorReport::new(None, points);
        assert_eq!((report.verdict, report.failed, report.warned), (PointState::Fail, 1, 1));
    }
}
