//! Printed label of a card: capacity, marks, families, buses and speeds, parsed word by word.
//!
//! Marks and families: Physical Layer Specification 4.13, 3.11, 8.4 and 3.3 (docs/reference/sd.md#marks). An x rating
//! counts CD speeds of 150 kB/s. The example of a false label is the "1TB … 4K" card of
//! docs/reference/reports.md#microsd-speed-comparison.

mod parse;

#[cfg(test)]
mod tests;

pub use parse::{LabelError, parse};

use crate::mark::Mark;
use crate::registers::CsdFamily;
use serde::{Deserialize, Serialize};
use std::fmt;

/// MB/s per unit of an x rating: a CD's 150 kB/s.
pub const MB_S_OF_X: f64 = 0.15;

/// Bus printed on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PrintedBus {
    /// Printed as I: up to 104 MB/s.
    #[serde(rename = "UHS-I")]
    UhsI,
    /// Printed as II: up to 312 MB/s.
    #[serde(rename = "UHS-II")]
    UhsII,
    /// Printed as III: up to 624 MB/s.
    #[serde(rename = "UHS-III")]
    UhsIII,
    #[serde(rename = "SD Express")]
    Express,
}

impl PrintedBus {
    /// Returns the line rate in MB/s (docs/reference/sd.md#bus-modes).
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

/// Direction of a printed speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedDirection {
    Read,
    Write,
}

/// Speed printed on a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintedSpeed {
    /// MB/s (10^6).
    pub mb_s: f64,
    /// Printed direction. None where the label has none, which makers mean as reading.
    #[serde(rename = "way")]
    pub direction: Option<SpeedDirection>,
    /// Text on the card: `633x`, `95 MB/s`.
    pub printed: String,
}

/// Capacity printed on a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedCapacity {
    /// Bytes, with the decimal units that makers use.
    pub bytes: u64,
    /// Text on the card: `1TB`.
    pub printed: String,
}

/// Label of a card, parsed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardLabel {
    /// Text as entered.
    pub text: String,
    pub capacity: Option<PrintedCapacity>,
    pub marks: Vec<Mark>,
    /// Words that look like marks but are not: `4K`, `U2`.
    pub false_marks: Vec<String>,
    pub families: Vec<CsdFamily>,
    pub buses: Vec<PrintedBus>,
    /// Speeds, including x ratings.
    pub speeds: Vec<PrintedSpeed>,
    /// All other words, e.g. makers and product names.
    pub unknown: Vec<String>,
}
