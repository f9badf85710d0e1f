//! Progress stages of a pass: one for writing the test area and one per test, with weights in seconds.

use cardscope_model::recipe::{Recipe, RecipeTest, SpanSharing};
use cardscope_model::test_name::IoOrder;
use cardscope_model::units::MB;

const PREPARATION: &str = "writing the test area";

/// Assumed speeds in MB/s of sequential and random I/O, to compare tests limited by bytes with those limited by time.
const SEQUENTIAL_MB_S: f64 = 50.0;
const RANDOM_MB_S: f64 = 5.0;

/// Stages of a pass, with their weights in expected seconds. `label` is appended to each name, as in `, run 2 of 10`.
pub fn planned_stages(recipe: &Recipe, label: &str, may_write: bool) -> Vec<(String, f64)> {
    let prepares = recipe.prepare.is_some() && may_write;
    let preparing = prepares.then(|| (preparation_stage(label), sequential_seconds(recipe.area)));
    let tests = recipe.tests.iter().map(|test| (test_stage(test, label), test_seconds(test, recipe.area)));
    preparing.into_iter().chain(tests).collect()
}

/// True if every test of a recipe ends by time alone.
pub fn ends_by_time(recipe: &Recipe, may_write: bool) -> bool {
    let by_time =
        |test: &RecipeTest| test.limit.seconds.is_some() && fixed_bytes(test, recipe.area).is_none();
    !(recipe.prepares() && may_write) && recipe.tests.iter().all(by_time)
}

pub(super) fn preparation_stage(label: &str) -> String {
    format!("{PREPARATION}{label}")
}

pub(super) fn test_stage(test: &RecipeTest, label: &str) -> String {
    format!("measuring {}", test_title(test, label))
}

/// Name under which a test's speed is reported.
pub(super) fn test_title(test: &RecipeTest, label: &str) -> String {
    let step = test.step.as_ref().map_or(String::new(), |step| format!(" ({step})"));
    format!("{}{step}{label}", test.name)
}

/// Number of loops, discarded ones included.
pub(super) fn loop_count(test: &RecipeTest) -> u32 {
    test.discard_loops + test.loops
}

/// Bytes that end a loop over `area` bytes; `None` if time alone does.
pub(super) fn fixed_bytes(test: &RecipeTest, area: u64) -> Option<u64> {
    let pattern = test.name.pattern;
    let in_a_pass = area / pattern.block * pattern.block;
    let threads = u64::from(pattern.threads);
    let shared = if test.sharing == SpanSharing::Same { threads } else { 1 };
    let by_passes = test.limit.passes.map(|passes| u64::from(passes) * in_a_pass * shared);
    let by_bytes = test.limit.bytes.map(|bytes| bytes * threads);
    [by_passes, by_bytes].into_iter().flatten().min()
}

/// Seconds that end a loop; `None` if bytes alone do.
pub(super) fn loop_seconds(test: &RecipeTest) -> Option<f64> {
    test.limit.seconds.or(test.until.map(|until| until.max_s))
}

fn test_seconds(test: &RecipeTest, area: u64) -> f64 {
    let speed = if test.name.pattern.order == IoOrder::Sequential { SEQUENTIAL_MB_S } else { RANDOM_MB_S };
    let by_bytes = fixed_bytes(test, test.size.min(area)).map(|bytes| bytes as f64 / MB / speed);
    let by_time = loop_seconds(test).map(|seconds| test.warmup_s + seconds);
    let each = [by_bytes, by_time].into_iter().flatten().reduce(f64::min).unwrap_or_default();
    let prepared = if test.prepare.is_some() { sequential_seconds(test.size.min(area)) } else { 0.0 };
    prepared + f64::from(loop_count(test)) * each + test.rest_s
}

fn sequential_seconds(bytes: u64) -> f64 {
    bytes as f64 / MB / SEQUENTIAL_MB_S
}
