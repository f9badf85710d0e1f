//! The document of `doctor`: whether this computer is fit to measure, point by point.

use crate::report::{ExitStatus, ReportDocument};
use crate::worded;
use serde::{Deserialize, Serialize};

worded! {
    /// How a point stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum PointState: word {
        /// As it should be.
        Ok = "ok",
        /// It cannot be told here.
        Unknown = "unknown",
        /// Results will suffer, or something will not work.
        Warn = "warn",
        /// Results will be wrong, or nothing will work.
        Fail = "FAIL",
    }
}

/// Groups of points, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DoctorTopic {
    /// What this user may do.
    Rights,
    /// How the processor is clocked and sleeps, and what else runs on it.
    Processor,
    /// How well time can be told.
    Clock,
    /// Room for buffers.
    Memory,
    /// Heat and supply.
    Heat,
    /// The way to a card.
    Reader,
    /// Programs that disturb.
    Services,
    /// Room for the journal and the archive.
    Storage,
    /// Tools and drivers.
    Helpers,
    /// The kernel itself.
    Kernel,
}

/// One point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorPoint {
    /// In words that stay the same: `io-uring`, `reader-bus`.
    pub point: String,
    /// Its group.
    pub topic: DoctorTopic,
    /// How it stands.
    pub state: PointState,
    /// The device that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub device: Option<String>,
    /// What was seen.
    pub seen: String,
    /// Why it matters.
    pub why: String,
    /// What to do, as a command where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub advice: Option<String>,
}

/// A point before anything was seen of it.
#[derive(Debug, Clone, Copy)]
pub struct DoctorQuestion<'a> {
    topic: DoctorTopic,
    point: &'a str,
    why: &'a str,
}

impl DoctorTopic {
    /// The question behind a point of this topic, and why it matters.
    pub const fn asks<'a>(self, point: &'a str, why: &'a str) -> DoctorQuestion<'a> {
        DoctorQuestion { topic: self, point, why }
    }
}

impl DoctorQuestion<'_> {
    /// The point, as it stands by what was seen; nothing need be done about it.
    pub fn is(&self, state: PointState, seen: impl Into<String>) -> DoctorPoint {
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

    /// The point as it should be.
    pub fn ok(&self, seen: impl Into<String>) -> DoctorPoint {
        self.is(PointState::Ok, seen)
    }

    /// The point where it cannot be told.
    pub fn unknown(&self, seen: impl Into<String>) -> DoctorPoint {
        self.is(PointState::Unknown, seen)
    }

    /// The point where results will suffer, and what to do.
    pub fn warn(&self, seen: impl Into<String>, advice: impl Into<String>) -> DoctorPoint {
        self.is(PointState::Warn, seen).advise(advice)
    }

    /// The point where results will be wrong, and what to do.
    pub fn fail(&self, seen: impl Into<String>, advice: impl Into<String>) -> DoctorPoint {
        self.is(PointState::Fail, seen).advise(advice)
    }
}

impl DoctorPoint {
    /// Adds what to do about it.
    pub fn advise(mut self, advice: impl Into<String>) -> DoctorPoint {
        self.advice = Some(advice.into());
        self
    }

    /// Names the device that it is about.
    pub fn about(mut self, device: &str) -> DoctorPoint {
        self.device = Some(device.to_owned());
        self
    }
}

/// The document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The reader or card looked at, if one was named.
    pub target: Option<String>,
    /// The worst of the points: `ok`, `warn` or `fail`.
    pub verdict: PointState,
    /// Points that fail.
    pub failed: usize,
    /// Points to be warned of.
    pub warned: usize,
    /// All points, by topic.
    pub points: Vec<DoctorPoint>,
}

impl DoctorReport {
    /// Sorts the points by topic and counts them.
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
    fn one_failing_point_makes_the_verdict_and_the_unknown_does_not() {
        let point = |topic: DoctorTopic, state| topic.asks("x", "").is(state, "");
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
