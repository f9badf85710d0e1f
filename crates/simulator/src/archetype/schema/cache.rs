//! The pSLC cache.

use super::check::{Verdict, positive, seconds};
use serde::{Deserialize, Serialize};

/// The pSLC cache: times while it takes the writes, and how its clean blocks are used up and come back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Clean bytes of a card that has rested long \[C_slc\].
    pub clean_bytes: u64,
    /// Clean bytes at the start; as `clean_bytes` where absent.
    #[serde(default)]
    pub start_bytes: Option<u64>,
    /// Once used up, the cache takes no write until so many bytes are clean again.
    pub reopen_bytes: u64,
    /// Speed of cleaning in MB/s, while nothing is written.
    pub clean_mb_s: f64,
    /// Seconds without a write before cleaning starts \[t_idle\].
    pub idle_s: f64,
    /// Seconds without any command after which an open cache is cleaned too.
    pub rest_s: f64,
    /// Speed of writes into the cache in MB/s \[B_slc\].
    pub write_mb_s: f64,
    /// Seconds before the data of a 4 KiB write into the cache.
    pub write_base_s: f64,
    /// The same at the engine's `ramp_bytes` and more.
    pub write_large_s: f64,
    /// Least seconds from one write's end to the next one's.
    pub write_serial_s: f64,
    /// Seconds before the first byte of a 4 KiB read from the cache.
    pub read_base_s: f64,
    /// Least seconds from one such read's end to the next one's.
    pub read_serial_s: f64,
}

impl Cache {
    pub(super) fn check(&self, announced_bytes: u64) -> Verdict {
        if self.clean_bytes > announced_bytes {
            return Err(format!("cache.clean_bytes = {} is more than the card has", self.clean_bytes));
        }
        if self.reopen_bytes > self.clean_bytes {
            let reopen = self.reopen_bytes;
            return Err(format!("cache.reopen_bytes = {reopen} is more than cache.clean_bytes"));
        }
        positive("cache.write_mb_s", self.write_mb_s)?;
        for (key, value) in [
            ("cache.clean_mb_s", self.clean_mb_s),
            ("cache.idle_s", self.idle_s),
            ("cache.rest_s", self.rest_s),
            ("cache.write_base_s", self.write_base_s),
            ("cache.write_large_s", self.write_large_s),
            ("cache.write_serial_s", self.write_serial_s),
            ("cache.read_base_s", self.read_base_s),
            ("cache.read_serial_s", self.read_serial_s),
        ] {
            seconds(key, value)?;
        }
        Ok(())
    }
}
