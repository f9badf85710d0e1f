//! What use does to a card: its pSLC cache, which is used up; heat; and wear, by erase cycles, blocks that fail and blocks
//! that are moved.

use super::check::{ValueCheck, ensure, some_bytes};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

/// What a hot card saves at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThrottleKind {
    /// Its clock: everything takes longer.
    #[default]
    Clock,
    /// The share of the time for which its data path may be busy: what leaves it idle anyway is as fast as before.
    Duty,
}

/// Heat (model, T): one thermal node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalNode {
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
    pub throttle: ThrottleKind,
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

impl ThermalNode {
    pub(super) fn check(&self) -> ValueCheck {
        let ThermalNode { tmt1_c, tmt2_c, .. } = self;
        ensure(tmt1_c <= tmt2_c, || format!("thermal.tmt1_c = {tmt1_c} is above thermal.tmt2_c = {tmt2_c}"))
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

with_defaults! {
    /// Wear levelling spreads erasures, so blocks fail by the card's mean number of them.
    ///
    /// TLC of today: 3000 erasures by its makers' data sheets; the scatter, the 32 spare blocks and the speed of moving
    /// one are guesses inside what cards show. \[I\]
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct WearParameters {
        /// Erasures that half of all blocks outlive.
        pub endurance_cycles: f64 = 3000.0,
        /// σ of the logarithm of a block's endurance.
        pub endurance_sigma: f64 = 0.1,
        /// Blocks that replace failed ones.
        pub spare_blocks: u32 = 32,
        /// What follows when they are used up.
        pub end: EndOfLife = EndOfLife::default(),
        /// Erasures that the card has behind it at the start, as a mean over its blocks.
        pub start_cycles: f64 = 0.0,
        /// Erasures after which one block at rest is moved, which stalls a write; never where absent.
        pub level_every: Option<u32> = None,
        /// Reads of one block after which it is rewritten, which stalls a read; never where absent.
        pub disturb_reads: Option<u32> = None,
        /// Speed of moving a block in MB/s \[B_copy\].
        pub copy_mb_s: f64 = 10.0,
    }
}

impl WearParameters {
    pub(super) fn check(&self) -> ValueCheck {
        some_bytes("wear.level_every", self.level_every.map_or(1, u64::from))?;
        some_bytes("wear.disturb_reads", self.disturb_reads.map_or(1, u64::from))
    }
}

/// What a card does with a write when its cache is used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It writes past the cache, at the engine's own speed.
    #[default]
    Direct,
    /// It makes room first: each byte waits for one to be moved, at 1/(1/B_slc + 1/B_fold).
    Fold,
}

/// The pSLC cache: times while it takes the writes, and how its clean blocks are used up and come back. In front of
/// engines that map blocks it makes only the data of writes in order faster; base times that are absent are the
/// engine's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PslcCache {
    /// Clean bytes of a card that has rested long \[C_slc, C_max\].
    pub clean_bytes: u64,
    /// Clean bytes at the start; as `clean_bytes` where absent.
    pub start_bytes: Option<u64>,
    /// Bits that a cell holds outside the cache (3 for TLC, 4 for QLC). With it the cache is made of what is free: at
    /// most `alpha` · free / `bits` bytes; without it the cache is static.
    pub bits: Option<u32>,
    /// Share of what is free that a dynamic cache may take \[α\].
    #[serde(default = "all")]
    pub alpha: f64,
    /// What happens when it is used up.
    #[serde(default)]
    pub when_full: WhenFull,
    /// Once used up, the cache takes no write until so many bytes are clean again.
    #[serde(default)]
    pub reopen_bytes: u64,
    /// Speed of cleaning in MB/s, while nothing is written \[B_fold\].
    pub clean_mb_s: f64,
    /// Seconds without a write before cleaning of a used up cache starts \[t_idle\].
    pub idle_s: f64,
    /// Seconds without any command after which an open cache is cleaned too.
    pub rest_s: f64,
    /// True where an open cache is cleaned as soon as nothing is written, even while the card is read.
    #[serde(default)]
    pub clean_between_reads: bool,
    /// Bytes of blocks to clean with: each byte written takes one, and at 0 nothing is cleaned any more \[D\].
    /// Without a limit where absent.
    pub pool_bytes: Option<u64>,
    /// Seconds without any command after which that pool is full again.
    #[serde(default = "minutes")]
    pub pool_rest_s: f64,
    /// Speed of writes into the cache in MB/s \[B_slc\].
    pub write_mb_s: f64,
    /// Seconds before the data of a 4 KiB write into the cache.
    pub write_base_s: Option<f64>,
    /// The same at the engine's `ramp_bytes` and more.
    pub write_large_s: Option<f64>,
    /// Least seconds from one write's end to the next one's.
    pub write_serial_s: Option<f64>,
    /// Seconds before the first byte of a 4 KiB read from the cache; as elsewhere where absent.
    pub read_base_s: Option<f64>,
    /// Least seconds from one such read's end to the next one's; as elsewhere where absent.
    pub read_serial_s: Option<f64>,
}

fn all() -> f64 {
    1.0
}

fn minutes() -> f64 {
    300.0
}

impl PslcCache {
    /// Bytes that it takes when `free_bytes` of the card hold nothing, if all of them are clean.
    pub fn limit_bytes(&self, free_bytes: u64) -> f64 {
        let most = self.clean_bytes as f64;
        self.bits.map_or(most, |bits| most.min(self.alpha * free_bytes as f64 / f64::from(bits)))
    }

    /// Bytes that it takes when an empty card of `announced` bytes is written through: a dynamic cache shrinks with
    /// what is free, so that it ends where `used = alpha * (announced - used) / bits`.
    pub fn through_bytes(&self, announced: u64) -> f64 {
        let most = self.clean_bytes as f64;
        let ends = |bits: u32| self.alpha * announced as f64 / (f64::from(bits) + self.alpha);
        self.bits.map_or(most, |bits| most.min(ends(bits)))
    }

    pub(super) fn check(&self, announced_bytes: u64) -> ValueCheck {
        let (clean, bits) = (self.clean_bytes, self.bits.unwrap_or(1));
        ensure(clean <= announced_bytes, || {
            format!("cache.clean_bytes = {clean} is more than the card has")
        })?;
        for (key, bytes) in
            [("reopen_bytes", self.reopen_bytes), ("start_bytes", self.start_bytes.unwrap_or(0))]
        {
            ensure(bytes <= clean, || format!("cache.{key} = {bytes} is more than cache.clean_bytes"))?;
        }
        ensure((1..=8).contains(&bits), || format!("cache.bits = {bits} must be 1 to 8"))?;
        ensure(self.when_full != WhenFull::Fold || self.clean_mb_s != 0.0, || {
            "cache.clean_mb_s = 0 must be above 0 for a cache that folds".to_owned()
        })
    }
}
