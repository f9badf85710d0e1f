//! Document of `compare`: figures of each card and its settings, real differences, and other causes of differences.

use crate::card::CardFacts;
use crate::card_details::CardDetails;
use crate::finding::Finding;
use crate::result::ToolPrints;
use crate::run::LatencyPercentiles;
use crate::setting::Setting;
use crate::statistics::distinct_values;
use crate::test_name::TestName;
use crate::units::MB;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Column of a comparison: a card, or a card with one setting.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedEntry {
    /// Title of the card and the difference to other columns.
    pub name: String,
    pub card_id: String,
    pub card: CardFacts,
    pub settings: Vec<Setting>,
    pub specimens: u32,
    pub sessions: u32,
    pub runs: u32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<String>,
}

/// Two levels that the runs alternate between, e.g. because of a cache or heat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoLevels {
    pub low: f64,
    pub high: f64,
    /// Share of runs at the lower level, 0 to 1.
    pub share_low: f64,
}

/// Returns the I/Os per second of a speed in MB/s (10^6), or None for a block of 0 bytes.
pub fn iops_at_speed(mb_s: f64, block_bytes: u64) -> Option<f64> {
    (block_bytes > 0).then(|| mb_s * MB / block_bytes as f64)
}

/// Statistics of a test over the runs of an entry, in MB/s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub n: u32,
    pub mean: f64,
    /// I/Os per second at the mean: `mean` × 10^6 / `block_bytes`.
    pub iops: Option<f64>,
    pub median: f64,
    pub best: f64,
    pub worst: f64,
    /// 95 % interval of the mean, for a single run too, from the usual variation of such tests.
    pub ci95: Option<[f64; 2]>,
    pub runs: Vec<f64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<TwoLevels>,
    /// Statistics of the figures as the tool printed them, if all runs have the same unit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub as_printed: Option<PrintedSpread>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedSpread {
    pub mean: ToolPrints,
    pub median: ToolPrints,
    pub best: ToolPrints,
    pub worst: ToolPrints,
}

/// Smallest ratio, less one, that counts as a difference, because readers and hosts vary by more
/// (docs/reference/flash.md#comparing-two-cards). Cards that certainly differ by less are alike.
pub const NOTABLE_CHANGE: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    FirstFaster,
    SecondFaster,
    /// The difference is certainly below the notable one.
    Alike,
    /// The measurements do not decide.
    CannotTell,
}

/// Grade of the chance that one entry is notably faster. On simulated pairs, "likely" is right in 80 to 95 % of cases
/// and "almost certain" in at least 95 % (`docs/comparing.md`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChanceGrade {
    /// Below 60 %.
    #[default]
    Even,
    /// 60 to 80 %.
    Leans,
    /// 80 to 95 %.
    Likely,
    /// Above 95 %.
    AlmostCertain,
}

impl ChanceGrade {
    pub fn from_chance(chance: f64) -> ChanceGrade {
        match chance {
            c if c > 0.95 => ChanceGrade::AlmostCertain,
            c if c >= 0.8 => ChanceGrade::Likely,
            c if c >= 0.6 => ChanceGrade::Leans,
            _ => ChanceGrade::Even,
        }
    }
}

/// Ratio of the levels of two entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelPair {
    pub high_factor: f64,
    pub low_factor: f64,
    /// Share of slow runs of the first and the second entry, 0 to 1.
    pub share_low: [f64; 2],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    pub first: usize,
    pub second: usize,
    /// Speed of the second over that of the first, as the ratio of the geometric means of their runs.
    pub factor: f64,
    /// 95 % interval of the factor, for single runs too. Wider if the conditions differ as well.
    pub factor_ci95: Option<[f64; 2]>,
    #[serde(default = "even")]
    pub probability_first_faster: f64,
    /// Chance that the faster one is faster by a notable amount (3 %), 0 to 1.
    #[serde(default)]
    pub probability_notable: f64,
    #[serde(default)]
    pub grade: ChanceGrade,
    pub percent: f64,
    /// Probability of such a difference by chance, corrected for the number of tests of the two. None if one has too
    /// few runs.
    pub p: Option<f64>,
    pub verdict: PairVerdict,
    /// Further runs of each entry that would probably decide, if the verdict is open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub more_runs: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_the_card_alone: Vec<String>,
    /// Differences in rig, tool, size and cooling, which change speeds as much as cards do. They widen the interval
    /// and rule out "almost certain".
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub confounded_by: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<LevelPair>,
}

const fn even() -> f64 {
    0.5
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardRemark {
    pub name: String,
    pub words: Vec<String>,
}

/// Range of the cards in one test, each over its largest area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestRange {
    pub test: TestName,
    /// Step of the recipe, if it has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub cards: u32,
    pub fastest: String,
    pub fastest_mb_s: f64,
    pub slowest: String,
    pub slowest_mb_s: f64,
    pub factor: f64,
}

/// Speed of a card over a small and a large test area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AreaEffect {
    pub name: String,
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub bytes: [u64; 2],
    pub mb_s: [f64; 2],
}

impl AreaEffect {
    pub fn large_area_share(&self) -> f64 {
        self.mb_s[1] / self.mb_s[0]
    }
}

/// Entry over all tests that all entries have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallFactor {
    pub name: String,
    /// Geometric mean over the tests of its speed over that of the best entry; 1 for the best.
    pub factor_to_best: f64,
    pub ci95: [f64; 2],
    pub wins: u32,
    pub tests: u32,
    pub probability_best: f64,
    /// Differences to another entry in rig, tool, size and cooling.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub confounded_by: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoolingGain {
    pub name: String,
    /// Geometric mean over the tests of the speed with active over that with passive cooling.
    pub factor: f64,
    pub ci95: [f64; 2],
    pub tests: u32,
    pub probability_faster: f64,
}

/// Effect of a change of the compared setting, over the cards measured with both values and otherwise alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeEffect {
    pub from: String,
    pub to: String,
    pub tests: Vec<ChangedTest>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedTest {
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub cards: u32,
    pub faster: u32,
    pub factor: f64,
    /// 95 % interval of the factor by Student's t; None for one card.
    pub factor_ci95: Option<[f64; 2]>,
    pub lowest: f64,
    pub highest: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedTest {
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    #[serde(default)]
    pub block_bytes: u64,
    pub spreads: Vec<Option<Spread>>,
    pub pairs: Vec<ComparedPair>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryLatency {
    pub n: u32,
    pub mean_us: f64,
    #[serde(skip_serializing_if = "LatencyPercentiles::is_unknown", default)]
    pub percentiles_us: LatencyPercentiles,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_us: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedLatency {
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub entries: Vec<Option<EntryLatency>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingDifference {
    /// Key of the condition, `recipe`, `test size` or `runs`.
    pub what: String,
    /// Value by entry: several if an entry mixes them, None if unknown.
    pub values: Vec<Option<String>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub entries: Vec<ComparedEntry>,
    /// Words that the cards were divided by, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    pub tests: Vec<ComparedTest>,
    /// Ranking over all tests, best entry first; empty if the entries have no test in common.
    #[serde(default)]
    pub overall: Vec<OverallFactor>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub remarks: Vec<CardRemark>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub apart: Vec<TestRange>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub areas: Vec<AreaEffect>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cooling: Vec<CoolingGain>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changes: Vec<ChangeEffect>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub latencies: Vec<ComparedLatency>,
    pub differs: Vec<SettingDifference>,
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub details: BTreeMap<String, CardDetails>,
}

impl ComparedEntry {
    /// Returns the line rate of the bus in MB/s (10^6), or None if it is unknown or the runs used several.
    pub fn bus_ceiling_mb_s(&self) -> Option<f64> {
        match distinct_values(self.settings.iter().map(|setting| setting.value("bus_mode"))).len() {
            1 => self.settings.first()?.bus_ceiling_mb_s(),
            _ => None,
        }
    }
}

impl Comparison {
    /// Number of cards. A card with several settings has several entries, but counts once.
    pub fn card_count(&self) -> usize {
        self.entries.iter().map(|entry| &entry.card_id).collect::<HashSet<_>>().len()
    }
}
