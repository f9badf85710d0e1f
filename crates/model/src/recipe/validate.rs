//! Validation of a recipe before anything is written.

use super::{RangePreparation, Recipe, RecipeTest, SpanSharing};
use crate::test_name::TestOp;
use crate::units::BinarySize;
use std::collections::HashSet;

/// Smallest block of any card.
const SECTOR: u64 = 512;
/// Limit of io_uring and of all known host queues.
const MAX_QUEUE_DEPTH: u32 = 4096;
const MAX_THREADS: u32 = 256;
/// Linux moves at most 2 GiB less a page in one call.
const LARGEST_BLOCK: u64 = 1 << 30;
/// Sanity limit; longer tests would take too much time.
const MAX_LOOPS: u32 = 10_000;
const MAX_BYTES: u64 = 1 << 50;
/// Thirty days.
const MAX_SECONDS: f64 = 2_592_000.0;
/// Most runs of a session, which are all planned before the first and loaded together after the last.
pub const MAX_RUNS: u32 = 1000;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecipeError {
    #[error("the recipe cannot be read: {0}")]
    Syntax(String),
    #[error("test {test:?}: {reason}")]
    Test { test: String, reason: String },
    #[error("recipe {recipe:?} has no test {word:?}; {meant}it has: {there}")]
    Unmatched {
        recipe: String,
        word: String,
        /// Suggestion as a question, or empty.
        meant: String,
        there: String,
    },
    /// Fault outside of a single test.
    #[error("recipe {recipe:?}: {reason}")]
    Recipe { recipe: String, reason: String },
}

pub(super) fn check_recipe(recipe: &Recipe) -> Result<(), RecipeError> {
    check_whole(recipe).map_err(|reason| RecipeError::Recipe { recipe: recipe.name.clone(), reason })?;
    for test in &recipe.tests {
        check_test(test).map_err(|reason| RecipeError::Test { test: test.key(), reason })?;
    }
    Ok(())
}

fn check_preparation(preparation: Option<RangePreparation>) -> Result<(), String> {
    let is_valid = |block: u64| block.is_multiple_of(SECTOR) && (SECTOR..=LARGEST_BLOCK).contains(&block);
    let valid = preparation.is_none_or(|preparation| is_valid(preparation.block));
    valid.then_some(()).ok_or_else(|| "prepare_block must be a multiple of 512 bytes, 1 GiB at most".into())
}

fn check_whole(recipe: &Recipe) -> Result<(), String> {
    if recipe.tests.is_empty() {
        return Err("it lists no test".into());
    }
    if recipe.area == 0 || !recipe.area.is_multiple_of(SECTOR) {
        return Err(format!("the area of {} bytes is not a multiple of the 512-byte sector", recipe.area));
    }
    check_preparation(recipe.prepare)?;
    if !(1..=MAX_RUNS).contains(&recipe.tries) {
        return Err(format!("tries must be between 1 and {MAX_RUNS}"));
    }
    if !is_valid_duration(recipe.rest_after_prepare_s) {
        return Err(format!("rest_s must be between 0 and {MAX_SECONDS} seconds (30 days)"));
    }
    check_names(recipe)
}

fn check_names(recipe: &Recipe) -> Result<(), String> {
    let mut keys = HashSet::new();
    for test in &recipe.tests {
        if !keys.insert(test.key()) {
            return Err(format!("{:?} stands twice; give one of them a step of its own", test.key()));
        }
    }
    let terms = recipe.scores.iter().flat_map(|s| s.terms.iter().map(|t| &t.step));
    for step in recipe.demands.iter().map(|d| &d.step).chain(terms) {
        if !keys.contains(step) {
            return Err(format!("a demand or score names the step {step:?}, which no test has"));
        }
    }
    if let Some(demand) = recipe.demands.iter().find(|d| d.iops.is_none() && d.bytes_per_s.is_none()) {
        return Err(format!("the demand on {:?} asks for nothing; give iops or bytes_per_s", demand.step));
    }
    if let Some(score) = recipe.scores.iter().find(|s| s.terms.is_empty() || !is_positive(s.divide)) {
        return Err(format!("the score {:?} needs terms, and a divide above 0", score.name));
    }
    Ok(())
}

fn check_test(test: &RecipeTest) -> Result<(), String> {
    check_pattern(test)?;
    check_limit(test)?;
    check_times(test)?;
    check_preparation(test.prepare)?;
    if test.prints.as_ref().is_some_and(|p| !is_positive(p.divide) || p.digits == Some(0) || p.decimals > 9) {
        return Err("prints needs a divide above 0, digits above 0 and at most 9 decimals".into());
    }
    if matches!(test.name.op, TestOp::Read) && test.sync_each {
        return Err("sync_each is about writes; this test reads".into());
    }
    Ok(())
}

fn check_pattern(test: &RecipeTest) -> Result<(), String> {
    let p = test.name.pattern;
    let (block, size) = (BinarySize(p.block), BinarySize(test.size));
    if p.block == 0 || !p.block.is_multiple_of(SECTOR) {
        return Err(format!("the block of {} bytes is not a multiple of the 512-byte sector", p.block));
    }
    if p.block > LARGEST_BLOCK {
        return Err(format!("the block of {block} is larger than the 1 GiB one I/O can have"));
    }
    if p.queue == 0 || p.queue > MAX_QUEUE_DEPTH {
        return Err(format!("the queue depth {} is not between 1 and {MAX_QUEUE_DEPTH}", p.queue));
    }
    if p.threads == 0 || p.threads > MAX_THREADS {
        return Err(format!("the thread count {} is not between 1 and {MAX_THREADS}", p.threads));
    }
    let slices = if test.sharing == SpanSharing::Slices { p.threads } else { 1 };
    if test.size / u64::from(slices) < p.block {
        return Err(format!("its {size} hold no block of {block} for each thread"));
    }
    Ok(())
}

fn check_limit(test: &RecipeTest) -> Result<(), String> {
    let limit = &test.limit;
    if !(1..=MAX_LOOPS).contains(&test.loops) || test.discard_loops > MAX_LOOPS {
        return Err(format!("loops must be between 1 and {MAX_LOOPS}, discard_loops at most as many"));
    }
    if test.until.is_none() && limit.passes.is_none() && limit.bytes.is_none() && limit.seconds.is_none() {
        return Err("nothing ends it: give passes, bytes, seconds or until".into());
    }
    if limit.passes.is_some_and(|p| !(1..=MAX_LOOPS).contains(&p)) {
        return Err(format!("passes must be between 1 and {MAX_LOOPS}"));
    }
    if limit.bytes.is_some_and(|b| !(test.name.pattern.block..=MAX_BYTES).contains(&b)) {
        return Err("bytes must hold at least one block, and be 1 PiB at most".into());
    }
    if limit.whole_passes && limit.seconds.is_none() {
        return Err("whole_passes has no effect without seconds; give seconds".into());
    }
    Ok(())
}

fn check_times(test: &RecipeTest) -> Result<(), String> {
    if !test.limit.seconds.is_none_or(|seconds| is_positive(seconds) && is_valid_duration(seconds)) {
        return Err(format!("seconds must be more than 0, and {MAX_SECONDS} (30 days) at most"));
    }
    if !is_valid_duration(test.rest_s) || !is_valid_duration(test.warmup_s) {
        return Err(format!("rest_s and warmup_s must be between 0 and {MAX_SECONDS} seconds (30 days)"));
    }
    let Some(until) = test.until else { return Ok(()) };
    let positive = is_positive(until.ci95_percent) && is_positive(until.min_s);
    if !positive || !is_valid_duration(until.max_s) || until.max_s < until.min_s {
        return Err(format!(
            "until needs a positive ci95_percent and min_s, and max_s between min_s and {MAX_SECONDS} (30 days)"
        ));
    }
    if test.loops + test.discard_loops > 1 {
        return Err("until takes the place of loops; leave loops and discard_loops out".into());
    }
    Ok(())
}

fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

fn is_valid_duration(seconds: f64) -> bool {
    (0.0..=MAX_SECONDS).contains(&seconds)
}
