//! The pSLC cache.

use super::check::Verdict;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Clean bytes of a card that has rested long \[C_slc, C_max\].
    pub clean_bytes: u64,
    /// Clean bytes at the start; as `clean_bytes` where absent.
    #[serde(default)]
    pub start_bytes: Option<u64>,
    /// Bits that a cell holds outside the cache (3 for TLC, 4 for QLC). With it the cache is made of what is free: at
    /// most `alpha` · free / `bits` bytes; without it the cache is static.
    #[serde(default)]
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
    #[serde(default)]
    pub pool_bytes: Option<u64>,
    /// Seconds without any command after which that pool is full again.
    #[serde(default = "minutes")]
    pub pool_rest_s: f64,
    /// Speed of writes into the cache in MB/s \[B_slc\].
    pub write_mb_s: f64,
    /// Seconds before the data of a 4 KiB write into the cache.
    #[serde(default)]
    pub write_base_s: Option<f64>,
    /// The same at the engine's `ramp_bytes` and more.
    #[serde(default)]
    pub write_large_s: Option<f64>,
    /// Least seconds from one write's end to the next one's.
    #[serde(default)]
    pub write_serial_s: Option<f64>,
    /// Seconds before the first byte of a 4 KiB read from the cache; as elsewhere where absent.
    #[serde(default)]
    pub read_base_s: Option<f64>,
    /// Least seconds from one such read's end to the next one's; as elsewhere where absent.
    #[serde(default)]
    pub read_serial_s: Option<f64>,
}

fn all() -> f64 {
    1.0
}

fn minutes() -> f64 {
    300.0
}

impl Cache {
    /// Bytes that it takes when `free_bytes` of the card hold nothing, if all of them are clean.
    #[must_use]
    pub fn limit_bytes(&self, free_bytes: u64) -> f64 {
        let most = self.clean_bytes as f64;
        self.bits.map_or(most, |bits| most.min(self.alpha * free_bytes as f64 / f64::from(bits)))
    }

    /// Bytes that it takes when an empty card of `announced` bytes is written through: a dynamic cache shrinks with
    /// what is free, so that it ends where `used = alpha * (announced - used) / bits`.
    #[must_use]
    pub fn through_bytes(&self, announced: u64) -> f64 {
        let most = self.clean_bytes as f64;
        let ends = |bits: u32| self.alpha * announced as f64 / (f64::from(bits) + self.alpha);
        self.bits.map_or(most, |bits| most.min(ends(bits)))
    }

    pub(super) fn check(&self, announced_bytes: u64) -> Verdict {
        if self.clean_bytes > announced_bytes {
            return Err(format!("cache.clean_bytes = {} is more than the card has", self.clean_bytes));
        }
        for (key, bytes) in
            [("reopen_bytes", self.reopen_bytes), ("start_bytes", self.start_bytes.unwrap_or(0))]
        {
            if bytes > self.clean_bytes {
                return Err(format!("cache.{key} = {bytes} is more than cache.clean_bytes"));
            }
        }
        if self.bits.is_some_and(|bits| !(1..=8).contains(&bits)) {
            return Err(format!("cache.bits = {} must be 1 to 8", self.bits.unwrap_or(0)));
        }
        if self.when_full == WhenFull::Fold && self.clean_mb_s == 0.0 {
            return Err("cache.clean_mb_s = 0 must be above 0 for a cache that folds".to_owned());
        }
        Ok(())
    }
}
