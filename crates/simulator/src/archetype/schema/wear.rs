//! Wear: erase cycles, blocks that fail, blocks that are moved.

use super::check::{Verdict, positive, some_bytes};
use serde::{Deserialize, Serialize};

/// What a card does once its spare blocks are used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfLife {
    /// Writes fail, what is there can still be read.
    #[default]
    ReadOnly,
    /// Writes are accepted and dropped.
    SwallowsWrites,
    /// Each further block that fails loses what is written to it.
    LosesBlocks,
    /// It answers no more.
    Dead,
}

/// Wear levelling spreads erasures, so blocks fail by the card's mean number of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Wear {
    /// Erasures that half of all blocks outlive.
    pub endurance_cycles: f64,
    /// σ of the logarithm of a block's endurance.
    pub endurance_sigma: f64,
    /// Blocks that replace failed ones.
    pub spare_blocks: u32,
    /// What follows when they are used up.
    pub end: EndOfLife,
    /// Erasures that the card has behind it at the start, as a mean over its blocks.
    pub start_cycles: f64,
    /// Erasures after which one block at rest is moved, which stalls a write; never where absent.
    pub level_every: Option<u32>,
    /// Reads of one block after which it is rewritten, which stalls a read; never where absent.
    pub disturb_reads: Option<u32>,
    /// Speed of moving a block in MB/s \[B_copy\].
    pub copy_mb_s: f64,
}

impl Default for Wear {
    /// TLC of today: 3000 erasures by its makers' data sheets; the scatter, the 32 spare blocks and the speed of
    /// moving one are guesses inside what cards show. \[I\]
    fn default() -> Self {
        Wear {
            endurance_cycles: 3000.0,
            endurance_sigma: 0.1,
            spare_blocks: 32,
            end: EndOfLife::default(),
            start_cycles: 0.0,
            level_every: None,
            disturb_reads: None,
            copy_mb_s: 10.0,
        }
    }
}

impl Wear {
    pub(super) fn check(&self) -> Verdict {
        positive("wear.endurance_cycles", self.endurance_cycles)?;
        positive("wear.endurance_sigma", self.endurance_sigma)?;
        positive("wear.copy_mb_s", self.copy_mb_s)?;
        if !(0.0..=1e9).contains(&self.start_cycles) {
            return Err(format!("wear.start_cycles = {} must be 0 or more", self.start_cycles));
        }
        some_bytes("wear.level_every", self.level_every.map_or(1, u64::from))?;
        some_bytes("wear.disturb_reads", self.disturb_reads.map_or(1, u64::from))
    }
}
