//! Cards beside each other: what was measured of each under what, which differences are real, and what differs besides
//! the card. The document of `compare`.

use crate::card::CardFacts;
use crate::card_details::CardDetails;
use crate::finding::Finding;
use crate::result::ToolPrints;
use crate::run::LatencyPercentiles;
use crate::setting::Setting;
use crate::statistics::distinct;
use crate::test_name::TestName;
use crate::units::MB;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// One column of a comparison: a card, or one of its settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComparedEntry {
    /// How it is called here: the card's title, with what tells it from its neighbours.
    pub name: String,
    /// The card's name in the archive.
    pub card_id: String,
    /// The card.
    pub card: CardFacts,
    /// The settings under which its figures were measured, each once.
    pub settings: Vec<Setting>,
    /// Units of the model that were measured.
    pub specimens: u32,
    /// Sessions.
    pub sessions: u32,
    /// Runs.
    pub runs: u32,
    /// First and last day of measuring, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measured: Option<[String; 2]>,
    /// Where the figures are from: files, addresses.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources: Vec<String>,
}

/// Two levels between which a series of runs jumps: a cache that is full or not, heat.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoLevels {
    /// The lower, in MB/s.
    pub low: f64,
    /// The upper, in MB/s.
    pub high: f64,
    /// Share of runs at the lower, 0 to 1.
    pub share_low: f64,
}

/// I/Os a second that move so many MB/s (10^6 bytes a second) in blocks of these bytes; `None` for no block.
pub fn iops(mb_s: f64, block_bytes: u64) -> Option<f64> {
    (block_bytes > 0).then(|| mb_s * MB / block_bytes as f64)
}

/// One test of one entry over its runs, in MB/s.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Runs.
    pub n: u32,
    /// Mean.
    pub mean: f64,
    /// I/Os a second at that mean: `mean` × 10^6 / the test's `block_bytes`.
    pub iops: Option<f64>,
    /// Median.
    pub median: f64,
    /// Fastest run.
    pub best: f64,
    /// Slowest run.
    pub worst: f64,
    /// 95 % interval of the mean, as series of this kind of test are known to vary; for a single run too.
    pub ci95: Option<[f64; 2]>,
    /// The runs in the order in which they were measured.
    pub runs: Vec<f64>,
    /// Where they jump between two levels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<TwoLevels>,
    /// The same over the figures as the tool printed them, where all runs have them in one unit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub as_printed: Option<PrintedSpread>,
}

/// Average, worst, best and median over figures as a tool printed them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedSpread {
    /// Mean.
    pub mean: ToolPrints,
    /// Median.
    pub median: ToolPrints,
    /// Fastest.
    pub best: ToolPrints,
    /// Slowest.
    pub worst: ToolPrints,
}

/// Smallest ratio, less one, that is called a difference: readers and hosts change more than that
/// (docs/reference/flash.md#comparing-two-cards). Cards that differ by less for sure are alike.
pub const NOTICED: f64 = 0.03;

/// What can be said of two entries in one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairVerdict {
    /// The first is faster.
    FirstFaster,
    /// The second is faster.
    SecondFaster,
    /// They differ by less than anybody notices.
    Alike,
    /// These two cannot be told apart from what was measured.
    CannotTell,
}

/// What the chance is called that one of two is faster by more than anybody overlooks. Measured on simulated pairs, what is
/// called likely is right in 80 to 95 of 100 cases, and almost certain in at least 95 (`docs/comparing.md`).
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
    /// Of a chance from 0 to 1.
    pub fn of(chance: f64) -> ChanceGrade {
        match chance {
            c if c > 0.95 => ChanceGrade::AlmostCertain,
            c if c >= 0.8 => ChanceGrade::Likely,
            c if c >= 0.6 => ChanceGrade::Leans,
            _ => ChanceGrade::Even,
        }
    }
}

/// Two levels of each of two entries, level against level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelPair {
    /// Upper level of the second over that of the first.
    pub high_factor: f64,
    /// Lower level of the second over that of the first.
    pub low_factor: f64,
    /// Share of slow runs of the first and of the second, 0 to 1.
    pub share_low: [f64; 2],
}

/// Two entries in one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    /// Number of the first entry, from 0.
    pub first: usize,
    /// Number of the second.
    pub second: usize,
    /// Usual speed of the second over that of the first: the factor of the geometric means of their runs.
    pub factor: f64,
    /// 95 % interval of the factor, for single runs too; wider where more than what is compared differs.
    pub factor_ci95: Option<[f64; 2]>,
    /// Chance that the first entry's usual speed in this test, under these conditions, is the higher one, 0 to 1.
    #[serde(default = "even")]
    pub probability_first_faster: f64,
    /// Chance that the faster one is faster by more than anybody overlooks (3 %), 0 to 1.
    #[serde(default)]
    pub probability_notable: f64,
    /// What that chance is called.
    #[serde(default)]
    pub grade: ChanceGrade,
    /// Difference in percent of the first.
    pub percent: f64,
    /// Probability of such a difference by chance alone, after correction for the number of tests of these two; `None`
    /// where one has too few runs.
    pub p: Option<f64>,
    /// What can be said.
    pub verdict: PairVerdict,
    /// Further runs of each that would probably settle it, where it is not settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub more_runs: Option<u32>,
    /// What differs besides the card; the difference may be its work.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub not_the_card_alone: Vec<String>,
    /// The words of rig, tool, size and cooling among it, which move speeds as much as cards do: the interval is wider by
    /// them, and nothing is called almost certain.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub confounded_by: Vec<String>,
    /// Where the runs of both jump between two levels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub levels: Option<LevelPair>,
}

const fn even() -> f64 {
    0.5
}

/// What is to be said of one card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardRemark {
    /// Its name.
    pub name: String,
    /// Parts of a sentence.
    pub words: Vec<String>,
}

/// How far the cards lie apart in one test, each over its largest area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestRange {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Cards that were measured in it.
    pub cards: u32,
    /// The fastest card.
    pub fastest: String,
    /// Its mean in MB/s.
    pub fastest_mb_s: f64,
    /// The slowest card.
    pub slowest: String,
    /// Its mean in MB/s.
    pub slowest_mb_s: f64,
    /// The one over the other.
    pub factor: f64,
}

/// One test of a card over a small area and over a large one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AreaEffect {
    /// The card.
    pub name: String,
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Bytes of the two areas, the small one first.
    pub bytes: [u64; 2],
    /// Means over them in MB/s.
    pub mb_s: [f64; 2],
}

impl AreaEffect {
    /// Speed over the large area as a share of that over the small one.
    pub fn share(&self) -> f64 {
        self.mb_s[1] / self.mb_s[0]
    }
}

/// One entry over all tests that all entries were measured in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OverallFactor {
    /// Its name.
    pub name: String,
    /// Geometric mean, over the tests, of its usual speed over that of the best entry; 1 for the best.
    pub factor_to_best: f64,
    /// 95 % interval of the factor.
    pub ci95: [f64; 2],
    /// Tests in which it is the fastest.
    pub wins: u32,
    /// Tests.
    pub tests: u32,
    /// Chance that it is the best, 0 to 1.
    pub probability_best: f64,
    /// What differs between it and another one besides what is compared, of rig, tool, size and cooling.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub confounded_by: Vec<String>,
}

/// What active cooling is worth to a card that was measured with and without it, over the tests that it has under both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoolingGain {
    /// The card.
    pub name: String,
    /// Geometric mean, over the tests, of its usual speed under active cooling over that under passive cooling.
    pub factor: f64,
    /// 95 % interval of the factor.
    pub ci95: [f64; 2],
    /// Tests.
    pub tests: u32,
    /// Chance that it is faster under active cooling, 0 to 1.
    pub probability_faster: f64,
}

/// What it is worth to change that by which the cards were divided, over the cards that were measured both ways and otherwise
/// alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangeEffect {
    /// The slower value.
    pub from: String,
    /// The faster one.
    pub to: String,
    /// Test by test.
    pub tests: Vec<ChangedTest>,
}

/// One test under a change, over the cards that have it both ways.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedTest {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Cards.
    pub cards: u32,
    /// Cards that are faster by more than anybody overlooks (3 %).
    pub faster: u32,
    /// Geometric mean, over the cards, of the mean speed after over that before.
    pub factor: f64,
    /// 95 % interval of that mean by Student's t over the cards; `None` for one card.
    pub factor_ci95: Option<[f64; 2]>,
    /// The card that gains least.
    pub lowest: f64,
    /// The card that gains most.
    pub highest: f64,
}

/// One test over all entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedTest {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Bytes of one of its I/Os.
    #[serde(default)]
    pub block_bytes: u64,
    /// Its figures, by entry; `None` where it was not measured.
    pub spreads: Vec<Option<Spread>>,
    /// All pairs that were both measured.
    pub pairs: Vec<ComparedPair>,
}

/// Latencies of one test of one entry over its runs, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EntryLatency {
    /// Runs of which the mean is known.
    pub n: u32,
    /// Mean of the runs' means.
    pub mean_us: f64,
    /// Mean of the runs' percentiles, where they are known.
    #[serde(skip_serializing_if = "LatencyPercentiles::is_unknown", default)]
    pub percentiles_us: LatencyPercentiles,
    /// Longest of all runs, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_us: Option<f64>,
}

/// Latencies of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedLatency {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// By entry; `None` where nothing says it.
    pub entries: Vec<Option<EntryLatency>>,
}

/// Something besides the card that is not the same for all entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingDifference {
    /// What: a word of the condition, `recipe`, `test size`, `runs`.
    pub what: String,
    /// Its value by entry: several where an entry mixes them, `None` where unknown.
    pub values: Vec<Option<String>>,
}

/// The whole comparison.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared.
    pub entries: Vec<ComparedEntry>,
    /// By which words the cards were divided, if they were, with commas between them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub by: Option<String>,
    /// The tests, in the order in which recipes have them.
    pub tests: Vec<ComparedTest>,
    /// All tests together, the best entry first; empty where no test was run on all.
    #[serde(default)]
    pub overall: Vec<OverallFactor>,
    /// A remark on each card.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub remarks: Vec<CardRemark>,
    /// How far three cards or more lie apart, by test.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub apart: Vec<TestRange>,
    /// What a large test area does to the cards that were also measured over a small one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub areas: Vec<AreaEffect>,
    /// What active cooling is worth to each card that was measured with and without it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub cooling: Vec<CoolingGain>,
    /// What each change is worth of that by which the cards were divided.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub changes: Vec<ChangeEffect>,
    /// Latencies of the tests whose sources say them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub latencies: Vec<ComparedLatency>,
    /// What differs besides the card.
    pub differs: Vec<SettingDifference>,
    /// Conclusions and doubts.
    pub findings: Vec<Finding>,
    /// What else is known of the cards, by their name in the archive.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub details: BTreeMap<String, CardDetails>,
}

impl ComparedEntry {
    /// What its bus carries, in MB/s (10^6); `None` where that is unknown, or its runs were made on different ones.
    pub fn bus_ceiling_mb_s(&self) -> Option<f64> {
        match distinct(self.settings.iter().map(|setting| setting.value("bus_mode"))).len() {
            1 => self.settings.first()?.bus_ceiling_mb_s(),
            _ => None,
        }
    }
}

impl Comparison {
    /// Number of cards: one that was measured under several settings has an entry for each, and is one card.
    pub fn cards(&self) -> usize {
        self.entries.iter().map(|entry| &entry.card_id).collect::<HashSet<_>>().len()
    }
}
