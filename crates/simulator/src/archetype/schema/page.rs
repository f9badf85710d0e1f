//! Parameters of the page engine.

use super::check::{SECTOR, Verdict, positive, seconds, some_bytes};
use serde::{Deserialize, Serialize};

/// Parameters of the page engine (model, W-P).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageWrite {
    /// Seconds before the data of a 4 KiB write \[t_b\].
    pub base_s: f64,
    /// The same at `ramp_bytes` and more; as `base_s` where absent.
    #[serde(default)]
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "super::read::ramp_bytes")]
    pub ramp_bytes: u64,
    /// Least seconds from one write's end to the next one's.
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
    /// Added where the mapping table of the place is not in the controller's memory (`read.map_cache_bytes`).
    #[serde(default)]
    pub map_miss_s: f64,
    /// Garbage collection; absent where the levels above contain it.
    #[serde(default)]
    pub gc: Option<Gc>,
}

/// Garbage collection: how a card mapped by page gets erased blocks back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gc {
    /// Flash beyond what is announced, as a share of it: 0.07 where 2^30 bytes are sold as 10^9.
    pub spare_share: f64,
    /// Bytes that are collected and erased at a time \[E\].
    pub unit_bytes: u64,
    /// Speed of copying what is still valid, in MB/s \[B_copy\].
    pub copy_mb_s: f64,
    /// Seconds of erasing a unit \[t_erase\].
    pub erase_s: f64,
}

impl PageWrite {
    pub(super) fn check(&self) -> Verdict {
        seconds("write.base_s", self.base_s)?;
        seconds("write.large_s", self.large_s.unwrap_or(0.0))?;
        seconds("write.serial_s", self.serial_s)?;
        seconds("write.map_miss_s", self.map_miss_s)?;
        positive("write.mb_s", self.mb_s)?;
        some_bytes("write.ramp_bytes", self.ramp_bytes)?;
        self.gc.as_ref().map_or(Ok(()), Gc::check)
    }
}

impl Gc {
    fn check(&self) -> Verdict {
        if !(0.001..=10.0).contains(&self.spare_share) {
            return Err(format!("write.gc.spare_share = {} must be 0.001 to 10", self.spare_share));
        }
        if self.unit_bytes < 64 << 10 || !self.unit_bytes.is_multiple_of(SECTOR) {
            let bytes = self.unit_bytes;
            return Err(format!(
                "write.gc.unit_bytes = {bytes} must be a multiple of 512 and at least 64 KiB"
            ));
        }
        positive("write.gc.copy_mb_s", self.copy_mb_s)?;
        seconds("write.gc.erase_s", self.erase_s)
    }
}
