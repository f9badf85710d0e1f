//! A maker's page: its layouts, how each is asked for, and what may stand in it.

use crate::registers::RawRegister;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Bytes of a page: CMD56 moves one block of 512 bytes.
pub const PAGE_BYTES: usize = 512;

/// A maker's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthLayout {
    /// SanDisk and Western Digital, industrial and surveillance cards.
    SanDisk,
    /// Longsys, who also makes Lexar's cards.
    Longsys,
    /// Micron.
    Micron,
    /// Swissbit.
    Swissbit,
    /// Industrial and high-endurance cards of Apacer, Kingston, Viofo, Goodram and others.
    Apacer,
}

/// What a card is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthQuery {
    /// Argument of the CMD56 that reads the page; bit 0, which says that it reads, is set.
    pub read: u32,
    /// Argument of a CMD56 that goes before, with a block of zeros to the controller; none of it reaches the flash.
    pub prepare: Option<u32>,
}

impl HealthLayout {
    /// All of them, in the order in which they are told.
    pub const ALL: [HealthLayout; 5] = [
        HealthLayout::SanDisk,
        HealthLayout::Longsys,
        HealthLayout::Micron,
        HealthLayout::Swissbit,
        HealthLayout::Apacer,
    ];

    /// The layout of cards with this manufacturer number, where it belongs to one maker; the others have to be named.
    pub fn of_maker(mid: u8) -> Option<HealthLayout> {
        match mid {
            0x03 => Some(HealthLayout::SanDisk),
            0x5d => Some(HealthLayout::Swissbit),
            0xad => Some(HealthLayout::Longsys),
            _ => None,
        }
    }

    /// What to ask a card of this layout.
    pub fn question(self) -> HealthQuery {
        let (read, prepare) = match self {
            HealthLayout::SanDisk | HealthLayout::Longsys => (0x0000_0001, None),
            HealthLayout::Micron => (0x1100_05fb, None),
            HealthLayout::Swissbit => (0x5342_0001, None),
            HealthLayout::Apacer => (0x0000_0021, Some(0x0000_0010)),
        };
        HealthQuery { read, prepare }
    }

    /// Its name on the command line.
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

/// A decoded page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardHealth {
    /// The 512 bytes.
    pub raw: RawRegister<PAGE_BYTES>,
    /// Whose layout it is in.
    pub layout: HealthLayout,
    /// What it tells.
    #[serde(flatten)]
    pub told: HealthFields,
}

/// What a card tells of itself; what its layout has no place for is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HealthFields {
    /// Product name.
    pub product: Option<String>,
    /// Firmware.
    pub firmware: Option<String>,
    /// Day of manufacture, `YYYY-MM-DD`.
    pub made: Option<String>,
    /// Rated life used in percent; may pass 100.
    pub life_used_percent: Option<f64>,
    /// Erase cycles of a block on average.
    pub erase_cycles: Option<f64>,
    /// Erase cycles of the block with most of them.
    pub erase_cycles_most: Option<f64>,
    /// Erase cycles that a block is rated for.
    pub erase_cycles_rated: Option<f64>,
    /// Blocks that were bad when the card was made.
    pub bad_blocks_at_first: Option<u64>,
    /// Blocks that went bad since.
    pub bad_blocks_since: Option<u64>,
    /// Blocks left to stand in for bad ones.
    pub spare_blocks: Option<u64>,
    /// Bytes that hosts wrote.
    pub written_bytes: Option<u64>,
    /// Times switched on.
    pub power_cycles: Option<u64>,
    /// Times the power went without warning.
    pub unsafe_shutdowns: Option<u64>,
    /// Blocks that were written anew because they were fading.
    pub refreshes: Option<u64>,
    /// Transfers with a wrong checksum on the bus.
    pub bus_crc_errors: Option<u64>,
}
