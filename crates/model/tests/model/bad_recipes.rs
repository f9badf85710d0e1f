//! Errors in recipe files and their messages.

use cardscope_model::recipe::{RECIPES, RecipeError, parse};
use rstest::rstest;

const GOOD: &str = r#"
name = "mine"
title = "My own"
version = 1
source = "me"

[area]
size = "64MiB"

[[test]]
test = "RND4K Q1T1 read"
seconds = 1
"#;

/// Returns the message for a recipe in which `from` is replaced by `to`.
fn parse_error(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    parse(&GOOD.replace(from, to), None).expect_err("it is wrong").to_string()
}

#[test]
fn custom_recipe_is_parsed() {
    let recipe = parse(GOOD, None).unwrap();
    assert_eq!((recipe.name.as_str(), recipe.area, recipe.tests.len()), ("mine", 64 << 20, 1));
}

#[rstest]
#[case("seconds = 1", "secnds = 1", &["line 12", "unknown field `secnds`", "did you mean `seconds`?"])]
#[case("version = 1", "verison = 1", &["line 4", "did you mean `version`?"])]
#[case("size = \"64MiB\"", "size = \"64MiB\"\nfill = true", &["line 9", "unknown field `fill`"])]
#[case("size = \"64MiB\"", "size = \"64 Mibs\"", &["line 8", "is not a size"])]
#[case("size = \"64MiB\"", "size = -4", &["line 8", "a number of bytes"])]
#[case("seconds = 1", "flush = \"sometimes\"\nseconds = 1", &["line 12", "unknown variant `sometimes`", "`timed`"])]
#[case("RND4K Q1T1 read", "RND4K Q1T1 erase", &["line 11", "is not a test name", "read, write or mix70"])]
#[case("test = \"RND4K Q1T1 read\"\n", "", &["[[test]] number 1"])]
#[case("seconds = 1", "block = \"half\"\nseconds = 1", &["line 12", "area/32"])]
#[case("seconds = 1", "seconds = ", &["line 12"])]
#[case("[[test]]", "[defaults]\ntest = \"RND4K Q1T1 read\"\n[[test]]", &["not under [defaults]"])]
fn syntax_errors_have_line_and_suggestion(#[case] from: &str, #[case] to: &str, #[case] parts: &[&str]) {
    let message = parse_error(from, to);
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in:\n{message}");
    }
}

#[rstest]
#[case("RND4K Q1T1 read", "RND1000B Q1T1 read", "not a multiple of the 512-byte sector")]
#[case("RND4K Q1T1 read", "RND0K Q1T1 read", "not a multiple of the 512-byte sector")]
#[case("RND4K Q1T1 read", "SEQ2G Q1T1 read", "larger than the 1 GiB")]
#[case("RND4K Q1T1 read", "RND4K Q0T1 read", "queue depth 0")]
#[case("RND4K Q1T1 read", "RND4K Q9999T1 read", "queue depth 9999")]
#[case("RND4K Q1T1 read", "RND4K Q1T0 read", "thread count 0")]
#[case("RND4K Q1T1 read", "RND4K Q1T999 read", "thread count 999")]
#[case("RND4K Q1T1 read", "SEQ32M Q1T4 read", "no block of 32 MiB for each thread")]
#[case("seconds = 1", "", "nothing ends it")]
#[case("seconds = 1", "seconds = 0", "seconds must be more than 0")]
#[case("seconds = 1", "seconds = -1", "seconds must be more than 0")]
#[case("seconds = 1", "seconds = nan", "seconds must be more than 0")]
#[case("seconds = 1", "seconds = 1e19", "2592000 (30 days) at most")]
#[case("seconds = 1", "seconds = inf", "2592000 (30 days) at most")]
#[case("seconds = 1", "seconds = 1\nrest_s = -0.5", "rest_s")]
#[case("seconds = 1", "seconds = 1\nrest_s = 1e300", "rest_s")]
#[case("seconds = 1", "seconds = 1\nwarmup_s = 1e300", "warmup_s")]
#[case("seconds = 1", "passes = 0", "passes")]
#[case("seconds = 1", "bytes = 512", "at least one block")]
#[case("seconds = 1", "passes = 1\nloops = 0", "loops")]
#[case("seconds = 1", "passes = 1\nloops = 4294967295\ndiscard_loops = 1", "loops")]
#[case("seconds = 1", "passes = 1\nwhole_passes = true", "whole_passes")]
#[case("seconds = 1", "seconds = 1\nsync_each = true", "sync_each")]
#[case("seconds = 1", "until = { ci95_percent = 0, min_s = 1, max_s = 9 }", "until")]
#[case("seconds = 1", "until = { ci95_percent = 2, min_s = 9, max_s = 1 }", "until")]
#[case("seconds = 1", "until = { ci95_percent = 2, min_s = 1, max_s = 1e300 }", "until")]
#[case("seconds = 1", "until = { ci95_percent = 2, min_s = 1, max_s = 9 }\nloops = 3", "until")]
#[case("seconds = 1", "seconds = 1\nprepare_block = 100", "prepare_block")]
#[case("seconds = 1", "seconds = 1\nprints = { unit = \"MB/s\", divide = 0 }", "divide")]
fn impossible_tests_are_refused_by_name(#[case] from: &str, #[case] to: &str, #[case] part: &str) {
    let error = parse(&GOOD.replace(from, to), None).unwrap_err();
    assert!(matches!(&error, RecipeError::Test { test, .. } if test.ends_with(" read")), "{error:?}");
    assert!(error.to_string().contains(part), "{error}");
}

#[rstest]
#[case("[[test]]", "[[test]]\ntest = \"RND4K Q1T1 read\"\nseconds = 1\n[[test]]", "stands twice")]
#[case("[[test]]", "[[demand]]\nstep = \"x\"\niops = 1\n[[test]]", "which no test has")]
#[case("[[test]]", "[[demand]]\nstep = \"RND4K Q1T1 read\"\n[[test]]", "asks for nothing")]
#[case(
    "[[test]]",
    "[[score]]\nname = \"s\"\nterms = [{ step = \"y\", weight = 1 }]\n[[test]]",
    "which no test has"
)]
#[case("size = \"64MiB\"", "size = 0", "the area of 0 bytes")]
#[case("size = \"64MiB\"", "size = 1000", "the area of 1000 bytes")]
#[case("size = \"64MiB\"", "size = \"64MiB\"\nprepare_block = 4095", "prepare_block")]
#[case("size = \"64MiB\"", "size = \"64MiB\"\nrest_s = 1e300", "rest_s")]
#[case("version = 1", "version = 1\ntries = 0", "tries")]
#[case("version = 1", "version = 1\ntries = 4294967295", "tries")]
fn inconsistent_recipes_are_refused(#[case] from: &str, #[case] to: &str, #[case] part: &str) {
    let message = parse_error(from, to);
    assert!(message.starts_with("recipe \"mine\"") && message.contains(part), "{message}");
}

#[test]
fn limits_themselves_are_accepted() {
    let longest = GOOD.replace("seconds = 1", "seconds = 2592000\nrest_s = 2592000\nwarmup_s = 2592000");
    parse(&longest.replace("version = 1", "version = 1\ntries = 1000"), None).unwrap();
}

#[test]
fn a_recipe_without_tests_is_refused() {
    let text = GOOD.split("[[test]]").next().unwrap();
    assert!(parse(text, None).unwrap_err().to_string().contains("lists no test"));
}

#[test]
fn unsuitable_size_is_refused_with_test_name() {
    let small = parse(RECIPES.find_text("cdm-fio").unwrap(), Some(256 << 10)).unwrap_err().to_string();
    assert!(small.contains("SEQ512K Q1T1 read"), "{small}");
    let crooked =
        parse(RECIPES.find_text("cdm-fio").unwrap(), Some((1 << 20) + 512)).unwrap_err().to_string();
    assert!(crooked.contains("not a multiple of the 512-byte sector"), "{crooked}");
}

#[test]
fn mistyped_recipe_gets_suggestion() {
    let message = RECIPES.find_text("cdm8-defualt").unwrap_err().to_string();
    assert!(
        message.contains("did you mean \"cdm8-default\"?")
            && message.contains("cdm8-default-mix and 14 others"),
        "{message}"
    );
    assert!(!RECIPES.find_text("nothing-of-the-kind").unwrap_err().to_string().contains("did you mean"));
}

#[test]
fn recipe_parser_never_panics() {
    for end in 0..GOOD.len() {
        let _ = parse(&GOOD[..end], None);
    }
}
