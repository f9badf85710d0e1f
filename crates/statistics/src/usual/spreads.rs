//! How much the runs of a test vary, correlate and jump, and how far cards and settings lie apart: the table that ships with
//! the program, and what an archive adds to it.
//!
//! The table (`spreads.toml`) is made of all real series there are by the command in its first line: the published reports
//! of the collection and the logs of the reference data. [`super::learn`] says how.

use cardscope_model::card::CardFacts;
use cardscope_model::comparison::NOTICED;
use cardscope_model::setting::Setting;
use cardscope_model::test_name::{IoOrder, TestName, TestOp};
use cardscope_sd::mark::Mark;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Deviations of a run as shares of its speed, each 1.8 times the one before it.
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

/// Correlations of neighbours.
pub const CORRELATIONS: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9];

/// Shares of slow runs.
pub const SLOW: [f64; 7] = [0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97];

/// Probabilities with which a run stays at the last one's level.
pub const STAYS: [f64; 4] = [0.0, 0.3, 0.6, 0.85];

/// Runs at one level deviate by one of the first so many deviations: what is wider is no level.
pub const WITHIN: usize = 8;

/// Deviations of the logarithm of the factor between two cards.
pub const APART: [f64; 5] = [0.03, 0.1, 0.3, 1.0, 3.0];

/// What kind of test on what kind of card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpreadKind {
    /// Over PCIe: SD Express, and SSDs.
    pub express: bool,
    /// What is tested.
    pub of: SpreadSubject,
}

/// What is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SpreadSubject {
    /// One pattern.
    Test(IoOrder, TestOp),
    /// The geometric mean of a run over all its tests.
    AllTests,
}

impl SpreadKind {
    /// Of a card that was measured under a setting.
    pub fn new(facts: &CardFacts, setting: Option<&Setting>, test: TestName) -> SpreadKind {
        SpreadKind {
            express: is_express(facts, setting),
            of: SpreadSubject::Test(test.pattern.order, test.op),
        }
    }

    /// Of the same card, over all tests.
    pub fn over_all(facts: &CardFacts, setting: Option<&Setting>) -> SpreadKind {
        SpreadKind { express: is_express(facts, setting), of: SpreadSubject::AllTests }
    }

    /// Its name in the table.
    pub fn name(self) -> String {
        let card = if self.express { "express" } else { "sd" };
        match self.of {
            SpreadSubject::AllTests => format!("{card} all tests"),
            SpreadSubject::Test(order, op) => {
                let order = if order == IoOrder::Sequential { "sequential" } else { "random" };
                format!("{card} {order} {}", if op == TestOp::Read { "read" } else { "write" })
            }
        }
    }

    /// The kinds whose names stand in the table.
    pub fn all() -> impl Iterator<Item = SpreadKind> {
        let tests = [IoOrder::Sequential, IoOrder::Random]
            .into_iter()
            .flat_map(|order| [TestOp::Read, TestOp::Write].map(|op| SpreadSubject::Test(order, op)));
        let of = tests.chain([SpreadSubject::AllTests]);
        of.flat_map(|of| [false, true].map(|express| SpreadKind { express, of }))
    }
}

/// Whether a card is measured over PCIe: what its form, its marks or the bus of the rig say.
pub fn is_express(facts: &CardFacts, setting: Option<&Setting>) -> bool {
    let says = |text: &str| ["express", "nvme", "pcie"].iter().any(|word| text.to_lowercase().contains(word));
    let marked = facts.marks.iter().flat_map(|text| Mark::in_label(text)).any(|mark| mark.letter() == 'E');
    let bus = setting.and_then(|setting| setting.value("bus_mode"));
    match bus {
        Some(bus) => says(&bus),
        None => marked || facts.form.as_deref().is_some_and(says),
    }
}

/// What is known of the series of one kind: shares of series, in the order of the lists above.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindSpread {
    /// Series behind it.
    pub series: f64,
    /// Share of series by deviation of a run, of those that do not jump.
    pub deviation: [f64; DEVIATIONS.len()],
    /// The same by correlation of neighbours.
    pub correlation: [f64; CORRELATIONS.len()],
    /// Share of series that jump between two levels.
    pub jumping: f64,
    /// Of those: usual factor between the levels.
    pub factor: f64,
    /// Deviation of its logarithm.
    pub factor_deviation: f64,
    /// By deviation of a run at one level.
    pub within: [f64; WITHIN],
    /// By the share of slow runs.
    pub slow: [f64; SLOW.len()],
    /// By the probability of staying.
    pub stay: [f64; STAYS.len()],
}

impl KindSpread {
    /// Every deviation, correlation and jump as probable as any other: what learning starts from.
    pub fn even() -> KindSpread {
        KindSpread {
            series: 0.0,
            deviation: even(),
            correlation: even(),
            jumping: 0.1,
            factor: 1.8,
            factor_deviation: 0.3,
            within: even(),
            slow: even(),
            stay: even(),
        }
    }

    pub(super) fn step(&self) -> LevelStep {
        LevelStep { mean: self.factor.ln(), variance: self.factor_deviation.powi(2) }
    }
}

pub(super) fn even<const N: usize>() -> [f64; N] {
    [1.0 / N as f64; N]
}

/// What is known of the logarithm of the factor between two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LevelStep {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// How far one thing that differs besides the card moves a speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionEffect {
    /// A word of the setting: `cooling`, `size`, `board`.
    pub word: String,
    /// Deviation of the logarithm of the factor.
    pub deviation: f64,
    /// Pairs of one card's figures behind it, 0 where it is assumed.
    pub pairs: u32,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpreadTable {
    /// By the kind's name.
    pub kinds: std::collections::BTreeMap<String, KindSpread>,
    /// Share of pairs of cards by how far they lie apart.
    pub cards: [f64; APART.len()],
    /// Deviation of the logarithm of a speed between units of one model, and how many models were behind it: 0 where it
    /// is assumed.
    pub units: UnitSpread,
    /// What else moves speeds.
    pub effects: Vec<ConditionEffect>,
}

/// Units of one model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitSpread {
    /// Deviation of the logarithm of a speed.
    pub deviation: f64,
    /// Models of which several units were measured.
    pub models: u32,
}

/// The effect of a word that the table does not know, or in which two sides may be alike: that of another reader.
const UNKNOWN_EFFECT: f64 = 0.1;

static SHIPPED: OnceLock<SpreadTable> = OnceLock::new();

impl SpreadTable {
    /// The table that ships with the program.
    ///
    /// # Panics
    /// If it were not readable, which a test rules out.
    pub fn shipped() -> &'static SpreadTable {
        SHIPPED.get_or_init(|| {
            SpreadTable::parse(include_str!("spreads.toml")).expect("the table of spreads is readable")
        })
    }

    /// Reads a table.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<SpreadTable, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// What is known of a kind of series.
    pub fn spread(&self, kind: SpreadKind) -> &KindSpread {
        static EVEN: OnceLock<KindSpread> = OnceLock::new();
        self.kinds.get(&kind.name()).unwrap_or_else(|| EVEN.get_or_init(KindSpread::even))
    }

    /// Variance that a word of the rig adds to the logarithm of a factor, where both sides are known to differ in it, or one is
    /// unknown and they may.
    pub fn variance_of(&self, word: &str, known: bool) -> f64 {
        let of = self.effects.iter().find(|effect| effect.word == word).filter(|_| known);
        of.map_or(UNKNOWN_EFFECT, |effect| effect.deviation).powi(2)
    }

    /// Shares and deviations of how far cards lie apart.
    pub(crate) fn apart(&self) -> impl Iterator<Item = (f64, f64)> + Clone + use<> {
        self.cards.into_iter().zip(APART)
    }
}

/// The logarithm of the least factor that anybody notices.
pub fn noticed() -> f64 {
    (1.0 + NOTICED).ln()
}
