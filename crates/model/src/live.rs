//! What a verb says while it goes on, one JSON object a line (`--events`): for the server, and for scripts.

use crate::finding::Weight;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Told {
    /// What is going to be done.
    Plan {
        /// The stages, in order.
        stages: Vec<Stage>,
        /// What is written and what becomes of the card's data, in a line; empty where there is nothing to say.
        says: String,
    },
    /// From now on its results are stored.
    Stored {
        /// The session in the archive.
        session: String,
    },
    /// How far it is, at most five times a second.
    Moment(Moment),
    /// A speed that came out.
    Figure(Figure),
    /// A conclusion, as soon as it is made.
    Found(Found),
    /// Something worth saying at once.
    Note {
        /// What is said.
        text: String,
    },
}

/// A stage of a plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stage {
    /// In a few words: `reading back`.
    pub name: String,
    /// Its share of the whole, in a unit of the plan's own.
    pub weight: f64,
}

/// How far a verb is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Moment {
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Figure {
    /// The test: `RND4K Q32T1 read`.
    pub what: String,
    /// In MB/s (10^6 bytes).
    pub mb_s: f64,
}

/// A conclusion in two sentences; the document has its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Found {
    /// `note`, `hint` or `bad`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub weight: Weight,
    /// The conclusion.
    pub verdict: String,
    /// What to do about it.
    pub advice: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_is_and_is_read_back() {
        let found = Found { weight: Weight::Bad, verdict: "It is a fake.".into(), advice: None };
        let line = serde_json::to_string(&Told::Found(found)).unwrap();
        assert_eq!(line, r#"{"event":"found","weight":"bad","verdict":"It is a fake.","advice":null}"#);
        let moment = Told::Moment(Moment { at: 1.5, mb_s: Some(20.0), ..Moment::default() });
        let line = serde_json::to_string(&moment).unwrap();
        assert_eq!(serde_json::from_str::<Told>(&line).unwrap(), moment);
    }
}
