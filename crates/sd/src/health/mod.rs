//! Health pages of SD cards: wear counters that some makers return for CMD56 (GEN_CMD).
//!
//! The specification leaves the content to the maker (Physical Layer Specification 4.7.4, class 8 commands), so each
//! page is decoded in its maker's layout. Sources: SanDisk's and Western Digital's product manuals for industrial
//! cards, Micron's technical note TN-SD-02, Swissbit's signature `Sw`, Longsys's 0x70 0x58, and the layout that cards
//! of Apacer, Kingston, Viofo and Goodram share; offsets as users of these cards reported them.
//!
//! The command is sent only on the user's request: with another maker's argument it has made a card vanish until it
//! was replugged, and cards that do not know it answer with zeros, ones or stale buffer contents.

mod layouts;
#[cfg(test)]
mod tests;

use crate::registers::{BlankRegister, RawRegister, RegisterError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Bytes of a health page, which is one block of CMD56.
pub const PAGE_BYTES: usize = 512;

/// Layout of a health page, by maker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthLayout {
    /// SanDisk and Western Digital, industrial and surveillance cards.
    SanDisk,
    /// Longsys, which also makes Lexar's cards.
    Longsys,
    Micron,
    Swissbit,
    /// Apacer, Kingston, Viofo, Goodram and others; industrial and high-endurance cards.
    Apacer,
}

/// Arguments of the CMD56 that read a health page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthQuery {
    /// Argument of the CMD56 that reads the page. Bit 0, which means reading, is set.
    pub read: u32,
    /// Argument of a CMD56 sent before, with a block of zeros to the controller. The zeros never reach the flash.
    pub prepare: Option<u32>,
}

const fn row(name: &'static str, makers: &'static str, read: u32, prepare: Option<u32>) -> LayoutRow {
    LayoutRow { name, makers, query: HealthQuery { read, prepare } }
}

/// Layout on the command line and on pages, and the command that reads it.
struct LayoutRow {
    name: &'static str,
    makers: &'static str,
    query: HealthQuery,
}

/// Rows in the order of [`HealthLayout::ALL`].
static LAYOUTS: [LayoutRow; 5] = [
    row("sandisk", "SanDisk / Western Digital", 0x0000_0001, None),
    row("longsys", "Longsys", 0x0000_0001, None),
    row("micron", "Micron", 0x1100_05fb, None),
    row("swissbit", "Swissbit", 0x5342_0001, None),
    row("apacer", "Apacer, Kingston and others", 0x0000_0021, Some(0x0000_0010)),
];

impl HealthLayout {
    /// All layouts, in the order of detection.
    pub const ALL: [Self; 5] = [Self::SanDisk, Self::Longsys, Self::Micron, Self::Swissbit, Self::Apacer];

    /// Returns the layout of cards with this MID, or None where several makers share the MID.
    pub fn for_maker(mid: u8) -> Option<HealthLayout> {
        match mid {
            0x03 => Some(HealthLayout::SanDisk),
            0x5d => Some(HealthLayout::Swissbit),
            0xad => Some(HealthLayout::Longsys),
            _ => None,
        }
    }

    /// Returns the CMD56 arguments for this layout.
    pub fn health_query(self) -> HealthQuery {
        LAYOUTS[self as usize].query
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        LAYOUTS[self as usize].name
    }
}

impl fmt::Display for HealthLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(LAYOUTS[*self as usize].makers)
    }
}

impl FromStr for HealthLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<HealthLayout, String> {
        let mut all = HealthLayout::ALL.into_iter();
        let names = || HealthLayout::ALL.map(HealthLayout::name).join(", ");
        all.find(|layout| layout.name().eq_ignore_ascii_case(text))
            .ok_or_else(|| format!("the layouts are {}", names()))
    }
}

/// Decoded health page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardHealth {
    pub raw: RawRegister<PAGE_BYTES>,
    pub layout: HealthLayout,
    #[serde(flatten)]
    pub fields: HealthFields,
}

/// Fields of a health page. None where the layout lacks the field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthFields {
    pub product: Option<String>,
    pub firmware: Option<String>,
    /// Date of manufacture, `YYYY-MM-DD`.
    pub made: Option<String>,
    /// Rated life used in percent; may exceed 100.
    pub life_used_percent: Option<f64>,
    pub erase_cycles: Option<f64>,
    pub erase_cycles_most: Option<f64>,
    pub erase_cycles_rated: Option<f64>,
    pub bad_blocks_at_first: Option<u64>,
    pub bad_blocks_since: Option<u64>,
    pub spare_blocks: Option<u64>,
    pub written_bytes: Option<u64>,
    pub power_cycles: Option<u64>,
    pub unsafe_shutdowns: Option<u64>,
    /// Blocks rewritten because their data was fading.
    pub refreshes: Option<u64>,
    pub bus_crc_errors: Option<u64>,
}

/// Error of a block that is not a health page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HealthError {
    #[error("the page holds {0}: the card keeps no health page, or another maker's")]
    Blank(BlankRegister),
    /// No signature of a maker, and no plausible figures of a layout without one. Holds the first two bytes.
    #[error(
        "the page begins with {:02x} {:02x} and fits none of the known layouts ({names})",
        .0[0], .0[1], names = HealthLayout::ALL.map(|layout| layout.to_string()).join("; ")
    )]
    Unknown([u8; 2]),
    /// Text that is not 512 bytes in hex.
    #[error(transparent)]
    Text(#[from] RegisterError),
}
