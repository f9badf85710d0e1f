//! What use does to a card: heat; and wear, by erase cycles, blocks that fail and blocks that are moved.

use super::check::{Verdict, some_bytes};
use serde::{Deserialize, Serialize};

/// What a hot card saves at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Throttle {
    /// Its clock: everything takes longer.
    #[default]
    Clock,
    /// The share of the time for which its data path may be busy: what leaves it idle anyway is as fast as before.
    Duty,
}

/// Heat (model, T): one thermal node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thermal {
    /// True where the card reports its temperature (NVMe does, SD does not).
    pub sensor: bool,
    /// Temperature around it in °C \[T_amb\].
    pub ambient_c: f64,
    /// Resistance to the surroundings without a fan, in K/W.
    pub passive_k_per_w: f64,
    /// The same with a fan.
    pub active_k_per_w: f64,
    /// Heat capacity in J/K \[C_th\].
    pub capacity_j_per_k: f64,
    /// Power at rest in W.
    pub idle_w: f64,
    /// Power while a command is under way in W \[P_op\].
    pub busy_w: f64,
    /// Added power in W while reads keep the data path busy without a pause \[e_r\].
    pub read_w: f64,
    /// The same for writes \[e_w\].
    pub write_w: f64,
    /// Light throttling from this temperature on, in °C \[TMT1\].
    pub tmt1_c: f64,
    /// Heavy throttling from this temperature on, in °C \[TMT2\].
    pub tmt2_c: f64,
    /// Kelvin below a limit at which its throttling ends.
    pub hysteresis_k: f64,
    /// What throttling slows down.
    #[serde(default)]
    pub throttle: Throttle,
    /// Speed of reads under light throttling, as a share \[f₁\].
    pub light_read: f64,
    /// Speed of writes under light throttling, as a share.
    pub light_write: f64,
    /// Power of a command under way while throttled, as a share of `busy_w`: a lower clock draws less.
    #[serde(default = "one")]
    pub throttled_busy: f64,
    /// Speed under heavy throttling, as a share \[f₂\].
    pub heavy: f64,
}

fn one() -> f64 {
    1.0
}

impl Thermal {
    pub(super) fn check(&self) -> Verdict {
        if self.tmt1_c > self.tmt2_c {
            let Thermal { tmt1_c, tmt2_c, .. } = self;
            return Err(format!("thermal.tmt1_c = {tmt1_c} is above thermal.tmt2_c = {tmt2_c}"));
        }
        Ok(())
    }
}

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
        some_bytes("wear.level_every", self.level_every.map_or(1, u64::from))?;
        some_bytes("wear.disturb_reads", self.disturb_reads.map_or(1, u64::from))
    }
}
