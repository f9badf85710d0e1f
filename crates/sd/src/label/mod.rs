//! What is printed on a card, read word by word, and compared with what is possible and what was measured.
//!
//! Marks and families: Physical Layer Specification 4.13, 3.11, 8.4 and 3.3 (docs/reference/sd.md#marks). An x rating
//! counts CD speeds of 150 kB/s. The card that gave the reason is the "1TB … 4K" of
//! docs/reference/reports.md#microsd-speed-comparison.

mod parse;

#[cfg(test)]
mod tests;

pub use parse::{LabelError, parse};

use crate::mark::Mark;
use crate::registers::CsdFamily;
use serde::{Deserialize, Serialize};
use std::fmt;

/// MB/s of one x of an x rating: a CD's 150 kB/s.
pub const MB_S_OF_X: f64 = 0.15;

/// The bus that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PrintedBus {
    /// I: up to 104 MB/s.
    #[serde(rename = "UHS-I")]
    UhsI,
    /// II: up to 312 MB/s.
    #[serde(rename = "UHS-II")]
    UhsII,
    /// III: up to 624 MB/s.
    #[serde(rename = "UHS-III")]
    UhsIII,
    /// PCIe and NVMe.
    #[serde(rename = "SD Express")]
    Express,
}

impl PrintedBus {
    /// Line rate in MB/s (docs/reference/sd.md#bus-modes).
    pub fn ceiling_mb_s(self) -> f64 {
        match self {
            PrintedBus::UhsI => 104.0,
            PrintedBus::UhsII => 312.0,
            PrintedBus::UhsIII => 624.0,
            PrintedBus::Express => 3938.0,
        }
    }
}

impl fmt::Display for PrintedBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The direction of a printed speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedDirection {
    /// From the card.
    Read,
    /// To the card.
    Write,
}

/// A speed that is printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedSpeed {
    /// In MB/s (10^6).
    pub mb_s: f64,
    /// Its direction, where it says so; makers mean reading where it does not.
    #[serde(rename = "way")]
    pub direction: Option<SpeedDirection>,
    /// As it is printed: `633x`, `95 MB/s`.
    pub printed: String,
}

/// A printed capacity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedCapacity {
    /// In bytes, with the powers of ten that makers count by.
    pub bytes: u64,
    /// As it is printed: `1TB`.
    pub printed: String,
}

/// What is printed on a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardLabel {
    /// The text as it was given.
    pub text: String,
    /// Its capacity.
    pub capacity: Option<PrintedCapacity>,
    /// Marks that exist.
    pub marks: Vec<Mark>,
    /// Words that look like marks and are none: `4K`, `U2`.
    pub false_marks: Vec<String>,
    /// SDHC, SDXC, SDUC.
    pub families: Vec<CsdFamily>,
    /// I, II, III, Express.
    pub buses: Vec<PrintedBus>,
    /// Speeds, x ratings among them.
    pub speeds: Vec<PrintedSpeed>,
    /// Everything else: makers, product names.
    pub unknown: Vec<String>,
}
