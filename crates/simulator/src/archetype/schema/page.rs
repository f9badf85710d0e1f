//! Parameters of the page engine.

use super::check::{Verdict, positive, seconds, some_bytes};
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
    #[serde(default = "ramp_bytes")]
    pub ramp_bytes: u64,
    /// Least seconds from one write's end to the next one's.
    #[serde(default)]
    pub serial_s: f64,
    /// Speed of the transfer and programming in MB/s \[B_w\].
    pub mb_s: f64,
}

fn ramp_bytes() -> u64 {
    512 << 10
}

impl PageWrite {
    pub(super) fn check(&self) -> Verdict {
        seconds("write.base_s", self.base_s)?;
        seconds("write.large_s", self.large_s.unwrap_or(0.0))?;
        seconds("write.serial_s", self.serial_s)?;
        positive("write.mb_s", self.mb_s)?;
        some_bytes("write.ramp_bytes", self.ramp_bytes)
    }
}
