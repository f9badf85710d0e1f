//! Units of the flash.

use super::check::{SECTOR, Verdict, whole_sectors};
use serde::{Deserialize, Serialize};

/// Units of the flash, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Effective page (planes and dies joined) \[P\].
    pub page_bytes: u64,
    /// Planes that make up a page: a write that fills only some of them occupies whole ones, and of two queued reads
    /// on one plane the second waits for the first.
    #[serde(default = "one")]
    pub planes: u32,
    /// What one read fetches into the controller's buffer.
    pub read_unit_bytes: u64,
    /// Allocation unit: erase blocks that are mapped as one \[A\].
    pub au_bytes: u64,
    /// Segment of the mapping table; crossing one costs `read.segment_step_s`.
    #[serde(default)]
    pub map_segment_bytes: Option<u64>,
}

impl Default for Flash {
    fn default() -> Self {
        Flash {
            page_bytes: 16384,
            planes: 1,
            read_unit_bytes: 4096,
            au_bytes: 4 << 20,
            map_segment_bytes: None,
        }
    }
}

fn one() -> u32 {
    1
}

impl Flash {
    /// Bytes of a page that lie on one plane.
    #[must_use]
    pub fn plane_bytes(&self) -> u64 {
        self.page_bytes / u64::from(self.planes)
    }

    pub(super) fn check(&self) -> Verdict {
        let segment = self.map_segment_bytes.unwrap_or(self.au_bytes);
        for (key, value) in [
            ("flash.page_bytes", self.page_bytes),
            ("flash.read_unit_bytes", self.read_unit_bytes),
            ("flash.au_bytes", self.au_bytes),
            ("flash.map_segment_bytes", segment),
        ] {
            whole_sectors(key, value)?;
        }
        if !self.au_bytes.is_multiple_of(self.page_bytes) {
            let Flash { au_bytes, page_bytes, .. } = self;
            return Err(format!(
                "flash.au_bytes = {au_bytes} is no multiple of flash.page_bytes = {page_bytes}"
            ));
        }
        let plane = self.page_bytes.checked_rem(u64::from(self.planes) * SECTOR);
        if plane != Some(0) {
            return Err(format!(
                "flash.planes = {} must divide flash.page_bytes = {} into whole sectors",
                self.planes, self.page_bytes
            ));
        }
        // The model keeps one entry an allocation unit: a unit of one sector on a terabyte would fill the memory.
        if self.au_bytes < 64 << 10 {
            return Err(format!("flash.au_bytes = {} must be at least 64 KiB", self.au_bytes));
        }
        Ok(())
    }
}
