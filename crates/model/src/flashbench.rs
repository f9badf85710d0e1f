//! The tables that flashbench prints, as a log of it holds them: times of reads across boundaries (`-a`), speeds of the
//! first allocation units (`-f`), and of several that are open at a time (`-O`).

use serde::{Deserialize, Serialize};

/// The word in [`crate::log::Log::other`] under which a log has its tables.
pub const TABLES: &str = "flashbench";

/// All tables of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashbenchTables {
    /// `-a`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub align: Vec<AlignRow>,
    /// `-f`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fat: Vec<FatRow>,
    /// `-O`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub open_au: Vec<OpenAu>,
}

impl FlashbenchTables {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.align.len() + self.fat.len() + self.open_au.len()
    }
}

/// A boundary: mean times of reads before, across and after it, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlignRow {
    /// The boundary is a multiple of it.
    pub align_bytes: u64,
    /// Before it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pre_us: Option<f64>,
    /// Across it; the only number that a fork prints.
    pub on_us: Option<f64>,
    /// Behind it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub post_us: Option<f64>,
    /// How much longer a read across it takes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diff_us: Option<f64>,
    /// Number of the table, from 1.
    pub test: u32,
}

/// Speeds of one block size in the first allocation units, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FatRow {
    /// Bytes of a write.
    pub block_bytes: u64,
    /// One speed an allocation unit.
    pub mb_s: Vec<f64>,
    /// Number of the table, from 1.
    pub test: u32,
}

/// Speed of one block size over several open allocation units, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenAu {
    /// Units written in turn; `None` where neither heading nor command tells.
    pub au_count: Option<u32>,
    /// Whether each was written out of order.
    pub random: bool,
    /// Size of the units: that of the table's first block.
    pub au_bytes: u64,
    /// Bytes of a write.
    pub block_bytes: u64,
    /// Speed.
    pub mb_s: f64,
    /// Number of the table, from 1.
    pub test: u32,
}
