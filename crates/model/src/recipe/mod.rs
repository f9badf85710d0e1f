//! Recipes: published benchmark methods as data, one TOML file each, with tests in the order of execution.
//!
//! `file` has the form of the file. The runner gets the validated form here, in which every setting has a value. The
//! recipe's own file documents the original tool and its sources.

mod explanation;
mod file;
mod settings;
mod test_selection;
mod validate;

pub use explanation::{ExplainedRecipe, ExplainedTest, PlannedRun, TimeEstimate};
pub use file::parse;
pub use settings::*;
pub use validate::{MAX_RUNS, RecipeError};

use crate::builtin_files;
use crate::builtin_names::BuiltinFiles;
use crate::test_name::TestName;
use serde::Serialize;

/// Built-in recipes: the files of `recipes/`.
pub static RECIPES: BuiltinFiles = BuiltinFiles {
    kind: "recipe",
    files: builtin_files!("recipes"),
    also: "; `cardscope recipes` lists them all, or name a file of your own by its path",
};

/// Validated recipe, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    pub name: String,
    pub title: String,
    /// Version of the method, increased with every change, so that results are comparable only within a version.
    pub version: u32,
    /// Version and hash of the recipe's text, with the size if it was overridden. Results with the same fingerprint
    /// were measured in the same way.
    pub fingerprint: String,
    pub source: String,
    pub tool: Option<String>,
    pub area: u64,
    /// True if the area is discarded at the start of each run, before its preparation (`fstrim` in PiBenchmarks).
    pub discard: bool,
    pub prepare: Option<RangePreparation>,
    pub rest_after_prepare_s: f64,
    pub requires_state: Option<String>,
    /// Passes of the recipe until it fails.
    pub tries: u32,
    /// Demands on a pass. A recipe with demands ends at the first pass that meets all.
    pub demands: Vec<PassDemand>,
    pub scores: Vec<ToolScore>,
    pub tests: Vec<RecipeTest>,
}

/// Test of a recipe, with a value for every setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecipeTest {
    pub name: TestName,
    /// Distinguishes two tests of one name, e.g. `rewrite`, and names the step in scores.
    pub step: Option<String>,
    /// Bytes of the span, from its start; [`u64::MAX`] is the whole card (span `device` only).
    pub size: u64,
    /// Unmeasured write of the test's range before its first loop, if the original starts with a new file. None
    /// leaves the contents of earlier tests.
    pub prepare: Option<RangePreparation>,
    pub span: TestSpan,
    pub sharing: SpanSharing,
    pub limit: LoopLimit,
    pub loops: u32,
    pub discard_loops: u32,
    pub aggregate: LoopAggregate,
    /// Unmeasured seconds at the start of each loop.
    pub warmup_s: f64,
    /// Pause between this test and the next one of the run; none after the last test.
    pub rest_s: f64,
    pub flush: FlushMode,
    pub data: WriteData,
    pub path: KernelPath,
    pub sync_each: bool,
    pub drop_caches: bool,
    pub random: RandomDraw,
    pub filesystem: Option<String>,
    pub until: Option<RepeatUntil>,
    pub prints: Option<ToolFormat>,
}

impl RecipeTest {
    /// Returns the name in demands and scores: the step, else e.g. `RND4K Q32T1 read`.
    pub fn key(&self) -> String {
        self.step.clone().unwrap_or_else(|| self.name.to_string())
    }
}

impl Recipe {
    /// True if any test overwrites data. The preparation does not count, because recipes that only read run without
    /// it where data must be preserved.
    pub fn writes(&self) -> bool {
        self.tests.iter().any(|t| t.name.op.writes())
    }

    /// True if the recipe writes the area, or a part of it, before measuring.
    pub fn prepares(&self) -> bool {
        self.prepare.is_some() || self.tests.iter().any(|t| t.prepare.is_some())
    }
}
