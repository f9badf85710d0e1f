//! The region at the start of the card that many cards treat specially, since the file allocation table lies there.

use super::check::{Verdict, positive, seconds, whole_sectors};
use serde::{Deserialize, Serialize};

/// What is different in the first bytes of the card.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FatRegion {
    /// Its length from 0.
    pub bytes: u64,
    /// Multiplies the speed of writes there (0.2 to 0.7 where it is guarded).
    pub speed: f64,
    /// Where it is mapped by page: seconds before the data of a write of any place there, which opens no block.
    pub page_write_s: Option<f64>,
}

impl Default for FatRegion {
    /// 8 MiB in 7 of the 8 cards that treat one differently.
    fn default() -> Self {
        FatRegion { bytes: 8 << 20, speed: 1.0, page_write_s: None }
    }
}

impl FatRegion {
    pub(super) fn check(&self, announced_bytes: u64) -> Verdict {
        whole_sectors("fat_region.bytes", self.bytes)?;
        if self.bytes > announced_bytes {
            return Err(format!("fat_region.bytes = {} is more than the card has", self.bytes));
        }
        positive("fat_region.speed", self.speed)?;
        seconds("fat_region.page_write_s", self.page_write_s.unwrap_or(0.0))
    }
}
