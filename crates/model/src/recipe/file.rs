//! TOML form of a recipe, and its defaults.

use super::validate::{self, RecipeError};
use super::{
    FlushMode, KernelPath, LoopAggregate, LoopLimit, PassDemand, RandomDraw, RangePreparation, Recipe,
    RecipeTest, RepeatUntil, SpanSharing, TestSpan, ToolFormat, ToolScore, WriteData,
};
use crate::builtin_names::nearest_name;
use crate::test_name::TestName;
use crate::toml_error::message_with_line;
use crate::units::parse_size;
use serde::Deserialize;

/// Size in a recipe: a number of bytes or a text such as `1GiB`.
#[derive(Debug, Clone, Copy)]
struct RecipeSize(u64);

impl<'de> Deserialize<'de> for RecipeSize {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SizeVisitor;
        impl serde::de::Visitor<'_> for SizeVisitor {
            type Value = RecipeSize;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a size: a number of bytes, or a text such as \"1GiB\"")
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<RecipeSize, E> {
                let negative = |_| E::invalid_value(serde::de::Unexpected::Signed(n), &self);
                u64::try_from(n).map(RecipeSize).map_err(negative)
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<RecipeSize, E> {
                Ok(RecipeSize(n))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RecipeSize, E> {
                parse_size(text).map(RecipeSize).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(SizeVisitor)
    }
}

/// Block size that follows the size of the area: `area` or `area/32`.
#[derive(Debug, Clone, Copy)]
struct BlockDivisor(u64);

impl<'de> Deserialize<'de> for BlockDivisor {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let divide = match text.strip_prefix("area") {
            Some("") => Some(1),
            Some(rest) => rest.strip_prefix('/').and_then(|n| n.parse().ok()).filter(|n| *n > 0),
            None => None,
        };
        divide.map(BlockDivisor).ok_or_else(|| {
            serde::de::Error::custom(format!("block {text:?} is neither \"area\" nor like \"area/32\""))
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeFile {
    name: String,
    title: String,
    version: u32,
    source: String,
    tool: Option<String>,
    area: TestArea,
    #[serde(default = "one")]
    tries: u32,
    requires_state: Option<String>,
    #[serde(default)]
    defaults: TestSettings,
    #[serde(default)]
    demand: Vec<PassDemand>,
    #[serde(default)]
    score: Vec<ToolScore>,
    #[serde(default)]
    test: Vec<TestSettings>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TestArea {
    size: RecipeSize,
    #[serde(default)]
    discard: bool,
    #[serde(default = "yes")]
    prepare: bool,
    prepare_block: Option<RecipeSize>,
    prepare_data: Option<WriteData>,
    #[serde(default)]
    rest_s: f64,
}

fn yes() -> bool {
    true
}

/// Keys of `[defaults]` and `[[test]]`. One struct for both, because serde cannot refuse unknown keys through a
/// flattened struct; `test` and `step` are valid in a test only, which `parse` checks.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TestSettings {
    test: Option<TestName>,
    step: Option<String>,
    size: Option<RecipeSize>,
    block: Option<BlockDivisor>,
    prepare_block: Option<RecipeSize>,
    span: Option<TestSpan>,
    sharing: Option<SpanSharing>,
    passes: Option<u32>,
    bytes: Option<RecipeSize>,
    seconds: Option<f64>,
    whole_passes: Option<bool>,
    loops: Option<u32>,
    discard_loops: Option<u32>,
    aggregate: Option<LoopAggregate>,
    warmup_s: Option<f64>,
    rest_s: Option<f64>,
    flush: Option<FlushMode>,
    data: Option<WriteData>,
    path: Option<KernelPath>,
    sync_each: Option<bool>,
    drop_caches: Option<bool>,
    random: Option<RandomDraw>,
    filesystem: Option<String>,
    until: Option<RepeatUntil>,
    prints: Option<ToolFormat>,
}

/// Parses and validates a recipe. `area` overrides its size (`--size`).
///
/// # Errors
/// If the text is not TOML, has an unknown key, or requests something impossible. The message names the place and the
/// fix.
pub fn parse(text: &str, area: Option<u64>) -> Result<Recipe, RecipeError> {
    let file: RecipeFile =
        toml::from_str(text).map_err(|e| RecipeError::Syntax(explain_syntax_error(text, &e)))?;
    let size = area.unwrap_or(file.area.size.0);
    let prepare = file.area.prepare.then(|| RangePreparation {
        block: file.area.prepare_block.map_or(1 << 20, |s| s.0),
        data: file.area.prepare_data.unwrap_or(WriteData::Random),
    });
    if file.defaults.test.is_some() || file.defaults.step.is_some() {
        return Err(RecipeError::Syntax("test and step belong under [[test]], not under [defaults]".into()));
    }
    let tests = (1..).zip(file.test);
    let tests = tests.map(|(n, own)| fill_test(n, own, &file.defaults, size)).collect::<Result<_, _>>()?;
    let recipe = Recipe {
        name: file.name,
        title: file.title,
        version: file.version,
        source: file.source,
        tool: file.tool,
        area: size,
        fingerprint: recipe_fingerprint(file.version, text, area.filter(|a| *a != file.area.size.0)),
        discard: file.area.discard,
        prepare,
        rest_after_prepare_s: file.area.rest_s,
        requires_state: file.requires_state,
        tries: file.tries,
        demands: file.demand,
        scores: file.score,
        tests,
    };
    validate::check_recipe(&recipe)?;
    Ok(recipe)
}

fn explain_syntax_error(text: &str, error: &toml::de::Error) -> String {
    let mut quoted = error.message().split('`').skip(1).step_by(2);
    let meant = match quoted.next() {
        Some(unknown) if error.message().starts_with("unknown") => nearest_name(unknown, quoted),
        _ => None,
    };
    let hint = meant.map_or(String::new(), |key| format!("; did you mean `{key}`?"));
    format!("{}{hint}", message_with_line(text, error))
}

fn fill_test(n: u32, own: TestSettings, all: &TestSettings, area: u64) -> Result<RecipeTest, RecipeError> {
    let example = r#"write e.g. test = "RND4K Q1T1 read""#;
    let unnamed = || format!("[[test]] number {n} does not say what it tests; {example}");
    let mut name = own.test.ok_or_else(|| RecipeError::Syntax(unnamed()))?;
    if let Some(divisor) = own.block.or(all.block) {
        name.pattern.block = area / divisor.0;
    }
    macro_rules! either {
        ($field:ident) => {
            own.$field.or(all.$field)
        };
    }
    let limit = LoopLimit {
        passes: either!(passes),
        bytes: either!(bytes).map(|s| s.0),
        seconds: either!(seconds),
        whole_passes: either!(whole_passes).unwrap_or(false),
    };
    let span = either!(span).unwrap_or(TestSpan::Area);
    let data = either!(data).unwrap_or(WriteData::Random);
    Ok(RecipeTest {
        name,
        step: own.step,
        size: test_size(span, either!(size), area),
        prepare: either!(prepare_block).map(|block| RangePreparation { block: block.0, data }),
        span,
        sharing: either!(sharing).unwrap_or(SpanSharing::Slices),
        limit,
        loops: either!(loops).unwrap_or(1),
        discard_loops: either!(discard_loops).unwrap_or(0),
        aggregate: either!(aggregate).unwrap_or(LoopAggregate::Total),
        warmup_s: either!(warmup_s).unwrap_or(0.0),
        rest_s: either!(rest_s).unwrap_or(0.0),
        flush: either!(flush).unwrap_or(FlushMode::Timed),
        data,
        path: either!(path).unwrap_or(KernelPath::Direct),
        sync_each: either!(sync_each).unwrap_or(false),
        drop_caches: either!(drop_caches).unwrap_or(false),
        random: either!(random).unwrap_or(RandomDraw::Permutation),
        filesystem: own.filesystem.or_else(|| all.filesystem.clone()),
        until: either!(until),
        prints: own.prints.or_else(|| all.prints.clone()),
    })
}

/// Returns the range of a test: at most the area, or on the whole card all of it unless the test sets less.
fn test_size(span: TestSpan, own: Option<RecipeSize>, area: u64) -> u64 {
    match (span, own) {
        (TestSpan::Area, own) => own.map_or(area, |s| s.0.min(area)),
        (TestSpan::Device, own) => own.map_or(u64::MAX, |s| s.0),
    }
}

/// Combines version, the first 12 digits of the text's BLAKE3 hash, and the size if `--size` overrides it.
fn recipe_fingerprint(version: u32, text: &str, other_size: Option<u64>) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let size = other_size.map_or(String::new(), |s| format!(" size={s}"));
    format!("{version}-{}{size}", &hash[..12])
}
