//! One thing that was looked for in a card: measured, not there, more than could be looked at, or not looked at.

use super::plot::Plot;
use serde::{Deserialize, Serialize};

/// Why what neither time nor bytes were left for was not tested; details may follow.
pub const NO_TIME: &str = "no time left";

/// What became of looking for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropertyStatus {
    /// States the value that was measured.
    Measured,
    /// It was looked for, and the card shows nothing.
    None,
    /// More than `bound`, where the test ended.
    AtLeast,
    /// It was not looked for; `reason` says why.
    #[default]
    NotTested,
}

/// A number that a conclusion rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceNumber {
    /// Of what.
    pub what: String,
    /// The number.
    pub value: f64,
    /// Its unit: `µs`, `MB/s`, `bytes`, `%`, or empty for a count.
    pub unit: String,
}

/// What a value rests on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PropertyEvidence {
    /// How it was looked for, in one sentence.
    pub method: String,
    /// The numbers, in reading order.
    pub numbers: Vec<EvidenceNumber>,
    /// The picture of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plot: Option<Plot>,
    /// What it cost.
    pub cost: SearchCost,
}

/// What looking for something cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchCost {
    /// Read, saving originals included.
    pub read_bytes: u64,
    /// Written, putting back left out.
    pub written_bytes: u64,
    /// Seconds of the target's clock.
    pub seconds: f64,
}

impl PropertyEvidence {
    /// Evidence by a method, without numbers yet.
    pub fn by(method: impl Into<String>) -> Self {
        PropertyEvidence { method: method.into(), ..PropertyEvidence::default() }
    }

    /// Adds a number.
    pub fn number(mut self, what: &str, value: f64, unit: &str) -> Self {
        self.numbers.push(EvidenceNumber { what: what.to_owned(), value, unit: unit.to_owned() });
        self
    }

    /// Adds several numbers, each with what it is and its unit.
    pub fn numbers<'a, S: AsRef<str>>(mut self, all: impl IntoIterator<Item = (S, f64, &'a str)>) -> Self {
        for (what, value, unit) in all {
            self = self.number(what.as_ref(), value, unit);
        }
        self
    }

    /// Adds the picture.
    pub fn plot(mut self, plot: Plot) -> Self {
        self.plot = Some(plot);
        self
    }

    /// Says what it cost.
    pub fn cost(mut self, cost: SearchCost) -> Self {
        self.cost = cost;
        self
    }
}

/// A property and how well it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Property<T> {
    /// The value; `None` unless it was measured.
    pub value: Option<T>,
    /// What became of looking for it.
    pub status: PropertyStatus,
    /// Where the test ended without reaching it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bound: Option<T>,
    /// Why it was not tested.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// 0 to 1: probability of the value, or of `none`, among the alternatives that were considered.
    pub confidence: f64,
    /// What it rests on.
    pub evidence: PropertyEvidence,
}

impl<T> Default for Property<T> {
    fn default() -> Self {
        Property::not_tested("the map ended early")
    }
}

impl<T> Property<T> {
    /// States the value that was measured.
    pub fn measured(value: T, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { value: Some(value), ..Self::with(PropertyStatus::Measured, confidence, evidence) }
    }

    /// States that it was looked for and nothing shows.
    pub fn none(confidence: f64, evidence: PropertyEvidence) -> Self {
        Self::with(PropertyStatus::None, confidence, evidence)
    }

    /// States that everything up to `bound` was tried and it did not show.
    pub fn at_least(bound: T, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { bound: Some(bound), ..Self::with(PropertyStatus::AtLeast, confidence, evidence) }
    }

    /// States that it was not looked for, and why.
    pub fn not_tested(reason: impl Into<String>) -> Self {
        let reason = Some(reason.into());
        Property { reason, ..Self::with(PropertyStatus::NotTested, 0.0, PropertyEvidence::default()) }
    }

    fn with(status: PropertyStatus, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { value: None, status, bound: None, reason: None, confidence, evidence }
    }

    /// True where there is a value.
    pub fn is_measured(&self) -> bool {
        self.status == PropertyStatus::Measured
    }
}

/// What properties of every type have: whether they were looked for, and what that showed.
pub trait SoughtProperty {
    /// Whether it was looked for.
    fn is_tested(&self) -> bool;

    /// Whether a limit of time or bytes came first.
    fn is_out_of_time(&self) -> bool;

    /// What the value rests on.
    fn evidence(&self) -> &PropertyEvidence;
}

impl<T> SoughtProperty for Property<T> {
    fn is_tested(&self) -> bool {
        self.status != PropertyStatus::NotTested
    }

    fn is_out_of_time(&self) -> bool {
        self.reason.as_ref().is_some_and(|reason| reason.starts_with(NO_TIME))
    }

    fn evidence(&self) -> &PropertyEvidence {
        &self.evidence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scripts_read_stands_there_and_a_value_only_where_it_was_measured() {
        let found = Property::measured(4_194_304_u64, 0.99, PropertyEvidence::by("reads"));
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!((json["value"].as_u64(), json["status"].as_str()), (Some(4_194_304), Some("measured")));
        let more =
            serde_json::to_value(Property::at_least(32_u32, 0.9, PropertyEvidence::default())).unwrap();
        assert!(more["value"].is_null() && more["bound"] == 32 && more["status"] == "at_least", "{more}");
        let not = serde_json::to_value(Property::<u64>::not_tested("no budget")).unwrap();
        assert!(not["value"].is_null() && not["status"] == "not_tested", "{not}");
        assert_eq!(not["reason"], "no budget");
    }

    #[test]
    fn only_what_a_limit_kept_from_being_tested_is_out_of_time() {
        let late = Property::<u64>::not_tested(format!("{NO_TIME} (needs about 3 s; `--budget`)"));
        assert!(late.is_out_of_time());
        for other in [
            Property::default(),
            Property::not_tested("too few reads succeeded"),
            Property::measured(4, 0.9, PropertyEvidence::default()),
        ] {
            assert!(!other.is_out_of_time(), "{other:?}");
        }
    }
}
