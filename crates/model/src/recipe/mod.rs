//! A recipe: a published method as data, one TOML file listing tests in the order in which they run.
//!
//! The file's shape is `file`; what the runner gets is the checked, filled-in form here, in which no setting is
//! left open. What each tool does exactly, and where that is known from, stands in the recipe's own file.

mod explained;
mod file;
mod only;
mod planned;
mod settings;
mod validate;

pub use explained::{ExplainedRecipe, ExplainedTest, TimeEstimate};
pub use file::parse;
pub use planned::PlannedRun;
pub use settings::*;
pub use validate::{MOST_RUNS, RecipeError};

use crate::builtin_files;
use crate::named::BuiltinFiles;
use crate::test_name::TestName;
use serde::Serialize;

/// The recipes that come with the program: the files of `recipes/`.
pub static RECIPES: BuiltinFiles = BuiltinFiles {
    kind: "recipe",
    files: builtin_files!("recipes"),
    also: "; `cardscope recipes` lists them all, or name a file of your own by its path",
};

/// A checked recipe, ready to run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// The name on the command line: `cdm8-default`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Counts up when the method in the file changes, so that results of two versions are told apart.
    pub version: u32,
    /// Version and hash of the recipe's text, with the size where it was overridden: results with the same words
    /// here were measured the same way.
    pub fingerprint: String,
    /// Where the method is known from.
    pub source: String,
    /// The tool whose output is imitated, if any.
    pub tool: Option<String>,
    /// Bytes of the test area (one file, or one region of a raw card).
    pub area: u64,
    /// True where the area is discarded at the start of each run, before it is prepared (`fstrim` in PiBenchmarks).
    pub discard: bool,
    /// How the area is written at the start of each run; `None` leaves it as it is.
    pub prepare: Option<RangePreparation>,
    /// Seconds of rest after preparing.
    pub rest_after_prepare_s: f64,
    /// State of the card that the method demands (`condition state=…`), if any.
    pub requires_state: Option<String>,
    /// The recipe's own repetition: how often a pass is tried before the verdict falls.
    pub tries: u32,
    /// What a pass must reach; a recipe with demands ends at the first pass that reaches them all.
    pub demands: Vec<PassDemand>,
    /// Scores that the original tool computes from its results.
    pub scores: Vec<ToolScore>,
    /// The tests, in order.
    pub tests: Vec<RecipeTest>,
}

/// One test of a recipe, every setting decided.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecipeTest {
    /// Pattern and operation.
    pub name: TestName,
    /// Tells two tests of one name apart (`rewrite`), and names a step in a score.
    pub step: Option<String>,
    /// Bytes of the span that the test uses, from its start; [`u64::MAX`] is the whole card (span `device` only).
    pub size: u64,
    /// How this test's own range is written (not measured) before its first loop, where the original starts with
    /// a new file; `None` leaves what the tests before left.
    pub prepare: Option<RangePreparation>,
    /// Where the test may go.
    pub span: TestSpan,
    /// How the threads divide the span.
    pub sharing: SpanSharing,
    /// When one loop ends.
    pub limit: LoopLimit,
    /// Counted loops in one run.
    pub loops: u32,
    /// Loops before them that are not counted.
    pub discard_loops: u32,
    /// How the loops become the value that the recipe reports.
    pub aggregate: LoopAggregate,
    /// Seconds at the start of each loop that are done but not measured.
    pub warmup_s: f64,
    /// Seconds of rest between this test and the next one of the run; none after the last test.
    pub rest_s: f64,
    /// Flush at the end of a loop.
    pub flush: FlushMode,
    /// What is written.
    pub data: WriteData,
    /// The way of the I/O through the kernel.
    pub path: KernelPath,
    /// True where each write is synchronous (`O_DSYNC`).
    pub sync_each: bool,
    /// True where the page cache is emptied before each loop.
    pub drop_caches: bool,
    /// How random places are drawn.
    pub random: RandomDraw,
    /// Measured only through this file system (`ext4`); elsewhere it is reported as not measured.
    pub filesystem: Option<String>,
    /// Repeat until the interval is narrow, instead of a fixed number of loops.
    pub until: Option<RepeatUntil>,
    /// How the original tool prints the value.
    pub prints: Option<ToolFormat>,
}

impl RecipeTest {
    /// The word by which demands and scores name this test: its step, else `RND4K Q32T1 read`.
    pub fn key(&self) -> String {
        self.step.clone().unwrap_or_else(|| self.name.to_string())
    }
}

impl Recipe {
    /// True if any test overwrites data on the target. The preparation does not count: a recipe that only reads is
    /// run without it where writing would cost somebody their data.
    pub fn writes(&self) -> bool {
        self.tests.iter().any(|t| t.name.op.writes())
    }

    /// True if the recipe writes the area, or a part of it, before it measures there.
    pub fn prepares(&self) -> bool {
        self.prepare.is_some() || self.tests.iter().any(|t| t.prepare.is_some())
    }
}
