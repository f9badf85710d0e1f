//! Selection of tests of a recipe (`--only`), without changing their results.

use super::{RangePreparation, Recipe, RecipeError, RecipeTest, TestSpan, WriteData};
use crate::builtin_names::did_you_mean;
use crate::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use crate::units::MIB;
use std::collections::BTreeSet;

impl Recipe {
    /// Keeps the tests that match one of `wanted`: by name (`RND4K Q32T1 read`), pattern (`RND4K Q32T1`) or step
    /// (`rewrite`), ignoring case.
    pub fn keep_only<S: AsRef<str>>(&mut self, wanted: &[S]) -> Result<(), RecipeError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let is_unknown = |word: &&str| !self.tests.iter().any(|test| matches_word(test, word));
        if let Some(word) = wanted.iter().map(AsRef::as_ref).find(is_unknown) {
            return Err(self.no_such_test(word));
        }
        let before = self.tests.len();
        self.tests.retain(|test| wanted.iter().any(|word| matches_word(test, word.as_ref())));
        if self.tests.len() < before && self.prepare.is_none() {
            prepare_unwritten_ranges(&mut self.tests);
        }
        Ok(())
    }

    fn no_such_test(&self, word: &str) -> RecipeError {
        let names = |test: &RecipeTest| test.step.clone().into_iter().chain([test.name.to_string()]);
        let there: BTreeSet<String> = self.tests.iter().flat_map(names).collect();
        RecipeError::Unmatched {
            recipe: self.name.clone(),
            word: word.to_owned(),
            meant: did_you_mean(word, there.iter().map(String::as_str)),
            there: Vec::from_iter(there).join(", "),
        }
    }
}

fn matches_word(test: &RecipeTest, word: &str) -> bool {
    let word = word.trim();
    test.step.as_deref().is_some_and(|step| step.eq_ignore_ascii_case(word))
        || test.name.to_string().eq_ignore_ascii_case(word)
        || word.parse::<TestName>().is_ok_and(|name| name == test.name)
        || word.parse::<AccessPattern>().is_ok_and(|pattern| pattern == test.name.pattern)
        || test.name.pattern.to_string().eq_ignore_ascii_case(word)
}

/// Prepares ranges whose writing test was removed. A recipe without preparation relies on its first tests to write
/// the area; without them reads would hit holes of a file or unwritten blocks, and be far too fast.
fn prepare_unwritten_ranges(tests: &mut [RecipeTest]) {
    // Length of the area's prefix that holds data so far, written by a test or its preparation.
    let mut filled = 0;
    for test in tests.iter_mut().filter(|t| t.span == TestSpan::Area) {
        let fills = test.name.op == TestOp::Write && test.name.pattern.order == IoOrder::Sequential;
        if !fills && test.prepare.is_none() && filled < test.size {
            test.prepare = Some(RangePreparation { block: MIB, data: WriteData::Random });
        }
        filled = filled.max(test.size);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RECIPES, parse};

    fn left(recipe: &str, only: &[&str]) -> Vec<String> {
        let mut recipe = parse(RECIPES.find_text(recipe).unwrap(), None).unwrap();
        recipe.keep_only(only).unwrap();
        recipe.tests.iter().map(|t| t.key()).collect()
    }

    #[test]
    fn keep_only_selects_by_name_pattern_or_step() {
        assert_eq!(left("quick", &["RND4K Q32T1 read"]), ["RND4K Q32T1 read"]);
        assert_eq!(left("quick", &["rnd4k q32t1"]), ["RND4K Q32T1 read", "RND4K Q32T1 write"]);
        assert_eq!(left("geerling-2024", &["4k rewrite", "4k reread"]), ["4k rewrite", "4k reread"]);
        assert_eq!(left("quick", &[]).len(), 8);
    }

    #[test]
    fn keep_only_error_lists_tests_and_suggestion() {
        let mut recipe = parse(RECIPES.find_text("quick").unwrap(), None).unwrap();
        let error = recipe.keep_only(&["RND4K Q32T1 raed"]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"RND4K Q32T1 read\"?"), "{error}");
        assert!(error.contains("SEQ1M Q8T1 write"), "{error}");
        assert_eq!(recipe.tests.len(), 8, "a refused choice changes nothing");
    }

    #[test]
    fn keep_only_prepares_ranges_without_their_write() {
        let mut recipe = parse(RECIPES.find_text("geerling-2024").unwrap(), None).unwrap();
        recipe.keep_only(&["4k read", "4k reread"]).unwrap();
        assert!(recipe.tests[0].prepare.is_some() && recipe.tests[1].prepare.is_none());
        let mut whole = parse(RECIPES.find_text("geerling-2024").unwrap(), None).unwrap();
        whole.keep_only(&["4k write", "4k read"]).unwrap();
        assert!(whole.tests.iter().all(|t| t.prepare.is_none()));
    }
}
