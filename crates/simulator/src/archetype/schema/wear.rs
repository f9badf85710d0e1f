//! Effects of use: a pSLC cache that is used up, heat, and wear by erasures (failing blocks, moved blocks).

use super::value_checks::{ValueCheck, check_not_zero, ensure};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

/// Means by which a hot card limits its power.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThrottleKind {
    /// A lower clock: everything takes longer.
    #[default]
    Clock,
    /// A limit on the share of time in which the data path is busy: small I/O, which leaves it idle, stays fast.
    Duty,
}

/// Heat: one thermal node (docs/reference/flash.md#heat).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalNode {
    /// True if the card reports its temperature (NVMe does, SD does not).
    pub sensor: bool,
    pub ambient_c: f64,
    /// Thermal resistance without a fan.
    pub passive_k_per_w: f64,
    pub active_k_per_w: f64,
    pub capacity_j_per_k: f64,
    pub idle_w: f64,
    /// Power while a command is under way.
    pub busy_w: f64,
    /// Added power while reads keep the data path busy without a pause.
    pub read_w: f64,
    /// Added power while writes do.
    pub write_w: f64,
    /// Light throttling from this temperature (TMT1).
    pub tmt1_c: f64,
    /// Heavy throttling from this temperature (TMT2).
    pub tmt2_c: f64,
    /// Kelvin below a limit at which its throttling ends.
    pub hysteresis_k: f64,
    #[serde(default)]
    pub throttle: ThrottleKind,
    /// Speed of reads under light throttling, as a share.
    pub light_read: f64,
    /// Speed of writes under light throttling, as a share.
    pub light_write: f64,
    /// Share of `busy_w` that a throttled card draws: a lower clock draws less.
    #[serde(default = "full_share")]
    pub throttled_busy: f64,
    /// Speed under heavy throttling, as a share.
    pub heavy: f64,
}

/// Behaviour of a card after its spare blocks are used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndOfLife {
    /// Writes fail; data can still be read.
    #[default]
    ReadOnly,
    /// Writes are accepted and dropped.
    SwallowsWrites,
    /// Each further block that fails loses its data.
    LosesBlocks,
    /// The card stops answering.
    Dead,
}

with_defaults! {
    /// Wear. Levelling spreads erasures, so blocks fail by the card's mean number of them
    /// (docs/reference/flash.md#wear).
    ///
    /// Defaults are those of TLC: 3000 erasures by makers' data sheets; the scatter, the 32 spare blocks and the
    /// copying speed are assumed.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct WearParameters {
        /// Erasures that half of all blocks outlive.
        pub endurance_cycles: f64 = 3000.0,
        /// σ of the logarithm of a block's endurance.
        pub endurance_sigma: f64 = 0.1,
        pub spare_blocks: u32 = 32,
        pub end: EndOfLife = EndOfLife::default(),
        /// Mean erasures of a block before the start.
        pub start_cycles: f64 = 0.0,
        /// Erasures after which a block at rest is moved, which stalls a write; None for never.
        pub level_every: Option<u32> = None,
        /// Reads of a block after which it is rewritten, which stalls a read; None for never.
        pub disturb_reads: Option<u32> = None,
        pub copy_mb_s: f64 = 10.0,
    }
}

impl WearParameters {
    pub(super) fn check(&self) -> ValueCheck {
        check_not_zero("wear.level_every", self.level_every.map_or(1, u64::from))?;
        check_not_zero("wear.disturb_reads", self.disturb_reads.map_or(1, u64::from))
    }
}

/// Treatment of a write when the cache is used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// Writes pass the cache, at the speed of the engine.
    #[default]
    Direct,
    /// Each byte waits until one is moved, at 1/(1/B_slc + 1/B_fold).
    Fold,
}

/// pSLC cache: times of writes into it, and how its clean blocks are used up and cleaned. With engines that map blocks
/// it speeds up only the data of writes in order. Base times that are None are those of the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PslcCache {
    /// Clean bytes after a long rest.
    pub clean_bytes: u64,
    /// Clean bytes at the start; None for `clean_bytes`.
    pub start_bytes: Option<u64>,
    /// Bits of a cell outside the cache (3 for TLC, 4 for QLC). If set, the cache is dynamic: at most `alpha` · free /
    /// `bits` bytes.
    pub bits: Option<u32>,
    /// Share of the free bytes that a dynamic cache may take.
    #[serde(default = "full_share")]
    pub alpha: f64,
    #[serde(default)]
    pub when_full: WhenFull,
    /// Clean bytes from which on a used-up cache takes writes again.
    #[serde(default)]
    pub reopen_bytes: u64,
    /// Speed of cleaning, while nothing is written (B_fold).
    pub clean_mb_s: f64,
    /// Seconds without a write before the cleaning of a used-up cache starts.
    pub idle_s: f64,
    /// Seconds without any command before an open cache is cleaned as well.
    pub rest_s: f64,
    /// True if an open cache is cleaned as soon as nothing is written, even while the card is read.
    #[serde(default)]
    pub clean_between_reads: bool,
    /// Bytes of blocks for cleaning: each byte written takes one, and without any left nothing is cleaned. None for no
    /// limit.
    pub pool_bytes: Option<u64>,
    /// Seconds without any command after which these blocks are available again.
    #[serde(default = "default_pool_rest_s")]
    pub pool_rest_s: f64,
    /// Speed of writes into the cache (B_slc).
    pub write_mb_s: f64,
    /// Seconds before the data of a 4 KiB write into the cache.
    pub write_base_s: Option<f64>,
    /// Seconds from the engine's `ramp_bytes` on.
    pub write_large_s: Option<f64>,
    /// Least seconds between the ends of two writes.
    pub write_serial_s: Option<f64>,
    /// Seconds before the first byte of a 4 KiB read from the cache; None for no difference.
    pub read_base_s: Option<f64>,
    /// Least seconds between the ends of two such reads; None for no difference.
    pub read_serial_s: Option<f64>,
}

fn full_share() -> f64 {
    1.0
}

fn default_pool_rest_s() -> f64 {
    300.0
}

impl PslcCache {
    /// Size of a clean cache while `free_bytes` of the card hold nothing.
    pub fn limit_bytes(&self, free_bytes: u64) -> f64 {
        let most = self.clean_bytes as f64;
        self.bits.map_or(most, |bits| most.min(self.alpha * free_bytes as f64 / f64::from(bits)))
    }

    /// Bytes that the cache takes when an empty card is written from start to end. A dynamic cache shrinks with the
    /// free bytes, so it ends where `used = alpha * (announced - used) / bits`.
    pub fn filled_bytes(&self, announced: u64) -> f64 {
        let most = self.clean_bytes as f64;
        let ends = |bits: u32| self.alpha * announced as f64 / (f64::from(bits) + self.alpha);
        self.bits.map_or(most, |bits| most.min(ends(bits)))
    }

    pub(super) fn check(&self, announced_bytes: u64) -> ValueCheck {
        let (clean, bits) = (self.clean_bytes, self.bits.unwrap_or(1));
        ensure!(clean <= announced_bytes, "cache.clean_bytes = {clean} is more than the card has");
        let start = self.start_bytes.unwrap_or(0);
        for (key, bytes) in [("reopen_bytes", self.reopen_bytes), ("start_bytes", start)] {
            ensure!(bytes <= clean, "cache.{key} = {bytes} is more than cache.clean_bytes");
        }
        ensure!((1..=8).contains(&bits), "cache.bits = {bits} must be 1 to 8");
        let stuck = self.when_full == WhenFull::Fold && self.clean_mb_s == 0.0;
        ensure!(!stuck, "cache.clean_mb_s = 0 must be above 0 for a cache that folds");
        Ok(())
    }
}
