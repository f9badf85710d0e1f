//! Property of a card with its status: measured, absent, beyond a bound, or not tested.

use super::plot::Plot;
use serde::{Deserialize, Serialize};

/// Reason, or its beginning, of a test that neither time nor bytes were left for.
pub const NO_TIME: &str = "no time left";

/// Outcome of a search for a property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropertyStatus {
    Measured,
    /// Searched, and the card shows none.
    None,
    /// More than `bound`, where the test ended.
    AtLeast,
    /// Not searched; `reason` is set.
    #[default]
    NotTested,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvidenceNumber {
    pub what: String,
    pub value: f64,
    /// `µs`, `MB/s`, `bytes`, `%`, or empty for a count.
    pub unit: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PropertyEvidence {
    pub method: String,
    pub numbers: Vec<EvidenceNumber>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plot: Option<Plot>,
    pub cost: SearchCost,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchCost {
    /// Includes reads that save data before it is overwritten.
    pub read_bytes: u64,
    /// Excludes writes that restore data.
    pub written_bytes: u64,
    pub seconds: f64,
}

impl PropertyEvidence {
    pub fn from_method(method: impl Into<String>) -> Self {
        PropertyEvidence { method: method.into(), ..PropertyEvidence::default() }
    }

    pub fn with_number(mut self, what: &str, value: f64, unit: &str) -> Self {
        self.numbers.push(EvidenceNumber { what: what.to_owned(), value, unit: unit.to_owned() });
        self
    }

    pub fn with_numbers<'a, S: AsRef<str>>(self, all: impl IntoIterator<Item = (S, f64, &'a str)>) -> Self {
        all.into_iter()
            .fold(self, |evidence, (what, value, unit)| evidence.with_number(what.as_ref(), value, unit))
    }

    pub fn with_plot(self, plot: Plot) -> Self {
        PropertyEvidence { plot: Some(plot), ..self }
    }

    pub fn with_cost(self, cost: SearchCost) -> Self {
        PropertyEvidence { cost, ..self }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Property<T> {
    pub value: Option<T>,
    pub status: PropertyStatus,
    /// Largest value tested, if the property is beyond it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bound: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// 0 to 1: probability of the value, or of `none`, among the alternatives considered.
    pub confidence: f64,
    pub evidence: PropertyEvidence,
}

impl<T> Default for Property<T> {
    fn default() -> Self {
        Property::not_tested("the map ended early")
    }
}

impl<T> Property<T> {
    pub fn measured(value: T, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { value: Some(value), ..Self::with_status(PropertyStatus::Measured, confidence, evidence) }
    }

    /// Builds a property that was searched and is absent.
    pub fn none(confidence: f64, evidence: PropertyEvidence) -> Self {
        Self::with_status(PropertyStatus::None, confidence, evidence)
    }

    /// Builds a property that is beyond `bound`, up to which everything was tested.
    pub fn at_least(bound: T, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { bound: Some(bound), ..Self::with_status(PropertyStatus::AtLeast, confidence, evidence) }
    }

    pub fn not_tested(reason: impl Into<String>) -> Self {
        let reason = Some(reason.into());
        Property { reason, ..Self::with_status(PropertyStatus::NotTested, 0.0, PropertyEvidence::default()) }
    }

    fn with_status(status: PropertyStatus, confidence: f64, evidence: PropertyEvidence) -> Self {
        Property { value: None, status, bound: None, reason: None, confidence, evidence }
    }

    pub fn is_measured(&self) -> bool {
        self.status == PropertyStatus::Measured
    }
}

/// Access to properties of every type.
pub trait SoughtProperty {
    fn is_tested(&self) -> bool;

    fn is_out_of_time(&self) -> bool;

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
    fn property_json_has_value_only_if_measured() {
        let found = Property::measured(4_194_304_u64, 0.99, PropertyEvidence::from_method("reads"));
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
    fn out_of_time_needs_the_no_time_reason() {
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
