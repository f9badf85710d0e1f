//! A recipe as it is explained to who chooses one: what it measures, and what one run costs.

use super::{LoopAggregate, Recipe, RecipeTest};
use crate::units::GIB;
use serde::{Deserialize, Serialize};

/// Speed of the card that the cost is estimated for, in MB/s (10^6 bytes): a slow card that is still sold.
const SLOW_CARD_MB_S: f64 = 20.0;

/// Bytes of that card, for tests that go over all of it.
const CARD_BYTES: u64 = 64 * GIB;

/// A recipe explained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedRecipe {
    /// The name on the command line.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Version of the method in the file.
    pub version: u32,
    /// Version and hash of the recipe's text.
    pub fingerprint: String,
    /// Where the method is known from.
    pub source: String,
    /// The tool whose output is imitated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Bytes of the test area.
    pub area_bytes: u64,
    /// Whether anything is written, the preparation of the area included.
    pub writes: bool,
    /// State that the method demands of the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_state: Option<String>,
    /// The tests, in the order in which they run.
    pub tests: Vec<ExplainedTest>,
    /// Cost of one run.
    pub estimate: TimeEstimate,
}

/// One test of it. A loop ends at the first of its limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedTest {
    /// Pattern and operation: `RND4K Q1T1 read`.
    pub test: String,
    /// Tells two tests of one name apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Bytes that it goes over; `None` is the whole card.
    pub size_bytes: Option<u64>,
    /// Loops that count.
    pub loops: u32,
    /// How the loops become one figure.
    pub aggregate: LoopAggregate,
    /// Limit of a loop in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Limit of a loop in passes over its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<u32>,
    /// Limit of a loop in bytes of each thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Half width of the 95 % interval, in percent of the mean, at which the test ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_percent: Option<f64>,
}

/// An estimate from above for one run on a card of a given speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeEstimate {
    /// Speed of that card.
    pub card_mb_s: f64,
    /// Seconds, rests included.
    pub seconds: f64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes read.
    pub bytes_read: u64,
}

impl Recipe {
    /// Explains it.
    pub fn explained(&self) -> ExplainedRecipe {
        let planned = self.planned(SLOW_CARD_MB_S, CARD_BYTES);
        ExplainedRecipe {
            name: self.name.clone(),
            title: self.title.clone(),
            version: self.version,
            fingerprint: self.fingerprint.clone(),
            source: self.source.clone(),
            tool: self.tool.clone(),
            area_bytes: self.area,
            writes: self.writes() || self.prepares(),
            requires_state: self.requires_state.clone(),
            tests: self.tests.iter().map(explained).collect(),
            estimate: TimeEstimate {
                card_mb_s: SLOW_CARD_MB_S,
                seconds: planned.seconds.round(),
                bytes_written: planned.bytes_written as u64,
                bytes_read: planned.bytes_read as u64,
            },
        }
    }
}

fn explained(test: &RecipeTest) -> ExplainedTest {
    ExplainedTest {
        test: test.name.to_string(),
        step: test.step.clone(),
        size_bytes: Some(test.size).filter(|size| *size != u64::MAX),
        loops: test.loops,
        aggregate: test.aggregate,
        seconds: test.limit.seconds.or(test.until.map(|until| until.max_s)),
        passes: test.limit.passes,
        bytes: test.limit.bytes,
        until_percent: test.until.map(|until| until.ci95_percent),
    }
}
