//! Times of a read.

use super::check::{Verdict, positive, seconds, some_bytes};
use serde::{Deserialize, Serialize};

/// Times of a read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Seconds before the first byte of a 4 KiB read anywhere \[h_r + t_x\].
    pub base_s: f64,
    /// The same for a read that continues the last one; as `base_s` where absent.
    #[serde(default)]
    pub sequential_s: Option<f64>,
    /// The same at `ramp_bytes` and more; as `base_s` where absent. In between it is a straight line.
    #[serde(default)]
    pub large_s: Option<f64>,
    /// Length at which `large_s` is reached.
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Added where the read crosses a page \[δ_p\].
    #[serde(default)]
    pub page_step_s: f64,
    /// Added where it crosses an allocation unit \[δ_a\].
    #[serde(default)]
    pub au_step_s: f64,
    /// Added where it crosses a segment of the mapping table \[δ_s\].
    #[serde(default)]
    pub segment_step_s: f64,
    /// The whole read, where all of it lies in the unit read last.
    #[serde(default)]
    pub within_read_unit_s: Option<f64>,
    /// Least seconds from one read's end to the next one's \[t_ser\].
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer in MB/s \[B_r\].
    pub mb_s: f64,
    /// The same as `base_s` where nothing was ever written, or was discarded; as `base_s` where absent \[t_u\].
    #[serde(default)]
    pub unmapped_s: Option<f64>,
    /// Added where the mapping table of the place is not in the controller's memory \[t_map\].
    #[serde(default)]
    pub map_miss_s: f64,
    /// Bytes of the card whose mapping the controller holds at a time \[C_map\]; all of them where absent.
    #[serde(default)]
    pub map_cache_bytes: Option<u64>,
}

/// Where base times that grow with the length end, if a file does not say: half a MiB, as on the Express cards.
pub(super) fn ramp_bytes() -> u64 {
    512 << 10
}

impl Read {
    pub(super) fn check(&self) -> Verdict {
        for (key, value) in [
            ("read.base_s", self.base_s),
            ("read.sequential_s", self.sequential_s.unwrap_or(0.0)),
            ("read.large_s", self.large_s.unwrap_or(0.0)),
            ("read.page_step_s", self.page_step_s),
            ("read.au_step_s", self.au_step_s),
            ("read.segment_step_s", self.segment_step_s),
            ("read.within_read_unit_s", self.within_read_unit_s.unwrap_or(0.0)),
            ("read.serial_s", self.serial_s),
            ("read.unmapped_s", self.unmapped_s.unwrap_or(0.0)),
            ("read.map_miss_s", self.map_miss_s),
        ] {
            seconds(key, value)?;
        }
        positive("read.mb_s", self.mb_s)?;
        some_bytes("read.ramp_bytes", self.ramp_bytes)?;
        some_bytes("read.map_cache_bytes", self.map_cache_bytes.unwrap_or(u64::MAX))
    }
}
