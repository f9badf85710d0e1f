//! Computes how much a recipe writes, and fits it to a write limit.

use crate::request::BenchRequest;
use cardscope_model::recipe::{Recipe, RecipeTest};
use cardscope_model::units::{DataAmount, MIB};
use cardscope_session::error::Result;
use cardscope_session::open_target::OpenTarget;

/// Smallest test area in bytes that says anything about a card.
const SMALLEST_AREA: u64 = 16 * MIB;

/// Divisor: the area gets this part of the allowed writes, the tests get the rest.
const AREA_SHARE: u64 = 4;

/// Speed in MB/s that no card reaches, so that tests with a limit of bytes end by bytes and not by time.
const FAST_MB_S: f64 = 1e9;

/// Most that the runs of a recipe write.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WriteEstimate {
    /// Bytes that are independent of the card's speed.
    pub(crate) bytes: u64,
    /// Seconds of writing at full speed, in addition.
    pub(crate) seconds: f64,
}

impl WriteEstimate {
    /// Estimate for a recipe on a target.
    pub(crate) fn for_target(recipe: &Recipe, runs: u32, opened: &OpenTarget) -> WriteEstimate {
        let mut writes = WriteEstimate::for_card(recipe, runs, opened.target.info().bytes);
        // Added once: the test file is created once, not for each run.
        writes.bytes = writes.bytes.saturating_add(opened.growth_bytes(recipe.area));
        writes
    }

    /// Estimate for a recipe on a card of this size.
    fn for_card(recipe: &Recipe, runs: u32, card_bytes: u64) -> WriteEstimate {
        let by_time = |test: &&RecipeTest| {
            let fixed = test.limit.passes.is_some() || test.limit.bytes.is_some();
            test.name.op.writes() && (!fixed || test.warmup_s > 0.0)
        };
        let lasts = |test: &RecipeTest| {
            let each = test.limit.seconds.or(test.until.map(|until| until.max_s)).unwrap_or_default();
            f64::from(test.loops + test.discard_loops) * (each + test.warmup_s)
        };
        let timed: Vec<RecipeTest> = recipe.tests.iter().filter(by_time).cloned().collect();
        let mut fixed = recipe.clone();
        fixed.tests.retain(|test| !by_time(&test));
        let filled = timed.iter().filter(|test| test.prepare.is_some());
        let filled: f64 = filled.map(|test| test.size.min(card_bytes) as f64).sum();
        let bytes = fixed.estimate_run(FAST_MB_S, card_bytes).bytes_written + filled;
        let runs = f64::from(runs);
        WriteEstimate { bytes: (bytes * runs) as u64, seconds: timed.iter().map(lasts).sum::<f64>() * runs }
    }

    pub(crate) fn describe(self) -> String {
        let bytes = DataAmount(self.bytes.checked_next_multiple_of(MIB).unwrap_or(self.bytes));
        match self.seconds > 0.0 {
            true => format!("writes {bytes}, and as much as possible in {:.0} s", self.seconds),
            false => format!("writes up to {bytes}"),
        }
    }
}

/// Fits a recipe to the write limit: over a smaller area if it measures by time. Refuses, with the bytes needed, what
/// cannot be made smaller.
pub(super) fn fit_recipe(
    request: &BenchRequest,
    recipe: Recipe,
    runs: u32,
    card: &OpenTarget,
) -> Result<Recipe> {
    let Some(left) = card.limit.bytes_left() else { return Ok(recipe) };
    if !card.is_writable {
        return Ok(recipe);
    }
    let what = format!("recipe {}", recipe.name);
    let writes = WriteEstimate::for_target(&recipe, runs, card);
    if writes.seconds == 0.0 {
        let refusal = || card.limit.refuse_write(&what, writes.bytes);
        return if writes.bytes <= left { Ok(recipe) } else { Err(refusal()) };
    }
    // The other half of the limit is for the measurement itself.
    if writes.bytes <= left / 2 {
        return Ok(recipe);
    }
    let refusal = card.limit.refuse_write(&what, writes.bytes.saturating_mul(2));
    let area = smaller_area(left / u64::from(runs)).filter(|_| request.size.is_none());
    let smaller = area.and_then(|area| request.recipe_with_area(Some(area)).ok());
    let fits = |recipe: &Recipe| WriteEstimate::for_target(recipe, runs, card).bytes <= left / 2;
    smaller.filter(fits).ok_or(refusal)
}

/// Area that leaves most of `left` bytes to the tests; `None` if it would be too small.
pub(crate) fn smaller_area(left: u64) -> Option<u64> {
    Some(left / AREA_SHARE / MIB * MIB).filter(|area| *area >= SMALLEST_AREA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::recipe::{RECIPES, parse};

    fn recipe(name: &str, area: Option<u64>) -> Recipe {
        parse(RECIPES.find_text(name).unwrap(), area).unwrap()
    }

    #[test]
    fn estimate_covers_whole_card_fills_and_saturates() {
        let text = "name = \"x\"\ntitle = \"t\"\nversion = 1\nsource = \"s\"\n[area]\nsize = \"1MiB\"\nprepare = false\n";
        let writes = |tests: &str| {
            WriteEstimate::for_card(&parse(&format!("{text}{tests}"), None).unwrap(), 1, 64_000_000_000)
        };
        let whole = |block: &str| {
            format!(
                "[[test]]\ntest = \"{block} Q1T1 write\"\nspan = \"device\"\nprepare_block = \"1MiB\"\nseconds = 5\n"
            )
        };
        let both = writes(&(whole("SEQ1M") + &whole("SEQ512K")));
        assert_eq!(both, WriteEstimate { bytes: 128_000_000_000, seconds: 10.0 });
        let long = writes(
            "[[test]]\ntest = \"SEQ1M Q1T2 write\"\nsharing = \"same\"\nbytes = 1125899906842624\nloops = 10000\n",
        );
        assert_eq!(long.bytes, u64::MAX);
        assert!(long.describe().contains("EB") || long.describe().contains("TB"), "{}", long.describe());
    }

    #[test]
    fn timed_recipe_writes_its_area_plus_seconds() {
        let quick = WriteEstimate::for_card(&recipe("quick", None), 2, 1 << 40);
        assert_eq!(quick, WriteEstimate { bytes: 2 * 192 * MIB, seconds: 2.0 * 4.0 * 4.5 });
        assert!(
            quick.describe().contains("384 MiB") && quick.describe().contains("36 s"),
            "{}",
            quick.describe()
        );
    }

    #[test]
    fn recipe_of_passes_has_a_fixed_estimate() {
        let small = WriteEstimate::for_card(&recipe("dd-sweep", None), 1, 1 << 40);
        assert!(small.seconds == 0.0 && (11 << 30..20 << 30).contains(&small.bytes), "{small:?}");
    }

    #[test]
    fn too_small_test_area_is_none() {
        assert_eq!(smaller_area(256 * MIB), Some(64 * MIB));
        assert_eq!(smaller_area(63 * MIB), None);
    }
}
