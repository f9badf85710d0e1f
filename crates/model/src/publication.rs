//! Document of `report`: comparison, rankings, and a part for each card.
//!
//! Serial numbers are removed or hashed before a publication is built.

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestSeries {
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    /// Run number within its entry, from 1. A run of several loops has several series.
    pub run: u32,
    pub entry: String,
    pub condition: String,
    pub seconds: Vec<SeriesBucket>,
}

/// Distribution of latencies of one test over the runs of an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestLatencies {
    pub test: TestName,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<String>,
    pub runs: u32,
    pub entry: String,
    pub condition: String,
    pub histogram: LatencyHistogram,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CardPicture {
    pub caption: String,
    pub media_type: &'static str,
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CardPictures {
    pub published: Vec<CardPicture>,
    /// Number of pictures that are too large or damaged.
    pub skipped: u32,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardPart {
    /// Id in the archive. A card with several settings has several entries in the comparison, but one part.
    pub card_id: String,
    pub title: String,
    pub card: CardFacts,
    /// Hashes that identify the units; serial numbers only on request.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pieces: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub events: Vec<CardEvent>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub courses: Vec<TestSeries>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub latencies: Vec<TestLatencies>,
    pub map: Option<MapReport>,
    pub verify: Option<VerifyReport>,
    pub sustain: Option<SustainReport>,
    #[serde(skip)]
    pub pictures: CardPictures,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Publication {
    pub title: String,
    pub made_on: String,
    pub tool_version: String,
    pub comparison: Comparison,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rankings: Vec<Ranking>,
    pub cards: Vec<CardPart>,
}

impl Publication {
    pub fn card_part(&self, card_id: &str) -> Option<&CardPart> {
        self.cards.iter().find(|part| part.card_id == card_id)
    }
}
