//! Validation of a recipe before anything is written.

use super::{
    LoopLimit, PassDemand, RangePreparation, Recipe, RecipeTest, RepeatUntil, SpanSharing, ToolFormat,
    ToolScore,
};
use crate::test_name::{AccessPattern, TestOp};
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

fn ensure(valid: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if valid { Ok(()) } else { Err(fault()) }
}

fn check_preparation(preparation: Option<RangePreparation>) -> Result<(), String> {
    let is_valid = |block: u64| block.is_multiple_of(SECTOR) && (SECTOR..=LARGEST_BLOCK).contains(&block);
    let valid = preparation.is_none_or(|preparation| is_valid(preparation.block));
    ensure(valid, || "prepare_block must be a multiple of 512 bytes, 1 GiB at most".into())
}

fn check_whole(recipe: &Recipe) -> Result<(), String> {
    ensure(!recipe.tests.is_empty(), || "it lists no test".into())?;
    let (area, rest_s) = (recipe.area, recipe.rest_after_prepare_s);
    let whole = area > 0 && area.is_multiple_of(SECTOR);
    ensure(whole, || format!("the area of {area} bytes is not a multiple of the 512-byte sector"))?;
    check_preparation(recipe.prepare)?;
    ensure((1..=MAX_RUNS).contains(&recipe.tries), || format!("tries must be between 1 and {MAX_RUNS}"))?;
    let rest = || format!("rest_s must be between 0 and {MAX_SECONDS} seconds (30 days)");
    ensure(is_valid_duration(rest_s), rest)?;
    check_names(recipe)
}

fn check_names(recipe: &Recipe) -> Result<(), String> {
    let mut keys = HashSet::new();
    for key in recipe.tests.iter().map(RecipeTest::key) {
        let twice = format!("{key:?} stands twice; give one of them a step of its own");
        ensure(keys.insert(key), || twice)?;
    }
    let terms = recipe.scores.iter().flat_map(|s| s.terms.iter().map(|t| &t.step));
    for step in recipe.demands.iter().map(|d| &d.step).chain(terms) {
        let unknown = || format!("a demand or score names the step {step:?}, which no test has");
        ensure(keys.contains(step), unknown)?;
    }
    for PassDemand { step, iops, bytes_per_s } in &recipe.demands {
        let asks = iops.is_some() || bytes_per_s.is_some();
        ensure(asks, || format!("the demand on {step:?} asks for nothing; give iops or bytes_per_s"))?;
    }
    for ToolScore { name, terms, divide, .. } in &recipe.scores {
        let valid = !terms.is_empty() && is_positive(*divide);
        ensure(valid, || format!("the score {name:?} needs terms, and a divide above 0"))?;
    }
    Ok(())
}

fn check_test(test: &RecipeTest) -> Result<(), String> {
    check_pattern(test)?;
    check_limit(test)?;
    check_times(test)?;
    check_preparation(test.prepare)?;
    let is_valid = |p: &ToolFormat| is_positive(p.divide) && p.digits != Some(0) && p.decimals <= 9;
    let prints = "prints needs a divide above 0, digits above 0 and at most 9 decimals";
    ensure(test.prints.as_ref().is_none_or(is_valid), || prints.into())?;
    let syncs = test.sync_each && test.name.op == TestOp::Read;
    ensure(!syncs, || "sync_each is about writes; this test reads".into())
}

fn check_pattern(test: &RecipeTest) -> Result<(), String> {
    let AccessPattern { block, queue, threads, .. } = test.name.pattern;
    let (block_size, size) = (BinarySize(block), BinarySize(test.size));
    let whole = block > 0 && block.is_multiple_of(SECTOR);
    ensure(whole, || format!("the block of {block} bytes is not a multiple of the 512-byte sector"))?;
    let too_large = || format!("the block of {block_size} is larger than the 1 GiB one I/O can have");
    ensure(block <= LARGEST_BLOCK, too_large)?;
    let depth = || format!("the queue depth {queue} is not between 1 and {MAX_QUEUE_DEPTH}");
    ensure((1..=MAX_QUEUE_DEPTH).contains(&queue), depth)?;
    let count = || format!("the thread count {threads} is not between 1 and {MAX_THREADS}");
    ensure((1..=MAX_THREADS).contains(&threads), count)?;
    let slices = if test.sharing == SpanSharing::Slices { threads } else { 1 };
    let fits = test.size / u64::from(slices) >= block;
    ensure(fits, || format!("its {size} hold no block of {block_size} for each thread"))
}

fn check_limit(test: &RecipeTest) -> Result<(), String> {
    let LoopLimit { passes, bytes, seconds, whole_passes } = test.limit;
    let loops = || format!("loops must be between 1 and {MAX_LOOPS}, discard_loops at most as many");
    ensure((1..=MAX_LOOPS).contains(&test.loops) && test.discard_loops <= MAX_LOOPS, loops)?;
    let ends = test.until.is_some() || passes.is_some() || bytes.is_some() || seconds.is_some();
    ensure(ends, || "nothing ends it: give passes, bytes, seconds or until".into())?;
    let few = passes.is_none_or(|passes| (1..=MAX_LOOPS).contains(&passes));
    ensure(few, || format!("passes must be between 1 and {MAX_LOOPS}"))?;
    let hold = bytes.is_none_or(|bytes| (test.name.pattern.block..=MAX_BYTES).contains(&bytes));
    ensure(hold, || "bytes must hold at least one block, and be 1 PiB at most".into())?;
    let timed = !whole_passes || seconds.is_some();
    ensure(timed, || "whole_passes has no effect without seconds; give seconds".into())
}

fn check_times(test: &RecipeTest) -> Result<(), String> {
    let valid = test.limit.seconds.is_none_or(|seconds| is_positive(seconds) && is_valid_duration(seconds));
    ensure(valid, || format!("seconds must be more than 0, and {MAX_SECONDS} (30 days) at most"))?;
    let rests = || format!("rest_s and warmup_s must be between 0 and {MAX_SECONDS} seconds (30 days)");
    ensure(is_valid_duration(test.rest_s) && is_valid_duration(test.warmup_s), rests)?;
    let Some(RepeatUntil { ci95_percent, min_s, max_s }) = test.until else { return Ok(()) };
    let positive = is_positive(ci95_percent) && is_positive(min_s);
    let needs = "until needs a positive ci95_percent and min_s, and max_s between min_s";
    let valid = positive && is_valid_duration(max_s) && max_s >= min_s;
    ensure(valid, || format!("{needs} and {MAX_SECONDS} (30 days)"))?;
    let once = test.loops + test.discard_loops <= 1;
    ensure(once, || "until takes the place of loops; leave loops and discard_loops out".into())
}

fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

fn is_valid_duration(seconds: f64) -> bool {
    (0.0..=MAX_SECONDS).contains(&seconds)
}
