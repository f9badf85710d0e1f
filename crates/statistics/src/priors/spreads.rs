//! Spread table: variation, correlation and jumps of runs, and distances between cards and settings.
//!
//! The built-in table (`spreads.toml`) is learned ([`super::learn`]) from all published reports and reference logs, by the
//! command in its first line.

use cardscope_model::card::CardFacts;
use cardscope_model::comparison::NOTABLE_CHANGE;
use cardscope_model::setting::Setting;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_sd::mark::Mark;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Relative deviations of a run, each 1.8 times the one before.
pub const DEVIATIONS: [f64; 12] = [
    0.001,
    0.0018,
    0.003_24,
    0.005_832,
    0.010_497_6,
    0.018_895_68,
    0.034_012_224,
    0.061_222_003,
    0.110_199_606,
    0.198_359_29,
    0.357_046_723,
    0.642_684_1,
];

pub const CORRELATIONS: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];

/// Shares of slow runs.
pub const SLOW_SHARES: [f64; 7] = [0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97];

/// Probabilities of staying on the level of the last run.
pub const STAY_PROBABILITIES: [f64; 4] = [0.0, 0.3, 0.6, 0.85];

/// Number of [`DEVIATIONS`] that are possible within a level. A wider group is no level.
pub const LEVEL_DEVIATIONS: usize = 8;

/// Deviations of the log factor between two cards.
pub const CARD_DISTANCES: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpreadKind {
    /// Measured over PCIe (SD Express cards and SSDs).
    pub express: bool,
    pub subject: SpreadSubject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpreadSubject {
    Test(IoOrder, TestOp),
    /// Geometric mean over all tests of a run.
    AllTests,
}

impl SpreadKind {
    pub fn new(facts: &CardFacts, setting: Option<&Setting>, test: TestName) -> SpreadKind {
        let subject = SpreadSubject::Test(test.pattern.order, test.op);
        SpreadKind { express: is_express(facts, setting), subject }
    }

    pub fn over_all(facts: &CardFacts, setting: Option<&Setting>) -> SpreadKind {
        SpreadKind { express: is_express(facts, setting), subject: SpreadSubject::AllTests }
    }

    pub fn table_key(self) -> String {
        let card = if self.express { "express" } else { "sd" };
        match self.subject {
            SpreadSubject::AllTests => format!("{card} all tests"),
            SpreadSubject::Test(order, op) => {
                let order = if order == IoOrder::Sequential { "sequential" } else { "random" };
                format!("{card} {order} {}", if op == TestOp::Read { "read" } else { "write" })
            }
        }
    }

    pub fn all_kinds() -> impl Iterator<Item = SpreadKind> {
        let ops = |order| [TestOp::Read, TestOp::Write].map(|op| SpreadSubject::Test(order, op));
        let tests = [IoOrder::Sequential, IoOrder::Random].into_iter().flat_map(ops);
        let of = tests.chain([SpreadSubject::AllTests]);
        of.flat_map(|of| [false, true].map(|express| SpreadKind { express, subject: of }))
    }
}

/// True if the bus of the setup is PCIe, or, without a known bus, if form or marks are those of an SD Express card.
pub fn is_express(facts: &CardFacts, setting: Option<&Setting>) -> bool {
    let says = |text: &str| ["express", "nvme", "pcie"].iter().any(|word| text.to_lowercase().contains(word));
    let marked = facts.marks.iter().flat_map(|text| Mark::parse_label(text)).any(|mark| mark.letter() == 'E');
    let bus = setting.and_then(|setting| setting.value("bus_mode"));
    match bus {
        Some(bus) => says(&bus),
        None => marked || facts.form.as_deref().is_some_and(says),
    }
}

/// Spread of one kind of series, as shares over the lists above.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindSpread {
    pub series: f64,
    /// Steady series by deviation of a run.
    pub deviation: [f64; DEVIATIONS.len()],
    /// Steady series by correlation of neighbours.
    pub correlation: [f64; CORRELATIONS.len()],
    /// Share of series that jump between two levels.
    pub jumping: f64,
    /// Typical factor between the levels.
    pub factor: f64,
    pub factor_deviation: f64,
    /// Jumping series by deviation within a level.
    pub within: [f64; LEVEL_DEVIATIONS],
    /// Jumping series by share of slow runs.
    pub slow: [f64; SLOW_SHARES.len()],
    /// Jumping series by probability of staying.
    pub stay: [f64; STAY_PROBABILITIES.len()],
}

impl KindSpread {
    /// Flat prior, from which learning starts.
    pub fn even_spread() -> KindSpread {
        KindSpread {
            series: 0.0,
            deviation: even_shares(),
            correlation: even_shares(),
            jumping: 0.1,
            factor: 1.8,
            factor_deviation: 0.3,
            within: even_shares(),
            slow: even_shares(),
            stay: even_shares(),
        }
    }

    pub(super) fn level_step(&self) -> LevelStep {
        LevelStep { mean: self.factor.ln(), variance: self.factor_deviation.powi(2) }
    }
}

pub(super) fn even_shares<const N: usize>() -> [f64; N] {
    [1.0 / N as f64; N]
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LevelStep {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// Influence of a difference of the setup on a speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionEffect {
    /// Key of the setting: `cooling`, `size`, `board`.
    pub word: String,
    pub deviation: f64,
    /// Pairs of results it was learned from, 0 if it is assumed.
    pub pairs: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpreadTable {
    pub kinds: std::collections::BTreeMap<String, KindSpread>,
    /// Pairs of cards by distance, over [`CARD_DISTANCES`].
    pub cards: [f64; CARD_DISTANCES.len()],
    pub units: UnitSpread,
    pub effects: Vec<ConditionEffect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSpread {
    pub deviation: f64,
    /// Models of which several units were measured, 0 if the deviation is assumed.
    pub models: u32,
}

/// Deviation of an unlisted key, or of one that may be equal on both sides: that of another reader.
const UNKNOWN_DEVIATION: f64 = 0.1;

static SHIPPED_TABLE: OnceLock<SpreadTable> = OnceLock::new();

impl SpreadTable {
    pub fn shipped() -> &'static SpreadTable {
        SHIPPED_TABLE.get_or_init(|| {
            SpreadTable::parse(include_str!("spreads.toml")).expect("the table of spreads is readable")
        })
    }

    pub fn parse(text: &str) -> Result<SpreadTable, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    pub fn spread_of_kind(&self, kind: SpreadKind) -> &KindSpread {
        static EVEN: OnceLock<KindSpread> = OnceLock::new();
        self.kinds.get(&kind.table_key()).unwrap_or_else(|| EVEN.get_or_init(KindSpread::even_spread))
    }

    /// Variance of the log factor from a key of the setup, in which both sides differ (`known`) or may differ.
    pub fn effect_variance(&self, word: &str, known: bool) -> f64 {
        let of = self.effects.iter().find(|effect| effect.word == word).filter(|_| known);
        of.map_or(UNKNOWN_DEVIATION, |effect| effect.deviation).powi(2)
    }

    pub(crate) fn card_distances(&self) -> impl Iterator<Item = (f64, f64)> + Clone + use<> {
        self.cards.into_iter().zip(CARD_DISTANCES)
    }
}

/// Logarithm of the least factor that users notice.
pub fn noticed_log() -> f64 {
    (1.0 + NOTABLE_CHANGE).ln()
}
