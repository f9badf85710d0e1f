//! What a report publishes: the comparison, the orders, and a part for each card. The document of `report`.
//!
//! Serial numbers are gone from it, or hashed, before it comes here.

use crate::card::{CardEvent, CardFacts};
use crate::card_map::MapReport;
use crate::comparison::Comparison;
use crate::finding::Finding;
use crate::histogram::LatencyHistogram;
use crate::ranking::Ranking;
use crate::series::SeriesBucket;
use crate::sustain::SustainReport;
use crate::test_name::TestName;
use crate::verify::VerifyReport;
use serde::{Deserialize, Serialize};

/// Speed and temperature over time of one test in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestSeries {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// The run, from 1 among those of its entry; a run of several loops has several series.
    pub run: u32,
    /// The name of the entry among whose figures the run counts.
    pub entry: String,
    /// Under what it was measured, in words: `cooling active · reader slot`.
    pub condition: String,
    /// The series over time; only whole seconds.
    pub seconds: Vec<SeriesBucket>,
}

/// How long single I/Os of one test took, over the runs of one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestLatencies {
    /// The test.
    pub test: TestName,
    /// Where a recipe has the same test twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Runs in it.
    pub runs: u32,
    /// The name of the entry among whose figures the runs count.
    pub entry: String,
    /// Under what it was measured, in words.
    pub condition: String,
    /// The latencies.
    pub histogram: LatencyHistogram,
}

/// A photograph or a screenshot that is attached to a card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CardPicture {
    /// What there is to say about it, else the name of its file.
    pub caption: String,
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub media_type: &'static str,
    /// Its bytes, which as JSON are left to the archive.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Pictures of a card, and how many are too large to be published, or damaged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardPictures {
    /// Those that are published.
    pub shown: Vec<CardPicture>,
    /// How many are left out.
    pub left_out: u32,
}

/// One card's part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardPart {
    /// The card's name in the archive, as in the entries of the comparison: a card measured under several settings has
    /// several of those and one part.
    pub card_id: String,
    /// Its title.
    pub title: String,
    /// What is known of it.
    pub card: CardFacts,
    /// A hash that tells units apart without naming them; the serial number itself only where asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pieces: Vec<String>,
    /// What happened to it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<CardEvent>,
    /// Conclusions about it, with where they are from.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// Speed and temperature over time.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub courses: Vec<TestSeries>,
    /// Latencies.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub latencies: Vec<TestLatencies>,
    /// Its last map: page, erase block, block-size curve.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub map: Option<MapReport>,
    /// Its last proof of capacity, with the map of its addresses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verify: Option<VerifyReport>,
    /// Its last long write or read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sustain: Option<SustainReport>,
    /// Photographs and screenshots; the archive has them, and the document as JSON does not repeat them.
    #[serde(skip)]
    pub pictures: CardPictures,
}

/// What is published.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    /// Its title.
    pub title: String,
    /// When it was made, `YYYY-MM-DD`.
    pub made_on: String,
    /// Cardscope's version.
    pub tool_version: String,
    /// The cards beside each other.
    pub comparison: Comparison,
    /// Orders, one a job or test asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rankings: Vec<Ranking>,
    /// A part for each card, in the order of the comparison.
    pub cards: Vec<CardPart>,
}

impl Publication {
    /// The part of a card, by its name in the archive.
    pub fn part(&self, card_id: &str) -> Option<&CardPart> {
        self.cards.iter().find(|part| part.card_id == card_id)
    }
}
