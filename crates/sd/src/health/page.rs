//! Health page of a card: its layouts, the CMD56 arguments that read it, and its decoded fields.

use crate::registers::RawRegister;
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

impl HealthLayout {
    /// All layouts, in the order of detection.
    pub const ALL: [HealthLayout; 5] = [
        HealthLayout::SanDisk,
        HealthLayout::Longsys,
        HealthLayout::Micron,
        HealthLayout::Swissbit,
        HealthLayout::Apacer,
    ];

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
        let (read, prepare) = match self {
            HealthLayout::SanDisk | HealthLayout::Longsys => (0x0000_0001, None),
            HealthLayout::Micron => (0x1100_05fb, None),
            HealthLayout::Swissbit => (0x5342_0001, None),
            HealthLayout::Apacer => (0x0000_0021, Some(0x0000_0010)),
        };
        HealthQuery { read, prepare }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            HealthLayout::SanDisk => "sandisk",
            HealthLayout::Longsys => "longsys",
            HealthLayout::Micron => "micron",
            HealthLayout::Swissbit => "swissbit",
            HealthLayout::Apacer => "apacer",
        }
    }
}

impl fmt::Display for HealthLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HealthLayout::SanDisk => "SanDisk / Western Digital",
            HealthLayout::Longsys => "Longsys",
            HealthLayout::Micron => "Micron",
            HealthLayout::Swissbit => "Swissbit",
            HealthLayout::Apacer => "Apacer, Kingston and others",
        })
    }
}

impl FromStr for HealthLayout {
    type Err = String;

    fn from_str(text: &str) -> Result<HealthLayout, String> {
        HealthLayout::ALL.into_iter().find(|layout| layout.name().eq_ignore_ascii_case(text)).ok_or_else(
            || {
                let names: Vec<&str> = HealthLayout::ALL.iter().map(|layout| layout.name()).collect();
                format!("the layouts are {}", names.join(", "))
            },
        )
    }
}

/// Decoded health page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardHealth {
    pub raw: RawRegister<PAGE_BYTES>,
    pub layout: HealthLayout,
    #[serde(flatten)]
    pub told: HealthFields,
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
