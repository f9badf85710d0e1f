//! Tables in logs of flashbench: times of reads across boundaries (`-a`), speeds of the first allocation units (`-f`)
//! and of several open ones (`-O`).

use serde::{Deserialize, Serialize};

/// Key of the tables in [`crate::log::CardLog::other`].
pub const TABLES: &str = "flashbench";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlashbenchTables {
    /// Tables of `-a`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub align: Vec<AlignRow>,
    /// Tables of `-f`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub fat: Vec<FatRow>,
    /// Tables of `-O`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub open_au: Vec<OpenAu>,
}

impl FlashbenchTables {
    pub fn rows(&self) -> usize {
        self.align.len() + self.fat.len() + self.open_au.len()
    }
}

/// Mean times of reads before, across and after a boundary, in microseconds.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AlignRow {
    /// Size whose multiple the boundary is.
    pub align_bytes: u64,
    pub pre_us: Option<f64>,
    /// Time across the boundary; the only figure that a fork of flashbench prints.
    #[serialize_always]
    pub on_us: Option<f64>,
    pub post_us: Option<f64>,
    pub diff_us: Option<f64>,
    pub test: u32,
}

/// Speeds of one block size in the first allocation units, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FatRow {
    pub block_bytes: u64,
    pub mb_s: Vec<f64>,
    pub test: u32,
}

/// Speed of one block size over several open allocation units, in MB/s (10^6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenAu {
    /// Units written in turn; None if neither heading nor command has it.
    pub au_count: Option<u32>,
    pub random: bool,
    /// Size of the units: the table's first block size.
    pub au_bytes: u64,
    pub block_bytes: u64,
    pub mb_s: f64,
    pub test: u32,
}
