//! Explanation of a recipe for users: its tests and the cost of one run.

use super::{LoopAggregate, Recipe, RecipeTest};
use crate::units::GIB;
use serde::{Deserialize, Serialize};

/// Speed of the assumed card in MB/s (10^6 bytes): a slow card that is still sold.
const SLOW_CARD_MB_S: f64 = 20.0;

const CARD_BYTES: u64 = 64 * GIB;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedRecipe {
    pub name: String,
    pub title: String,
    pub version: u32,
    pub fingerprint: String,
    pub source: String,
    pub tool: Option<String>,
    pub area_bytes: u64,
    /// True if anything is written, including the preparation of the area.
    pub writes: bool,
    pub requires_state: Option<String>,
    pub tests: Vec<ExplainedTest>,
    pub estimate: TimeEstimate,
}

/// Explanation of a test. A loop ends at the first of its limits.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainedTest {
    pub test: String,
    pub step: Option<String>,
    /// Bytes of the tested range; None is the whole card.
    #[serialize_always]
    pub size_bytes: Option<u64>,
    pub loops: u32,
    pub aggregate: LoopAggregate,
    pub seconds: Option<f64>,
    pub passes: Option<u32>,
    pub bytes: Option<u64>,
    /// Half width of the 95 % interval, in percent of the mean, that ends the test.
    pub until_percent: Option<f64>,
}

/// Upper estimate of one run on a card of a given speed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeEstimate {
    pub card_mb_s: f64,
    pub seconds: f64,
    pub bytes_written: u64,
    pub bytes_read: u64,
}

impl Recipe {
    pub fn explain_recipe(&self) -> ExplainedRecipe {
        let planned = self.estimate_run(SLOW_CARD_MB_S, CARD_BYTES);
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
            tests: self.tests.iter().map(explain_test).collect(),
            estimate: TimeEstimate {
                card_mb_s: SLOW_CARD_MB_S,
                seconds: planned.seconds.round(),
                bytes_written: planned.bytes_written as u64,
                bytes_read: planned.bytes_read as u64,
            },
        }
    }
}

fn explain_test(test: &RecipeTest) -> ExplainedTest {
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
